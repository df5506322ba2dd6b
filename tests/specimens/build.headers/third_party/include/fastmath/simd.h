#define FASTMATH_ADD(a, b) ((a) + (b))
