#include <fastmath/simd.h>

int three(void) { return FASTMATH_ADD(1, 2); }
