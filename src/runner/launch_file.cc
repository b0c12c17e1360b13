#include "runner/launch_file.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "runner/file_io.h"
#include "runner/replica_files.h"

namespace mete::runner {
namespace {

using nlohmann::json;

constexpr size_t kMaxLaunchFile = 16 << 20;

json ToJson(const std::string& text) {
  if (IsValidUtf8(text)) return text;
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return {{"hex", hex}};
}

json ToJson(const std::vector<std::string>& list) {
  json array = json::array();
  for (const std::string& text : list) array.push_back(ToJson(text));
  return array;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Reads members of one object; the first one that is wrong is kept as the error.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string where, Error* error)
      : object_(object), where_(std::move(where)), error_(error) {
    if (!object.is_object()) Wrong("", "an object");
  }

  void Read(const char* key, std::string* value) {
    if (const json* member = Find(key)) ReadString(*member, key, value);
  }
  void Read(const char* key, bool* value) {
    const json* member = Find(key);
    if (member == nullptr) return;
    if (member->is_boolean())
      *value = member->get<bool>();
    else
      Wrong(key, "true or false");
  }
  void Read(const char* key, int64_t* value) {
    const json* member = Find(key);
    if (member == nullptr) return;
    if (!member->is_number_integer() ||
        (member->is_number_unsigned() && member->get<uint64_t>() > INT64_MAX))
      return Wrong(key, "an integer");
    *value = member->get<int64_t>();
  }
  void Read(const char* key, uint64_t* value) {
    const json* member = Find(key);
    if (member == nullptr) return;
    if (!member->is_number_unsigned()) return Wrong(key, "an integer of at least 0");
    *value = member->get<uint64_t>();
  }
  void Read(const char* key, int* value, int low, int high) {
    int64_t wide = *value;
    Read(key, &wide);
    if (wide < low || wide > high)
      Wrong(key, "between " + std::to_string(low) + " and " + std::to_string(high));
    else
      *value = static_cast<int>(wide);
  }
  void Read(const char* key, Duration* value) {
    int64_t nanoseconds = value->count();
    Read(key, &nanoseconds);
    *value = Duration(nanoseconds);
  }
  void Read(const char* key, std::vector<std::string>* value) {
    ReadArray(key, [&](const json& item) { ReadString(item, key, &value->emplace_back()); });
  }
  template <typename Each>
  void ReadArray(const char* key, Each each) {
    const json* member = Find(key);
    if (member == nullptr) return;
    if (!member->is_array()) return Wrong(key, "an array");
    for (const json& item : *member) each(item);
  }
  template <typename Each>
  void ReadObject(const char* key, Each each) {
    if (const json* member = Find(key)) {
      ObjectReader reader(*member, Path(key), error_);
      each(reader);
    }
  }
  void ReadString(const json& item, const char* key, std::string* value) {
    if (item.is_string()) {
      *value = item.get_ref<const std::string&>();
    } else if (item.is_object() && item.contains("hex") && item["hex"].is_string()) {
      if (!FromHex(item["hex"].get_ref<const std::string&>(), value)) Wrong(key, "bytes in hex");
    } else {
      Wrong(key, "a string");
    }
    if (value->find('\0') != std::string::npos) Wrong(key, "without a NUL byte");
  }
  void Wrong(const char* key, const std::string& expected) {
    if (error_->message.empty())
      *error_ = {ErrorCode::kInvalidArgument, "must be " + expected, Path(key), ""};
  }

 private:
  const json* Find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }
  std::string Path(const char* key) const {
    return where_.empty() || *key == '\0' ? where_ + key : where_ + "." + key;
  }
  static bool FromHex(const std::string& hex, std::string* bytes) {
    if (hex.size() % 2 != 0) return false;
    bytes->clear();
    for (size_t i = 0; i < hex.size(); i += 2) {
      const int high = HexDigit(hex[i]);
      const int low = HexDigit(hex[i + 1]);
      if (high < 0 || low < 0) return false;
      bytes->push_back(static_cast<char>(high * 16 + low));
    }
    return true;
  }

  const json& object_;
  std::string where_;
  Error* error_;
};

void ReadAllocation(ObjectReader& in, Error* error, Allocation* allocation) {
  in.Read("generation", &allocation->generation);
  in.Read("cpu_millis", &allocation->cpu_millis);
  in.Read("role", &allocation->role);
  in.Read("index", &allocation->index);
  in.ReadArray("counts", [&](const json& item) {
    RoleCount& count = allocation->counts.emplace_back();
    ObjectReader reader(item, "allocation.counts", error);
    reader.Read("role", &count.role);
    reader.Read("count", &count.count);
  });
}

void ReadSpec(ObjectReader& in, Error* error, LaunchSpec* spec) {
  in.Read("replica", &spec->replica.value);
  in.Read("job", &spec->job.value);
  in.Read("job_name", &spec->job_name);
  in.Read("role", &spec->role);
  in.Read("index", &spec->index);
  in.Read("attempt", &spec->attempt);
  in.Read("term", &spec->term.value);
  in.Read("command", &spec->command);
  in.ReadArray("environment", [&](const json& item) {
    std::vector<std::string> pair;
    if (item.is_array())
      for (const json& text : item) in.ReadString(text, "environment", &pair.emplace_back());
    if (pair.size() != 2 || pair[0].empty() || pair[0].find('=') != std::string::npos)
      return in.Wrong("environment", "pairs of a name and a value");
    spec->environment.emplace_back(std::move(pair[0]), std::move(pair[1]));
  });
  in.Read("directory", &spec->directory);
  in.Read("cgroups", &spec->cgroups);
  in.Read("oom_score_adj", &spec->oom_score_adj, -1000, 1000);
  in.ReadObject("progress", [&](ObjectReader& progress) {
    progress.Read("socket", &spec->progress.socket);
    progress.Read("pattern", &spec->progress.pattern);
    progress.Read("jsonl_path", &spec->progress.jsonl_path);
  });
  in.ReadObject("stop", [&](ObjectReader& stop) {
    bool to_group = false;
    stop.Read("signal", &spec->stop.signal, 1, 64);
    stop.Read("to_group", &to_group);
    stop.Read("grace_nanoseconds", &spec->stop.grace);
    spec->stop.target = to_group ? StopTarget::kGroup : StopTarget::kMain;
  });
  in.ReadObject("log", [&](ObjectReader& log) {
    log.Read("head_bytes", &spec->log.head_bytes);
    log.Read("tail_bytes", &spec->log.tail_bytes);
    if (spec->log.head_bytes < 0 || spec->log.tail_bytes < 0)
      log.Wrong("head_bytes", "at least 0, and so tail_bytes");
  });
  in.Read("abandoned_after_nanoseconds", &spec->abandoned_after);
  bool pty = false;
  in.Read("pty", &pty);
  spec->output = pty ? OutputKind::kPty : OutputKind::kPipe;
  in.ReadObject("allocation", [&](ObjectReader& allocation) {
    ReadAllocation(allocation, error, &spec->allocation);
  });
  if (spec->command.empty() || spec->command[0].empty()) in.Wrong("command", "not empty");
  if (!spec->directory.starts_with('/')) in.Wrong("directory", "an absolute path");
}

}  // namespace

std::string FormatLaunchSpec(const LaunchSpec& spec) {
  json environment = json::array();
  for (const auto& [name, value] : spec.environment)
    environment.push_back({ToJson(name), ToJson(value)});
  json counts = json::array();
  for (const RoleCount& count : spec.allocation.counts)
    counts.push_back({{"role", ToJson(count.role)}, {"count", count.count}});
  const json document = {
      {"replica", spec.replica.value},
      {"job", spec.job.value},
      {"job_name", ToJson(spec.job_name)},
      {"role", ToJson(spec.role)},
      {"index", spec.index},
      {"attempt", spec.attempt},
      {"term", spec.term.value},
      {"command", ToJson(spec.command)},
      {"environment", environment},
      {"directory", ToJson(spec.directory)},
      {"cgroups", ToJson(spec.cgroups)},
      {"oom_score_adj", spec.oom_score_adj},
      {"progress",
       {{"socket", spec.progress.socket},
        {"pattern", ToJson(spec.progress.pattern)},
        {"jsonl_path", ToJson(spec.progress.jsonl_path)}}},
      {"stop",
       {{"signal", spec.stop.signal},
        {"to_group", spec.stop.target == StopTarget::kGroup},
        {"grace_nanoseconds", spec.stop.grace.count()}}},
      {"log", {{"head_bytes", spec.log.head_bytes}, {"tail_bytes", spec.log.tail_bytes}}},
      {"abandoned_after_nanoseconds", spec.abandoned_after.count()},
      {"pty", spec.output == OutputKind::kPty},
      {"allocation",
       {{"generation", spec.allocation.generation},
        {"cpu_millis", spec.allocation.cpu_millis},
        {"role", ToJson(spec.allocation.role)},
        {"index", spec.allocation.index},
        {"counts", counts}}},
  };
  return document.dump(1) + "\n";
}

Result<LaunchSpec> ParseLaunchSpec(std::string_view text) {
  const json document = json::parse(text.begin(), text.end(), nullptr, false);
  if (document.is_discarded()) return Fail(ErrorCode::kInvalidArgument, "not JSON");
  Error error;
  LaunchSpec spec;
  ObjectReader reader(document, "", &error);
  ReadSpec(reader, &error, &spec);
  if (!error.message.empty()) return tl::make_unexpected(std::move(error));
  return spec;
}

Status WriteLaunchFile(const std::string& replica_directory, const LaunchSpec& spec) {
  return ReplaceFile(ReplicaPath(replica_directory, kLaunchFile), FormatLaunchSpec(spec));
}

Result<LaunchSpec> ReadLaunchFile(const std::string& replica_directory) {
  const std::string path = ReplicaPath(replica_directory, kLaunchFile);
  METE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path, kMaxLaunchFile));
  auto spec = ParseLaunchSpec(text);
  if (!spec) {
    Error error = std::move(spec).error();
    error.where = error.where.empty() ? path : path + ": " + error.where;
    return tl::make_unexpected(std::move(error));
  }
  return spec;
}

}  // namespace mete::runner
