#include "vec.h"
double total(void) {
    char room[64];
    struct vec *v = (struct vec *)room;
    vec_init(v);
    double sum = 0;
    for (long i = 0; i < v->length; i++)
        sum += v->data[i];
    return sum;
}
