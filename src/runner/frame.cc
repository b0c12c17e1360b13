#include "runner/frame.h"

#include <cstring>

#include "base/check.h"

namespace mete::runner {

void FrameReader::Append(std::string_view bytes) {
  if (start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  } else if (start_ > 64 * 1024 && start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  buffer_.append(bytes);
}

Result<std::optional<Frame>> FrameReader::Next() {
  const size_t available = buffer_.size() - start_;
  if (available < kFrameHeader) return std::optional<Frame>();
  uint32_t length = 0;
  Frame frame;
  std::memcpy(&length, buffer_.data() + start_, sizeof length);
  std::memcpy(&frame.type, buffer_.data() + start_ + sizeof length, sizeof frame.type);
  if (length > kMaxPayload) return Fail(ErrorCode::kCorrupt, "a frame is longer than allowed");
  if (available < kFrameHeader + length) return std::optional<Frame>();
  frame.payload = std::string_view(buffer_).substr(start_ + kFrameHeader, length);
  start_ += kFrameHeader + length;
  return std::optional<Frame>(frame);
}

size_t BeginFrame(uint16_t type, std::string* out) {
  const size_t begin = out->size();
  out->append(sizeof(uint32_t), '\0');
  out->append(reinterpret_cast<const char*>(&type), sizeof type);
  return begin;
}

void EndFrame(size_t begin, std::string* out) {
  const auto length = static_cast<uint32_t>(out->size() - begin - kFrameHeader);
  METE_CHECK(length <= kMaxPayload);
  std::memcpy(out->data() + begin, &length, sizeof length);
}

}  // namespace mete::runner
