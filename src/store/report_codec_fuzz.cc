// Feeds arbitrary bytes to the decoder of report blocks, as a zstd frame and as its content; what
// decodes must survive another round trip.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "store/report_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static mete::ReportCodec codec;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)codec.Decode(bytes);
  const auto sections = mete::ReportCodec::DecodeColumns(bytes);
  if (!sections) return 0;
  int64_t room = 0;
  for (const mete::JobReports& section : *sections) {
    for (const mete::StoredReport& stored : section.reports) room += FrameRoom(stored.report);
  }
  if (room > mete::kMaxReportsInFrame) return 0;
  const auto again = codec.Decode(codec.Encode(*sections, 1));
  METE_CHECK(again && again->size() == sections->size());
  for (size_t i = 0; i < sections->size(); ++i) {
    METE_CHECK((*again)[i].reports.size() == (*sections)[i].reports.size());
  }
  return 0;
}
