#pragma once

// Frames on a byte stream: u32 payload length, u16 type, payload; little-endian. A length over
// kMaxPayload is taken for garbage and ends the connection.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mete::runner {

inline constexpr size_t kMaxPayload = 1 << 20;
inline constexpr size_t kFrameHeader = 6;

// A view into the reader's buffer, valid until its next call.
struct Frame {
  uint16_t type = 0;
  std::string_view payload;
};

// Cuts a stream into frames. Whoever reads the socket appends to it; it does no I/O itself.
class FrameReader {
 public:
  void Append(std::string_view bytes);
  // The next whole frame; nullopt: more bytes are needed; kCorrupt: the stream is lost.
  Result<std::optional<Frame>> Next();

 private:
  std::string buffer_;
  size_t start_ = 0;  // of what has not been handed out
};

// Reserves the header of a frame in `out` and returns where; EndFrame fills in the length.
size_t BeginFrame(uint16_t type, std::string* out);
void EndFrame(size_t begin, std::string* out);

}  // namespace mete::runner
