#include <stdio.h>

int main(void) { return printf("sum %d\n", 1 + 2) < 0; }
