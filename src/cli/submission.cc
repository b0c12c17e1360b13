#include "cli/submission.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "document/job_json.h"
#include "report/text_width.h"

namespace mete {

void AddCommandJobOptions(CLI::App& command, CommandJobOptions& options) {
  command.add_option("--name", options.name, "of the job after --")->group("Job after --");
  command.add_option("--cpus-min", options.cpus_min, "it never has less, such as 0.5")
      ->group("Job after --");
  command.add_option("--cpus-max", options.cpus_max, "it never has more")->group("Job after --");
  command.add_option("--memory", options.memory, "it asks for, and is held to, such as 2GiB")
      ->group("Job after --");
  command.add_option("--target", options.target, "the loss at which it ends")
      ->group("Job after --");
  command.add_option("--tenant", options.tenant, "whose job it is")->group("Job after --");
}

Result<std::vector<JobId>> SubmitJobs(const Session& session, const std::vector<JobSpec>& jobs) {
  METE_ASSIGN_OR_RETURN(const Document answer, session.Call("POST", "/v1/jobs", JobsToJson(jobs)));
  std::vector<JobId> ids;
  for (const Document& id : answer.value("ids", Document::array())) {
    if (id.is_number_unsigned()) ids.push_back(JobId{id.get<uint64_t>()});
  }
  if (ids.size() != jobs.size()) {
    return Fail(ErrorCode::kInternal, "the daemon's answer does not name every job");
  }
  return ids;
}

void PrintSubmitted(const Session& session, const std::vector<JobSpec>& jobs,
                    const std::vector<JobId>& ids) {
  if (session.machine_readable()) {
    Document document = Document::object();
    document["ids"] = Document::array();
    for (const JobId id : ids) document["ids"].push_back(id.value);
    return session.PrintDocument(document);
  }
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    text += fmt::format("{}  {}\n", ids[i].value, Printable(jobs[i].name));
  }
  session.Print(text);
}

}  // namespace mete
