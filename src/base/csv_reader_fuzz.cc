#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/csv_reader.h"

// The first byte says how long the blocks are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t block = size_t{data[0]} + 1;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  mete::CsvReader reader("input", [&]() -> mete::Result<std::string_view> {
    const std::string_view next = rest.substr(0, block);
    rest.remove_prefix(next.size());
    return next;
  });
  size_t characters = 0;
  for (;;) {
    const auto more = reader.Next();
    if (!more || !*more) break;
    for (const std::string_view cell : reader.cells()) characters += cell.size();
    if (characters > size) __builtin_trap();
  }
  return 0;
}
