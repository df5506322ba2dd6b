#include <stdio.h>

int main(void) { return puts("built") < 0; }
