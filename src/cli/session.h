#pragma once

// What every verb shares: the options before the verb, the daemon's client, and how answers and
// errors are printed. Built in main, passed by reference.

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/exit_codes.h"
#include "http/client.h"
#include "report/text_style.h"

namespace mete {

// Members stay in the order in which the daemon wrote them.
using Document = nlohmann::ordered_json;

enum class OutputFormat { kTable, kWide, kJson, kYaml };

class Session {
 public:
  Session(const Clock& clock, std::FILE* out, std::FILE* err);

  // ---- Options, set by the command line ----
  OutputFormat format = OutputFormat::kTable;
  std::string socket_path;
  std::string state_directory;
  bool quiet = false;
  std::vector<std::string> command;  // what follows "--"
  bool has_command = false;          // there was a "--"
  int exit_code = 0;

  const Clock& clock() const { return clock_; }
  std::FILE* out() const { return out_; }
  std::FILE* err() const { return err_; }
  const TextStyle& style() const { return style_; }
  bool machine_readable() const {
    return format == OutputFormat::kJson || format == OutputFormat::kYaml;
  }

  http::Client MakeClient(http::ClientOptions options = {}) const;
  // One request and its JSON answer. Errors that mean "no daemon" say how to start one.
  Result<Document> Call(std::string_view method, std::string_view target,
                        const std::string& body = "") const;

  void Print(std::string_view text) const;
  // As JSON or YAML, whichever was asked for.
  void PrintDocument(const Document& document) const;
  // To standard error unless --quiet.
  void Note(std::string_view text) const;
  // "mete: WHERE: MESSAGE" and the hint on a line of its own. Returns the code to exit with.
  ExitCode Fail(const Error& error) const;
  void Finish(ExitCode code) { exit_code = static_cast<int>(code); }

 private:
  const Clock& clock_;
  std::FILE* out_;
  std::FILE* err_;
  TextStyle style_;
};

// "/v1/jobs/NAME", encoded, with what follows it.
std::string JobTarget(std::string_view job, std::string_view rest = "");

}  // namespace mete
