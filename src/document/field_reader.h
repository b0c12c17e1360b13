#pragma once

// Typed fields out of a map of a YAML document. Each reading method names a key, leaves its output
// alone when the key is absent, and adds a problem with its place when the value is not what it
// should be; Finish() then refuses the keys that nobody asked for. Values of a matrix (`${name}`)
// are put into scalars on the way.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "document/problem.h"
#include "document/yaml_tree.h"

namespace mete {

// What the readers of one job share.
struct ReadContext {
  struct Place {
    std::string where;  // "jobs[2].weight" or "defaults.weight"
    int line = 0;
    int column = 0;
  };

  Problems& problems;
  // Matrix keys of this job and their values.
  std::map<std::string, std::string> substitutions;
  // Where each field of the job was last set, by its path within the job ("roles.worker.max"):
  // later checks name it.
  std::map<std::string, Place> places;
};

class FieldReader {
 public:
  using Node = YamlTree::Node;

  // `where` is the map's path in the file, `within_job` its path within the job. Anything but a map
  // is a problem.
  FieldReader(const Node& node, std::string where, std::string within_job, ReadContext& context);

  // The value, known from now on; null when absent or not a map.
  const Node* Find(std::string_view key);

  void Text(std::string_view key, std::string* out);
  void Integer(std::string_view key, int64_t* out);
  void Integer(std::string_view key, std::optional<int64_t>* out);
  void Number(std::string_view key, double* out);
  void Number(std::string_view key, std::optional<double>* out);
  void Bool(std::string_view key, bool* out);
  void Cpus(std::string_view key, std::optional<int64_t>* out_millis);
  void Bytes(std::string_view key, std::optional<int64_t>* out);
  void Time(std::string_view key, std::optional<Duration>* out);
  // One of `words`; returns its index.
  std::optional<size_t> Choice(std::string_view key, const std::vector<std::string>& words);
  // Calls `read` with a reader of the map at `key`.
  void Map(std::string_view key, const std::function<void(FieldReader&)>& read);

  // Refuses unknown keys. `elsewhere` maps words that people try to what they are called here.
  void Finish(const std::map<std::string, std::string>& elsewhere = {});

  // The text of a scalar after substitution; adds a problem for anything else.
  std::optional<std::string> Scalar(const Node& node, const std::string& where);

  void Add(const Node& node, const std::string& where, std::string message, std::string hint = "");
  std::string Path(std::string_view key) const;
  std::string PathWithinJob(std::string_view key) const;
  const Node& node() const { return node_; }
  ReadContext& context() { return context_; }

 private:
  // Reads `key` as a scalar and gives it to `parse`, whose error becomes a problem.
  template <typename T, typename Parse>
  bool Parsed(std::string_view key, T* out, Parse parse);

  const Node& node_;
  const std::string where_;
  const std::string within_job_;
  ReadContext& context_;
  std::vector<std::string> known_;
};

// Puts the values in the places of `${key}`; other `${...}` stay as they are.
std::string Substitute(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace mete
