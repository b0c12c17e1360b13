// Any bytes as a spool, and sound records with any bytes between them: these must all come back,
// unless the bytes between look like the beginning of a record and swallow one, which its checksum
// rules out.

#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "runner/file_io.h"
#include "runner/report_codec.h"
#include "runner/spool.h"

namespace {

// The bytes of a spool with one batch of three reports.
const std::string& SoundRecord() {
  static const std::string record = [] {
    const std::string path = "/tmp/mete-spool-fuzz-" + std::to_string(getpid());
    mete::runner::ReportEncoder encoder;
    encoder.Begin(7);
    for (int i = 0; i < 3; ++i) encoder.Add(mete::Report());
    std::string payload;
    encoder.Finish(&payload);
    mete::runner::SpoolWriter writer(path, 1 << 20);
    METE_CHECK(writer.Append(payload, 7, 3));
    auto bytes = mete::runner::ReadWholeFile(path, 1 << 20);
    unlink(path.c_str());
    METE_CHECK(bytes);
    return *bytes;
  }();
  return record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto alone = mete::runner::ParseSpool(bytes);
  std::string between = SoundRecord();
  between += bytes;
  between += SoundRecord();
  const auto content = mete::runner::ParseSpool(between);
  METE_CHECK(content.batches.size() >= 2);
  METE_CHECK(content.batches.front().first_sequence == 7);
  METE_CHECK(content.batches.back().first_sequence == 7);
  METE_CHECK(alone.batches.size() <= size);
  return 0;
}
