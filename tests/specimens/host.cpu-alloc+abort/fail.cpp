// A table that does not fit into the memory that the process may take.
#include <cstdio>
#include <sys/resource.h>
#include <vector>

int main() {
    const rlimit allowed = {512u << 20, 512u << 20};
    setrlimit(RLIMIT_AS, &allowed);
    std::vector<double> table(100u << 20, 1.0);
    double total = 0;
    for (double value : table) total += value;
    std::printf("total %.0f\n", total);
}
