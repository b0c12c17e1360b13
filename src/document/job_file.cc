#include "document/job_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <unordered_map>

#include "base/unique_fd.h"
#include "document/job_check.h"
#include "document/matrix.h"

namespace mete {
namespace {

using Node = YamlTree::Node;

const Node* FindKey(const Node& map, std::string_view key) {
  for (const YamlTree::Entry& entry : map.entries) {
    if (entry.key == key) return entry.value;
  }
  return nullptr;
}

// CheckJob knows paths within the job; this finds where the file set them, or the nearest thing
// around.
Problem Placed(Problem problem, const ReadContext& context) {
  std::string within_job = problem.where;
  while (true) {
    const auto place = context.places.find(within_job);
    if (place != context.places.end()) {
      const std::string& around = place->second.where;
      const std::string rest = problem.where.substr(within_job.size());
      problem.line = place->second.line;
      problem.column = place->second.column;
      problem.where = around;
      if (!rest.empty()) problem.where += (around.empty() || rest[0] == '.' ? "" : ".") + rest;
      if (problem.where.starts_with('.')) problem.where.erase(0, 1);
      return problem;
    }
    if (within_job.empty()) return problem;
    const size_t dot = within_job.rfind('.');
    within_job.resize(dot == std::string::npos ? 0 : dot);
  }
}

class FileReader {
 public:
  explicit FileReader(const Submitter& submitter) : submitter_(submitter) {}

  JobFile Read(const Node& root) {
    if (root.kind != YamlTree::Kind::kMap) {
      problems_.Add({"", "a job file is a map", "write 'command: ...', or 'jobs:' and a list",
                     root.line, root.column});
    } else if (FindKey(root, "jobs") != nullptr || FindKey(root, "defaults") != nullptr) {
      ReadList(root);
    } else {
      ReadJobs(root, "", nullptr);
    }
    NumberUnnamedJobs();
    if (!problems_.empty()) return tl::make_unexpected(problems_.list());
    return std::move(jobs_);
  }

 private:
  void ReadList(const Node& root) {
    for (const YamlTree::Entry& entry : root.entries) {
      if (entry.key == "jobs" || entry.key == "defaults") continue;
      Problem problem = UnknownKey("", entry.key, {"jobs", "defaults"});
      problem.hint = "beside 'jobs' there is only 'defaults': what all jobs share goes there";
      problem.line = entry.line;
      problem.column = entry.column;
      problems_.Add(std::move(problem));
    }
    const Node* list = FindKey(root, "jobs");
    if (list == nullptr || list->kind != YamlTree::Kind::kSequence || list->items.empty()) {
      const Node& at = list == nullptr ? root : *list;
      problems_.Add({"jobs", "must be a list of jobs", "begin each with '- command: ...'", at.line,
                     at.column});
      return;
    }
    const Node* defaults = FindKey(root, "defaults");
    for (size_t i = 0; i < list->items.size() && !problems_.full(); ++i) {
      ReadJobs(*list->items[i], "jobs[" + std::to_string(i) + "]", defaults);
    }
  }

  // The job at `where`, or the jobs if it has a matrix.
  void ReadJobs(const Node& node, const std::string& where, const Node* defaults) {
    const std::vector<Combination> combinations = ExpandMatrix(node, where, problems_);
    if (jobs_.size() + combinations.size() > kMaxJobsInFile) {
      problems_.Add({where, "the file has more than 10000 jobs", "", node.line, node.column});
      return;
    }
    for (const Combination& combination : combinations) {
      if (problems_.full()) return;
      ReadOne(node, where, defaults, combination);
    }
  }

  void ReadOne(const Node& node, const std::string& where, const Node* defaults,
               const Combination& combination) {
    ReadContext context{problems_, {combination.begin(), combination.end()}, {}};
    JobDraft draft;
    if (defaults != nullptr) ReadJob(*defaults, "defaults", true, context, draft);
    ReadJob(node, where, false, context, draft);
    const bool is_named = draft.is_named;
    JobSpec job = FinishJob(std::move(draft), submitter_, context);
    if (!is_named || !NameTells(node, combination)) {
      for (const auto& [key, value] : combination) job.name += "-" + SafeInName(value);
    }
    CheckOne(job, context);
    if (is_named && !names_.insert(job.name).second) {
      problems_.Add(Placed({"name", "another job of this file has this name", "", 0, 0}, context));
    }
    jobs_.push_back(std::move(job));
    is_named_.push_back(is_named);
  }

  // The name has a matrix's keys in it.
  static bool NameTells(const Node& node, const Combination& combination) {
    const Node* name = FindKey(node, "name");
    if (combination.empty() || name == nullptr) return true;
    return name->text.find("${") != std::string::npos;
  }

  static std::string SafeInName(const std::string& value) {
    std::string safe = value.substr(0, 40);
    for (char& c : safe) {
      if (c == '/' || c == ' ' || static_cast<unsigned char>(c) < 0x20) c = '_';
    }
    return safe;
  }

  void CheckOne(const JobSpec& job, const ReadContext& context) {
    Problems found;
    CheckJob(job, found);
    for (const Problem& problem : found.list()) {
      // What could not be read has been complained about already.
      const Problem placed = Placed(problem, context);
      bool known = false;
      for (const Problem& earlier : problems_.list()) {
        known |= earlier.line == placed.line && earlier.column == placed.column &&
                 earlier.where == placed.where;
      }
      if (!known) problems_.Add(placed);
    }
  }

  // Twenty times the same command: train, train-2, train-3, ...
  void NumberUnnamedJobs() {
    std::unordered_map<std::string, int> last;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (is_named_[i]) continue;
      const std::string base = jobs_[i].name;
      int& number = last[base];
      do {
        ++number;
        jobs_[i].name = number == 1 ? base : base + "-" + std::to_string(number);
      } while (!names_.insert(jobs_[i].name).second);
    }
  }

  const Submitter& submitter_;
  Problems problems_;
  std::vector<JobSpec> jobs_;
  std::vector<bool> is_named_;
  std::set<std::string> names_;
};

tl::unexpected<std::vector<Problem>> One(std::string message, std::string hint) {
  return tl::make_unexpected(std::vector<Problem>{{"", std::move(message), std::move(hint), 0, 0}});
}

}  // namespace

JobFile ParseJobFile(std::string_view text, const Submitter& submitter) {
  const auto tree = YamlTree::Parse(text);
  if (!tree) return tl::make_unexpected(std::vector<Problem>{tree.error()});
  return FileReader(submitter).Read(tree->root());
}

JobFile LoadJobFile(const std::string& path, const Submitter& submitter) {
  UniqueFd opened;
  int fd = STDIN_FILENO;
  if (path != "-") {
    opened.Reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    fd = opened.Get();
    if (!opened) {
      return One(FailErrno(errno, "cannot open the file").value().message,
                 errno == ENOENT ? "for a command, write: mete run -- COMMAND" : "");
    }
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    return One("not a file", "give a job file: docs/job-files.md");
  }
  std::string text;
  if (S_ISREG(info.st_mode) && info.st_size > static_cast<off_t>(YamlTree::kBytesMax)) {
    return One("the file is larger than 4 MiB", "split it, or use a matrix");
  }
  char buffer[64 * 1024];
  while (text.size() <= YamlTree::kBytesMax) {
    const ssize_t count = ::read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return One(FailErrno(errno, "cannot read the file").value().message, "");
    if (count == 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  return ParseJobFile(text, submitter);
}

}  // namespace mete
