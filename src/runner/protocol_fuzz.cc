// Bytes from a socket, cut into frames and decoded by both sides. What decodes must encode again to
// something that decodes to the same.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "runner/frame.h"
#include "runner/protocol.h"

namespace {

template <typename Message, typename Decode>
void CheckRoundTrip(const Message& message, Decode decode) {
  std::string once;
  Encode(message, &once);
  mete::runner::FrameReader reader;
  reader.Append(once);
  const auto frame = reader.Next();
  METE_CHECK(frame && *frame);
  const auto back = decode((*frame)->type, (*frame)->payload);
  METE_CHECK(back);
  std::string twice;
  Encode(*back, &twice);
  METE_CHECK(once == twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mete::runner::FrameReader reader;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    // In pieces, as a socket delivers them.
    const std::string_view piece = rest.substr(0, 1 + static_cast<unsigned char>(rest[0]));
    rest.remove_prefix(piece.size());
    reader.Append(piece);
    for (;;) {
      const auto frame = reader.Next();
      if (!frame) return 0;
      if (!*frame) break;
      using mete::runner::DecodeToDaemon;
      using mete::runner::DecodeToRunner;
      const uint16_t type = (*frame)->type;
      const std::string payload((*frame)->payload);
      if (const auto message = DecodeToRunner(type, payload))
        CheckRoundTrip(*message, DecodeToRunner);
      if (const auto message = DecodeToDaemon(type, payload))
        CheckRoundTrip(*message, DecodeToDaemon);
    }
  }
  return 0;
}
