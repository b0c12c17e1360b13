#include "runner/launch_file.h"

#include <gtest/gtest.h>

namespace mete::runner {
namespace {

LaunchSpec Full() {
  LaunchSpec spec;
  spec.replica = ReplicaId{9};
  spec.job = JobId{7};
  spec.job_name = "digits \"quoted\"\n";
  spec.role = "worker";
  spec.index = 2;
  spec.attempt = 3;
  spec.term = Term{5};
  spec.command = {"python3", "-c", "print('\xc3\xa9')", "raw \xff byte"};
  spec.environment = {{"PATH", "/usr/bin:/bin"}, {"EMPTY", ""}, {"BYTES", "\x80\x81"}};
  spec.directory = "/tmp/a folder\xfe";
  spec.cgroups = {"/sys/fs/cgroup/cpu/mete/1", "/sys/fs/cgroup/memory/mete/1"};
  spec.oom_score_adj = 500;
  spec.progress = {false, "loss=(?P<loss>.*)", "out/progress.jsonl"};
  spec.stop = {2, StopTarget::kGroup, std::chrono::milliseconds(1500)};
  spec.log = {1000, 2000};
  spec.output = OutputKind::kPty;
  spec.allocation = {4, 1500, "worker", 2, {{"worker", 3}, {"server", 1}}};
  return spec;
}

TEST(LaunchFile, ReadsBackWhatItWrote) {
  const auto back = ParseLaunchSpec(FormatLaunchSpec(Full()));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, Full());
}

TEST(LaunchFile, NamesTheFieldThatIsWrong) {
  const struct {
    const char* json;
    const char* where;
  } cases[] = {
      {R"({"command": "ls", "directory": "/"})", "command"},
      {R"({"command": [], "directory": "/"})", "command"},
      {R"({"command": ["ls"]})", "directory"},
      {R"({"command": ["ls"], "directory": "relative"})", "directory"},
      {R"({"command": ["a\u0000b"], "directory": "/"})", "command"},
      {R"({"command": [{"hex": "0g"}], "directory": "/"})", "command"},
      {R"({"command": ["ls"], "directory": "/", "stop": {"signal": 900}})", "stop.signal"},
      {R"({"command": ["ls"], "directory": "/", "stop": 3})", "stop"},
      {R"({"command": ["ls"], "directory": "/", "environment": [["A"]]})", "environment"},
      {R"({"command": ["ls"], "directory": "/", "environment": [["A=B", "C"]]})", "environment"},
      {R"({"command": ["ls"], "directory": "/", "job": -1})", "job"},
      {R"({"command": ["ls"], "directory": "/", "job": 1.5})", "job"},
      {R"({"command": ["ls"], "directory": "/", "log": {"head_bytes": -1}})", "log.head_bytes"},
  };
  for (const auto& c : cases) {
    const auto spec = ParseLaunchSpec(c.json);
    ASSERT_FALSE(spec) << c.json;
    EXPECT_EQ(spec.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(spec.error().where, c.where) << c.json;
  }
}

TEST(LaunchFile, SurvivesWhatIsNotJson) {
  for (const char* text : {"", "{", "[]", "null", "{\"command\": [\"\xff\"]}", "\xff\xfe"})
    EXPECT_FALSE(ParseLaunchSpec(text)) << text;
}

TEST(LaunchFile, IgnoresUnknownKeysAndKeepsDefaults) {
  const auto spec = ParseLaunchSpec(R"({"command": ["ls"], "directory": "/", "later": {"x": 1}})");
  ASSERT_TRUE(spec);
  LaunchSpec expected;
  expected.command = {"ls"};
  expected.directory = "/";
  EXPECT_EQ(*spec, expected);
}

}  // namespace
}  // namespace mete::runner
