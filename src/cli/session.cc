#include "cli/session.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/yaml_text.h"
#include "http/target.h"
#include "report/text_width.h"

namespace mete {
namespace {

// Several problems come as several lines.
std::string PrintableLines(std::string_view text) {
  std::string result;
  while (true) {
    const size_t end = text.find('\n');
    result += Printable(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Session::Session(const Clock& clock, std::FILE* out, std::FILE* err)
    : clock_(clock), out_(out), err_(err), style_(DetectTextStyle(fileno(out))) {}

http::Client Session::MakeClient(http::ClientOptions options) const {
  return http::Client({.socket_path = socket_path, .port = 0, .token = ""}, std::move(options));
}

Result<Document> Session::Call(std::string_view method, std::string_view target,
                               const std::string& body) const {
  Result<std::string> answer = MakeClient().Call(method, target, body);
  if (!answer) {
    Error error = std::move(answer).error();
    if (error.code == ErrorCode::kUnavailable && error.hint.empty()) {
      error.hint = "start a daemon with `mete serve`, or name its socket with --socket";
    }
    return tl::make_unexpected(std::move(error));
  }
  Document document = Document::parse(*answer, nullptr, false);
  if (document.is_discarded()) {
    return mete::Fail(ErrorCode::kInternal, "the daemon's answer is not JSON", socket_path,
                      "is another program listening there?");
  }
  return document;
}

void Session::Print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

void Session::PrintDocument(const Document& document) const {
  Print(format == OutputFormat::kYaml ? YamlText(document) : document.dump(2) + "\n");
}

void Session::Note(std::string_view text) const {
  if (!quiet) fmt::print(err_, "{}\n", text);
}

ExitCode Session::Fail(const Error& error) const {
  const TextStyle style = DetectTextStyle(fileno(err_));
  const std::string where = error.where.empty() ? "" : Printable(error.where) + ": ";
  fmt::print(err_, "{} {}{}\n", Paint("mete:", Colour::kRed, style), where,
             PrintableLines(error.message));
  if (!error.hint.empty()) fmt::print(err_, "  {}\n", PrintableLines(error.hint));
  return ExitCodeFor(error.code);
}

std::string JobTarget(std::string_view job, std::string_view rest) {
  return fmt::format("/v1/jobs/{}{}", http::PercentEncode(job), rest);
}

}  // namespace mete
