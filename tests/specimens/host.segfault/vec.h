#ifndef VEC_H
#define VEC_H
struct vec {
#ifdef VERSION_2
    long capacity;
#endif
    double *data;
    long length;
};
void vec_init(struct vec *v);
#endif
