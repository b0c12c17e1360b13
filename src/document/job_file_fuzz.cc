// Job files and environment files from arbitrary bytes: what is accepted is valid; what is refused
// says why.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "document/job_check.h"
#include "document/job_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mete;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Submitter submitter{"/nowhere", {{"HOME", "/nowhere"}, {"PATH", "/bin"}}};
  const auto variables = ParseEnvironmentFile(text);
  if (variables) {
    for (const auto& [name, value] : *variables) METE_CHECK(IsVariableName(name));
  }
  ExpandVariables(text, submitter.environment);
  const JobFile jobs = ParseJobFile(text, submitter);
  if (!jobs) {
    METE_CHECK(!jobs.error().empty() && jobs.error().size() <= Problems::kMax);
    for (const Problem& problem : jobs.error()) METE_CHECK(!problem.message.empty());
    ToError(jobs.error(), "fuzz.yaml");
    return 0;
  }
  METE_CHECK(!jobs->empty());
  for (const JobSpec& job : *jobs) {
    Problems problems;
    CheckJob(job, problems);
    METE_CHECK(problems.empty());
  }
  return 0;
}
