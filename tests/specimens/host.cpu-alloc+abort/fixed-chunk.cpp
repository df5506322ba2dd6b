// A piece at a time.
#include <cstdio>
#include <sys/resource.h>
#include <vector>

int main() {
    const rlimit allowed = {512u << 20, 512u << 20};
    setrlimit(RLIMIT_AS, &allowed);
    std::vector<double> piece(1u << 20, 1.0);
    double total = 0;
    for (int i = 0; i < 100; i++)
        for (double value : piece) total += value;
    std::printf("total %.0f\n", total);
}
