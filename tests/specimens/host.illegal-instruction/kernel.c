#include <stdio.h>

__attribute__((noinline)) static void mix(unsigned *words, int n) {
    for (int i = 0; i < n; i++)
        words[i] = words[i] << 7 | words[i] >> 25;
}

int main(void) {
    unsigned words[64];
    for (int i = 0; i < 64; i++)
        words[i] = i;
    mix(words, 64);
    printf("mixed %u\n", words[3]);
    return 0;
}
