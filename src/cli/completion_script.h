#pragma once

// Completion scripts for shells, from a plain description of the verbs.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mete {

struct VerbDescription {
  std::string name;
  std::string help;
  std::vector<std::string> options;  // "--tail", "-n"
  std::vector<std::string> words;    // nested verbs, or the values its argument can have
  bool takes_jobs = false;
  bool takes_files = false;
};

// All verbs that people see.
std::vector<VerbDescription> DescribeVerbs(const CLI::App& app);

// `shell`: bash, zsh or fish.
std::string CompletionScript(const std::string& shell, const std::vector<VerbDescription>& verbs);

}  // namespace mete
