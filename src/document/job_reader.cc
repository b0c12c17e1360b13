#include "document/job_reader.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/units.h"
#include "document/job_check.h"

namespace mete {
namespace {

using Node = YamlTree::Node;

constexpr int64_t kDefaultUnitMillis = 100;
constexpr int64_t kSmallestUnitMillis = 10;
constexpr size_t kEnvironmentFileBytesMax = 1024 * 1024;

// What people know from other tools, and its name here.
const std::map<std::string, std::string>& Elsewhere() {
  static const std::map<std::string, std::string> words = {
      {"cmd", "it is called 'command' here"},
      {"args", "write them into 'command'"},
      {"run", "it is called 'command' here"},
      {"script", "it is called 'command' here"},
      {"cwd", "it is called 'directory' here"},
      {"workdir", "it is called 'directory' here"},
      {"working_dir", "it is called 'directory' here"},
      {"working_directory", "it is called 'directory' here"},
      {"environment", "it is called 'env' here"},
      {"cores", "it is called 'cpus' here"},
      {"cpu", "it is called 'cpus' here"},
      {"mem", "it is called 'memory' here"},
      {"retries", "it is called 'retry' here"},
      {"priority", "use 'weight': a job of weight 2 counts twice"},
      {"timeout", "use 'stop: {deadline: ...}'"},
      {"time_limit", "use 'stop: {deadline: ...}'"},
      {"grace", "use 'termination: {grace: ...}'"},
      {"signal", "use 'termination: {signal: ...}'"},
      {"pty", "use 'stdout: pty'"},
      {"user", "use 'tenant'"},
      {"after", "jobs do not wait for each other: submit the second when the first is done"},
      {"depends_on", "jobs do not wait for each other: submit the second when the first is done"},
  };
  return words;
}

void ReadCommand(FieldReader& reader, JobDraft& draft) {
  const Node* node = reader.Find("command");
  if (node == nullptr) return;
  const std::string where = reader.Path("command");
  if (node->kind != YamlTree::Kind::kSequence) {
    // One string is for the shell, as people write it there.
    if (const auto text = reader.Scalar(*node, where)) {
      draft.spec.command = {"/bin/sh", "-c", *text};
      if (text->find_first_not_of(" \t\r\n") == std::string::npos) draft.spec.command.clear();
    }
    return;
  }
  draft.spec.command.clear();
  for (size_t i = 0; i < node->items.size(); ++i) {
    const auto text = reader.Scalar(*node->items[i], where + "[" + std::to_string(i) + "]");
    draft.spec.command.push_back(text.value_or("?"));
  }
}

void ReadEnvironment(FieldReader& reader, JobDraft& draft) {
  reader.Map("env", [&](FieldReader& variables) {
    for (const YamlTree::Entry& entry : variables.node().entries) {
      const std::string where = variables.Path(entry.key);
      if (!IsVariableName(entry.key)) {
        variables.Add(*entry.value, where, "not usable as a variable's name",
                      "letters, digits and _, not beginning with a digit");
      } else if (const auto text = variables.Scalar(*entry.value, where)) {
        draft.environment.Set(entry.key, *text);
        variables.context().places["env." + entry.key] = {where, entry.value->line,
                                                          entry.value->column};
      }
    }
  });
  const Node* files = reader.Find("env_file");
  if (files == nullptr) return;
  draft.environment_files.clear();
  const std::string where = reader.Path("env_file");
  if (files->kind == YamlTree::Kind::kSequence) {
    for (const Node* item : files->items) {
      if (const auto path = reader.Scalar(*item, where)) draft.environment_files.push_back(*path);
    }
  } else if (const auto path = reader.Scalar(*files, where)) {
    draft.environment_files.push_back(*path);
  }
}

void ReadRole(FieldReader& reader, const std::string& name, RoleSpec& role) {
  static const std::vector<std::string> kScalings = {"share", "replicas", "restart", "fixed"};
  constexpr Scaling kValues[] = {Scaling::kShare, Scaling::kReplicas, Scaling::kRestart,
                                 Scaling::kFixed};
  role.name = name;
  if (const auto scaling = reader.Choice("scaling", kScalings)) role.scaling = kValues[*scaling];
  reader.Integer("min", &role.min_units);
  std::optional<int64_t> max_units;
  reader.Integer("max", &max_units);
  if (max_units) {
    role.max_units = *max_units;
    // 0 stands for no bound inside; in a file it is a slip.
    if (*max_units == 0) role.max_units = -1;
  }
  reader.Map("unit", [&](FieldReader& unit) {
    std::optional<int64_t> cpu_millis;
    std::optional<int64_t> memory_bytes;
    unit.Cpus("cpu", &cpu_millis);
    unit.Bytes("memory", &memory_bytes);
    unit.Integer("gpu", &role.unit.gpus);
    role.unit.cpu_millis = cpu_millis.value_or(role.unit.cpu_millis);
    role.unit.memory_bytes = memory_bytes.value_or(role.unit.memory_bytes);
    unit.Finish({{"cpus", "it is called 'cpu' here"}, {"gpus", "it is called 'gpu' here"}});
  });
  reader.Finish({{"count", "use 'min', with scaling: fixed"},
                 {"replicas", "use 'min' and 'max', with scaling: replicas"}});
}

void ReadRoles(FieldReader& reader, JobDraft& draft) {
  reader.Map("roles", [&](FieldReader& roles) {
    draft.cpu_min_millis.reset();
    draft.cpu_max_millis.reset();
    for (const YamlTree::Entry& entry : roles.node().entries) {
      RoleSpec* role = nullptr;
      for (RoleSpec& known : draft.spec.roles) {
        if (known.name == entry.key) role = &known;
      }
      if (role == nullptr) role = &draft.spec.roles.emplace_back();
      roles.Map(entry.key, [&](FieldReader& fields) { ReadRole(fields, entry.key, *role); });
    }
  });
}

// cpus: 2, cpus: {min: 0.5, max: 2}, or min_cores and max_cores.
void ReadCpus(FieldReader& reader, JobDraft& draft) {
  std::optional<int64_t> min_millis;
  std::optional<int64_t> max_millis;
  const Node* cpus = reader.Find("cpus");
  if (cpus != nullptr) draft.cpus_key = "cpus";
  if (cpus != nullptr && cpus->kind == YamlTree::Kind::kMap) {
    reader.Map("cpus", [&](FieldReader& bounds) {
      bounds.Cpus("min", &min_millis);
      bounds.Cpus("max", &max_millis);
      bounds.Finish();
    });
  } else if (cpus != nullptr) {
    reader.Cpus("cpus", &max_millis);
  }
  for (const char* key : {"min_cores", "max_cores"}) {
    if (reader.Find(key) == nullptr) continue;
    if (cpus != nullptr) {
      reader.Add(*cpus, reader.Path("cpus"), std::string("both cpus and ") + key,
                 "keep one of them");
    }
    draft.cpus_key = key;
  }
  reader.Cpus("min_cores", &min_millis);
  reader.Cpus("max_cores", &max_millis);
  if (!min_millis && !max_millis) return;
  if (const Node* roles = reader.Find("roles")) {
    reader.Add(*roles, reader.Path("roles"), "both roles and " + draft.cpus_key,
               "keep one of them");
  }
  draft.spec.roles.clear();
  if (min_millis) draft.cpu_min_millis = min_millis;
  if (max_millis) draft.cpu_max_millis = max_millis;
}

// socket, output, or a map of pattern and jsonl. The socket is always open.
void ReadProgress(FieldReader& reader, JobDraft& draft) {
  const Node* node = reader.Find("progress");
  if (node == nullptr) return;
  ProgressSpec& progress = draft.spec.progress;
  if (node->kind != YamlTree::Kind::kMap) {
    const auto choice = reader.Choice("progress", {"socket", "output"});
    if (choice) progress = {.output = *choice == 1, .pattern = "", .jsonl_path = ""};
    return;
  }
  reader.Map("progress", [&](FieldReader& fields) {
    progress = ProgressSpec();
    fields.Text("pattern", &progress.pattern);
    fields.Text("regex", &progress.pattern);
    if (fields.Find("pattern") != nullptr && fields.Find("regex") != nullptr) {
      fields.Add(*node, fields.Path("regex"), "both pattern and regex", "keep one of them");
    }
    if (fields.Find("regex") != nullptr) {
      auto& places = fields.context().places;
      places["progress.pattern"] = places["progress.regex"];
    }
    fields.Text("jsonl", &progress.jsonl_path);
    // A file of its own says that the output is for people; unless a pattern is given too.
    progress.output = progress.jsonl_path.empty() || !progress.pattern.empty();
    fields.Bool("output", &progress.output);
    fields.Finish();
  });
}

void ReadStop(FieldReader& reader, JobDraft& draft) {
  reader.Map("stop", [&](FieldReader& fields) {
    StopSpec& stop = draft.spec.stop;
    fields.Number("target", &stop.target);
    fields.Integer("iterations", &stop.iterations);
    fields.Time("deadline", &stop.deadline);
    const Node* plateau = fields.Find("plateau");
    if (plateau != nullptr && plateau->kind == YamlTree::Kind::kMap) {
      fields.Map("plateau", [&](FieldReader& inner) {
        Plateau value = stop.plateau.value_or(Plateau());
        inner.Integer("iterations", &value.iterations);
        inner.Number("improvement", &value.relative_improvement);
        stop.plateau = value;
        inner.Finish();
      });
    } else if (plateau != nullptr) {
      std::optional<int64_t> iterations;
      fields.Integer("plateau", &iterations);
      if (iterations) {
        stop.plateau = Plateau{.iterations = *iterations};
        fields.context().places["stop.plateau.iterations"] = {fields.Path("plateau"), plateau->line,
                                                              plateau->column};
      }
    }
    fields.Finish({{"signal", "use 'termination: {signal: ...}'"},
                   {"grace", "use 'termination: {grace: ...}'"},
                   {"to", "use 'termination: {to: ...}'"},
                   {"loss", "it is called 'target' here"},
                   {"timeout", "it is called 'deadline' here"}});
  });
}

// "TERM", "SIGTERM" or 15.
void ReadSignal(FieldReader& reader, int* signal) {
  static const std::vector<std::pair<std::string, int>> kSignals = {
      {"TERM", SIGTERM}, {"INT", SIGINT},   {"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"KILL", SIGKILL}, {"ALRM", SIGALRM}, {"CONT", SIGCONT}};
  if (reader.Find("signal") == nullptr) return;
  std::string text = "TERM";
  reader.Text("signal", &text);
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    int64_t number = 0;
    reader.Integer("signal", &number);
    *signal = number > 0 && number < 1000 ? static_cast<int>(number) : 0;
    return;
  }
  const std::string name = text.starts_with("SIG") ? text.substr(3) : text;
  for (const auto& [known, number] : kSignals) {
    if (known == name) {
      *signal = number;
      return;
    }
  }
  reader.Add(*reader.Find("signal"), reader.Path("signal"), "not the name of a signal",
             "TERM, INT, HUP, QUIT, USR1, USR2, KILL, or a number");
}

void ReadTermination(FieldReader& reader, JobDraft& draft) {
  reader.Map("termination", [&](FieldReader& fields) {
    TerminationSpec& termination = draft.spec.termination;
    ReadSignal(fields, &termination.signal);
    if (const auto to = fields.Choice("to", {"main", "group"})) termination.to_group = *to == 1;
    std::optional<Duration> grace;
    fields.Time("grace", &grace);
    termination.grace = grace.value_or(termination.grace);
    fields.Finish();
  });
}

void ReadRetry(FieldReader& reader, JobDraft& draft) {
  const Node* node = reader.Find("retry");
  if (node == nullptr) return;
  std::optional<int64_t> limit;
  RetrySpec& retry = draft.spec.retry;
  if (node->kind != YamlTree::Kind::kMap) {
    reader.Integer("retry", &limit);
    reader.context().places["retry.limit"] = {reader.Path("retry"), node->line, node->column};
  } else {
    reader.Map("retry", [&](FieldReader& fields) {
      fields.Integer("limit", &limit);
      std::optional<Duration> backoff;
      fields.Time("backoff", &backoff);
      retry.backoff = backoff.value_or(retry.backoff);
      fields.Bool("on_lost", &retry.on_lost);
      fields.Finish();
    });
  }
  // Out of an int's range is out of CheckJob's too.
  if (limit) retry.limit = *limit < 0 || *limit > 2'000'000'000 ? -1 : static_cast<int>(*limit);
}

std::string ResolvePath(const std::string& path, const Submitter& submitter) {
  std::filesystem::path resolved(path);
  const std::string* home = submitter.environment.Find("HOME");
  if ((path == "~" || path.starts_with("~/")) && home != nullptr) {
    resolved = *home + path.substr(1);
  }
  if (resolved.is_relative()) resolved = std::filesystem::path(submitter.directory) / resolved;
  std::string text = resolved.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// Adds a problem at the place where `within_job` was set.
void AddAt(ReadContext& context, const std::string& within_job, std::string message,
           std::string hint) {
  const ReadContext::Place& place = context.places[within_job];
  context.problems.Add({place.where.empty() ? within_job : place.where, std::move(message),
                        std::move(hint), place.line, place.column});
}

void FinishEnvironment(JobDraft& draft, const Submitter& submitter, ReadContext& context) {
  Environment& environment = draft.spec.environment;
  environment = submitter.environment;
  for (const std::string& file : draft.environment_files) {
    const std::string path = ResolvePath(file, submitter);
    std::ifstream stream(path, std::ios::binary);
    std::string text(kEnvironmentFileBytesMax + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
    std::error_code unreadable;
    if (!stream.is_open() || stream.bad() || std::filesystem::is_directory(path, unreadable)) {
      AddAt(context, "env_file", "cannot read " + path, "relative paths start where mete was run");
      continue;
    }
    if (text.size() > kEnvironmentFileBytesMax) {
      AddAt(context, "env_file", path + " is larger than 1 MiB", "");
      continue;
    }
    auto variables = ParseEnvironmentFile(text);
    if (!variables) {
      AddAt(context, "env_file", path + ": " + variables.error().ToString(), "");
      continue;
    }
    for (const auto& [name, value] : *variables) environment.Set(name, value);
  }
  for (const auto& [name, text] : draft.environment) {
    auto value = ExpandVariables(text, submitter.environment);
    if (!value) {
      AddAt(context, "env." + name, value.error().message, value.error().hint);
    } else {
      environment.Set(name, std::move(*value));
    }
  }
}

// A single share role: in tenths of a core, or in smaller units where the bounds ask for it.
void FinishCpus(JobDraft& draft, ReadContext& context) {
  const int64_t min_millis = draft.cpu_min_millis.value_or(0);
  const int64_t max_millis = draft.cpu_max_millis.value_or(0);
  int64_t unit = std::gcd(kDefaultUnitMillis, std::gcd(min_millis, max_millis));
  const bool too_fine = unit < kSmallestUnitMillis;
  const bool zero =
      (draft.cpu_min_millis && min_millis == 0) || (draft.cpu_max_millis && max_millis == 0);
  if (too_fine || zero) {
    AddAt(context, draft.cpus_key, "must be hundredths of a core, above 0",
          "such as 0.1, 0.25 or 2");
    return;
  }
  if (draft.cpu_max_millis && min_millis > max_millis) {
    AddAt(context, draft.cpus_key,
          "max (" + FormatCpu(max_millis) + ") is below min (" + FormatCpu(min_millis) + ")", "");
    return;
  }
  RoleSpec role;
  role.unit.cpu_millis = unit;
  role.min_units = std::max<int64_t>(1, min_millis / unit);
  role.max_units = max_millis / unit;
  if (role.max_units > kMaxUnits || role.min_units > kMaxUnits) {
    AddAt(context, draft.cpus_key, "too many cores", "");
    return;
  }
  draft.spec.roles = {role};
}

bool HasScriptEnding(const std::string& word) {
  for (const char* ending : {".py", ".sh", ".R", ".jl", ".pl", ".rb", ".js"}) {
    if (word.size() > std::string_view(ending).size() && word.ends_with(ending)) return true;
  }
  return false;
}

}  // namespace

void ReadJob(const Node& node, const std::string& where, bool is_defaults, ReadContext& context,
             JobDraft& draft) {
  context.places[""] = {where, node.line, node.column};
  FieldReader reader(node, where, "", context);
  if (node.kind != YamlTree::Kind::kMap) return;
  JobSpec& spec = draft.spec;
  if (!is_defaults) {
    draft.is_named = reader.Find("name") != nullptr;
    reader.Text("name", &spec.name);
    reader.Find("matrix");  // read by ExpandMatrix
  }
  ReadCommand(reader, draft);
  reader.Text("directory", &spec.directory);
  ReadEnvironment(reader, draft);
  reader.Text("tenant", &spec.tenant);
  reader.Number("weight", &spec.weight);
  ReadRoles(reader, draft);
  ReadCpus(reader, draft);
  reader.Bytes("memory", &spec.memory_bytes);
  reader.Integer("threads", &spec.threads);
  ReadProgress(reader, draft);
  if (const auto goal = reader.Choice("goal", {"minimize", "maximize"})) {
    spec.goal = *goal == 0 ? Goal::kMinimize : Goal::kMaximize;
  }
  ReadStop(reader, draft);
  ReadTermination(reader, draft);
  ReadRetry(reader, draft);
  if (const auto output = reader.Choice("stdout", {"pipe", "pty"})) spec.pty = *output == 1;
  std::map<std::string, std::string> elsewhere = Elsewhere();
  if (is_defaults) elsewhere["name"] = "each job has its own name";
  if (is_defaults) elsewhere["matrix"] = "write it into the job that it multiplies";
  reader.Finish(elsewhere);
}

JobSpec FinishJob(JobDraft draft, const Submitter& submitter, ReadContext& context) {
  JobSpec& spec = draft.spec;
  spec.directory = ResolvePath(spec.directory.empty() ? "." : spec.directory, submitter);
  FinishEnvironment(draft, submitter, context);
  if (draft.HasCpus()) FinishCpus(draft, context);
  if (spec.roles.empty()) spec.roles.emplace_back();
  for (RoleSpec& role : spec.roles) {
    if (role.scaling == Scaling::kFixed && role.max_units == 0) role.max_units = role.min_units;
  }
  if (!draft.is_named) spec.name = DefaultJobName(spec.command);
  return std::move(spec);
}

std::string DefaultJobName(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  if (command.size() == 3 && command[0] == "/bin/sh" && command[1] == "-c") {
    words.clear();
    std::istringstream stream(command[2]);
    for (std::string word; stream >> word;) words.push_back(word);
  }
  std::string chosen = words.empty() ? "" : words.front();
  for (const std::string& word : words) {
    if (HasScriptEnding(word)) {
      chosen = word;
      break;
    }
  }
  std::string name;
  for (char c : std::filesystem::path(chosen).stem().string().substr(0, 64)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || (c == '-' && !name.empty());
    if (plain) name += c;
  }
  return IsJobName(name) ? name : "job";
}

}  // namespace mete
