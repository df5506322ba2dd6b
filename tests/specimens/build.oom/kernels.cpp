// Template-heavy, as generated kernels are: a class for each shape.
#include <array>
#include <cstddef>
#include <utility>

template <std::size_t Rows, std::size_t Columns>
struct Kernel {
  static int run(int value) {
    std::array<int, Rows + 1> rows{};
    for (std::size_t row = 0; row < Rows; ++row) rows[row] = value * int(Columns) + int(row);
    return rows[Rows / 2];
  }
};

template <std::size_t Rows, std::size_t... Columns>
int row(int value, std::index_sequence<Columns...>) {
  return (Kernel<Rows, Columns>::run(value) + ...);
}

template <std::size_t... Rows>
int all(int value, std::index_sequence<Rows...>) {
  return (row<Rows>(value, std::make_index_sequence<40>{}) + ...);
}

int total(int value) { return all(value, std::make_index_sequence<40>{}); }

int main() { return total(0) == 0; }
