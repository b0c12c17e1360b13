#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/completion_script.h"
#include "cli/live_screen.h"

namespace mete {
namespace {

using ::testing::HasSubstr;

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// Without a daemon: its socket is where nothing can be.
Ran Mete(std::vector<std::string> arguments) {
  Ran ran;
  // Temporary files rather than memory streams: the session asks for their descriptors.
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  {
    const SystemClock clock;
    Session session(clock, out, err);
    arguments.insert(arguments.begin(), {"--socket", ::testing::TempDir() + "no-such/mete.sock"});
    ran.exit_code = RunCommandLine(std::move(arguments), session);
  }
  const auto read = [](std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    std::fclose(file);
    return text;
  };
  ran.out = read(out);
  ran.err = read(err);
  return ran;
}

std::string TemporaryFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(CommandLine, SaysWhatWasProbablyMeant) {
  const Ran ran = Mete({"lsit"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("'lsit' is no verb of mete"));
  EXPECT_THAT(ran.err, HasSubstr("did you mean `mete list`?"));
}

TEST(CommandLine, BadUsageIsTwo) {
  EXPECT_EQ(Mete({"why"}).exit_code, 2);
  EXPECT_EQ(Mete({"list", "--colour"}).exit_code, 2);
  EXPECT_EQ(Mete({"list", "-o", "xml"}).exit_code, 2);
  EXPECT_EQ(Mete({"run"}).exit_code, 2);
  EXPECT_EQ(Mete({"run", "--"}).exit_code, 2);
  EXPECT_EQ(Mete({"policy"}).exit_code, 2);
  EXPECT_EQ(Mete({"scale", "mlp", "many"}).exit_code, 2);
  const Ran ran = Mete({"run", "python3", "train.py"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("mete run -- python3 train.py"));
}

TEST(CommandLine, NoDaemonIsFour) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"list"},
                                                                     {"top"},
                                                                     {"why", "1"},
                                                                     {"cancel", "1"},
                                                                     {"wait", "1"},
                                                                     {"nodes"},
                                                                     {"policy", "show"},
                                                                     {"logs", "1"},
                                                                     {"describe", "1"},
                                                                     {"report"},
                                                                     {"submit", "--", "true"}}) {
    const Ran ran = Mete(arguments);
    EXPECT_EQ(ran.exit_code, 4) << arguments[0] << ": " << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("mete: ")) << arguments[0];
  }
  EXPECT_THAT(Mete({"list"}).err, HasSubstr("mete serve"));
  EXPECT_EQ(Mete({"version"}).exit_code, 0);
}

TEST(CommandLine, BadJobFilesAreToldWithTheirPlace) {
  EXPECT_EQ(Mete({"submit", "/no/such/file.yaml"}).exit_code, 3);
  const Ran unknown =
      Mete({"submit", TemporaryFile("unknown.yaml", "command: [/bin/true]\nwieght: 2\n")});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr(":2:"));
  EXPECT_THAT(unknown.err, HasSubstr("weight"));
  const Ran bounds = Mete(
      {"submit", TemporaryFile("bounds.yaml", "command: [/bin/true]\ncpus: {min: 3, max: 1}\n")});
  EXPECT_EQ(bounds.exit_code, 2);
  EXPECT_EQ(Mete({"submit", TemporaryFile("cycle.yaml", "a: &a [*a]\n")}).exit_code, 2);
  const Ran missing = Mete({"submit", "--", "/no/such/program"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("/no/such/program"));
}

TEST(CommandLine, DryRunPrintsTheJobs) {
  const Ran ran = Mete({"submit", "--dry-run", "--name", "mine", "--cpus-max", "2", "--memory",
                        "64MiB", "--", "/bin/echo", "${HOME}", "it's"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"name\": \"mine\""));
  EXPECT_THAT(ran.out, HasSubstr("\"${HOME}\""));
  EXPECT_THAT(ran.out, HasSubstr("\"it's\""));
  EXPECT_THAT(ran.out, HasSubstr("67108864"));
}

TEST(CommandLine, CompletionKnowsEveryVerb) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = Mete({"completion", shell});
    EXPECT_EQ(ran.exit_code, 0);
    for (const char* verb :
         {"run",    "submit", "list",     "describe", "logs",    "top",       "why",
          "cancel", "pause",  "resume",   "scale",    "wait",    "nodes",     "doctor",
          "policy", "report", "forecast", "serve",    "version", "completion"}) {
      EXPECT_THAT(ran.out, HasSubstr(verb)) << shell;
    }
    EXPECT_THAT(ran.out, HasSubstr("mete complete-jobs")) << shell;
  }
  // Where a completion cannot reach a daemon it stays silent.
  EXPECT_EQ(Mete({"complete-jobs"}).err, "");
  EXPECT_EQ(Mete({"complete-jobs"}).exit_code, 0);
}

TEST(CommandLine, BashTakesTheCompletionScript) {
  const std::string script = TemporaryFile("complete.bash", Mete({"completion", "bash"}).out);
  const std::string test = "bash -n " + script + " && bash -c 'source " + script +
                           "; COMP_WORDS=(mete des); COMP_CWORD=1; _mete; "
                           "[ \"${COMPREPLY[*]}\" = describe ]'";
  EXPECT_EQ(std::system(test.c_str()), 0);
}

TEST(CommandLine, ExitCodesAreDocumented) {
  const char* source = std::getenv("METE_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "ctest sets METE_SOURCE_DIR";
  std::ifstream file(std::string(source) + "/docs/exit-codes.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const ExitCodeMeaning& each : kExitCodeMeanings) {
    EXPECT_THAT(text.str(), HasSubstr("| " + std::to_string(static_cast<int>(each.code)) + " | " +
                                      each.meaning + " |"));
  }
}

TEST(LiveScreen, ReadsKeys) {
  EXPECT_EQ(ReadKey("q"), Key::kQuit);
  EXPECT_EQ(ReadKey("\x1b[A"), Key::kUp);
  EXPECT_EQ(ReadKey("\x1b[6~"), Key::kPageDown);
  EXPECT_EQ(ReadKey(" "), Key::kPause);
  EXPECT_EQ(ReadKey("x"), Key::kOther);
}

}  // namespace
}  // namespace mete
