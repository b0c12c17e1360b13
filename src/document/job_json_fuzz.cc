// Jobs as JSON from arbitrary bytes: what is accepted is valid and comes back as it went.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "document/job_check.h"
#include "document/job_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mete;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JobsFromJson(text);
  const auto job = JobFromText(text);
  if (!job) {
    METE_CHECK(!job.error().message.empty());
    return 0;
  }
  Problems problems;
  CheckJob(*job, problems);
  METE_CHECK(problems.empty());
  const auto back = JobFromText(JobToJson(*job, Secrets::kKeep).dump());
  METE_CHECK(back && *back == *job);
  JobToJson(*job, Secrets::kMask).dump();
  return 0;
}
