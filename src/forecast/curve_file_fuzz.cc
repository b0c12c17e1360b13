#include <cstddef>
#include <cstdint>
#include <string_view>

#include "forecast/curve_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto layout : {mete::CurveLayout::kByContent, mete::CurveLayout::kRows})
    static_cast<void>(mete::ParseCurves(text, "input", layout));
  return 0;
}
