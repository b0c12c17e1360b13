#pragma once

// CRC-32C (Castagnoli), which finds torn and zeroed records in files.

#include <cstdint>
#include <string_view>

namespace mete::runner {

uint32_t Crc32c(std::string_view bytes);

}  // namespace mete::runner
