// An operator of the user's; the declaration is that of c10/util/Exception.h.
#include <cstdint>
#include <string>

namespace c10::detail {
[[noreturn]] void torchCheckFail(const char* function, const char* file, uint32_t line, const std::string& message);
}

extern "C" int half(int count) {
  if (count % 2) c10::detail::torchCheckFail("half", "ops.cpp", 10, "an odd count: " + std::to_string(count));
  return count / 2;
}
