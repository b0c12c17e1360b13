// What a job may print or send: lines of any bytes, through the splitter, the JSON reader, the
// escape stripper and both kinds of pattern.

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "runner/line_splitter.h"
#include "runner/progress_intake.h"

namespace {

mete::runner::ProgressIntake MakeIntake(const char* pattern, const mete::Clock& clock,
                                        uint64_t* reports) {
  mete::runner::ProgressSpec spec;
  spec.pattern = pattern;
  auto intake = mete::runner::ProgressIntake::Create(
      spec, clock, [reports](const mete::Report&) { ++*reports; });
  METE_CHECK(intake);
  return std::move(*intake);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mete::ManualClock clock;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* pattern : {"default", "(?P<iteration>\\d+).*?(?P<loss>[-+.0-9einfa]+)"}) {
    uint64_t reports = 0;
    auto intake = MakeIntake(pattern, clock, &reports);
    const size_t middle = size / 2;
    intake.TakeOutput(mete::runner::ProgressIntake::Stream::kOutput, bytes.substr(0, middle));
    intake.TakeOutput(mete::runner::ProgressIntake::Stream::kOutput, bytes.substr(middle));
    intake.FinishOutput();
    mete::runner::LineSplitter splitter;
    const auto take = [&](std::string_view line) { intake.TakeJson(line, clock.Now()); };
    splitter.Feed(bytes, take);
    splitter.Finish(take);
    METE_CHECK(intake.Counts().reports == reports);
  }
  return 0;
}
