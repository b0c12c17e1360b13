// docs/job-files.md tells the truth: its snippets are read, and its tables name every key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "document/job_file.h"

namespace mete {
namespace {

std::string Page() {
  const char* root = std::getenv("METE_SOURCE_DIR");
  std::ifstream stream(std::filesystem::path(root == nullptr ? "." : root) / "docs/job-files.md");
  EXPECT_TRUE(stream.is_open()) << "run through ctest, or where docs/ is";
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> Snippets(const std::string& page) {
  std::vector<std::string> snippets;
  const std::string open = "```yaml\n";
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    const size_t end = page.find("```", at);
    snippets.push_back(page.substr(at, end - at));
  }
  return snippets;
}

TEST(ReferencePage, ItsSnippetsAreJobFiles) {
  const auto directory = std::filesystem::temp_directory_path() / "mete-reference-page";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / ".env") << "A=1\n";
  const Submitter submitter{directory.string(), {{"API_TOKEN", "x"}, {"PATH", "/bin"}}};
  const std::vector<std::string> snippets = Snippets(Page());
  EXPECT_GE(snippets.size(), 10u);
  for (const std::string& snippet : snippets) {
    const JobFile jobs = ParseJobFile(snippet, submitter);
    EXPECT_TRUE(jobs) << snippet << (jobs ? "" : ToError(jobs.error(), "snippet").ToString());
  }
  std::filesystem::remove_all(directory);
}

// The known keys are those that the reader lists when it meets an unknown one.
TEST(ReferencePage, NamesEveryKey) {
  const JobFile jobs = ParseJobFile("command: x\nqqqqqqqqqqqqqq: 1\n", {"/", {}});
  ASSERT_FALSE(jobs);
  const std::string& hint = jobs.error().front().hint;
  ASSERT_THAT(hint, ::testing::StartsWith("known here: "));
  const std::string page = Page();
  std::istringstream words(hint.substr(hint.find(':') + 1));
  for (std::string word; words >> word;) {
    EXPECT_TRUE(page.find("`" + word) != std::string::npos ||
                page.find("\n" + word + ":") != std::string::npos)
        << word;
  }
}

}  // namespace
}  // namespace mete
