#include <omp.h>
#include <stdio.h>

int main(void) {
    double sum = 0;
    int threads = 0;
#pragma omp parallel reduction(+ : sum)
    {
        sum += 1.0 / omp_get_num_threads();
#pragma omp single
        threads = omp_get_num_threads();
    }
    printf("sum %.1f by %d threads\n", sum, threads);
    return 0;
}
