#include "document/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/clock.h"

namespace mete {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Submitter Here() {
  return {"/home/ada/project", {{"HOME", "/home/ada"}, {"PATH", "/usr/bin"}, {"DATA", "/data"}}};
}

std::vector<JobSpec> Jobs(std::string_view text) {
  JobFile jobs = ParseJobFile(text, Here());
  if (jobs) return std::move(*jobs);
  for (const Problem& problem : jobs.error()) ADD_FAILURE() << FormatProblem(problem, "file");
  return {};
}

JobSpec OneJob(std::string_view text) {
  std::vector<JobSpec> jobs = Jobs(text);
  EXPECT_EQ(jobs.size(), 1u);
  return jobs.empty() ? JobSpec() : jobs.front();
}

// All problems, a line each.
std::string ProblemsOf(std::string_view text) {
  const JobFile jobs = ParseJobFile(text, Here());
  if (jobs) return "none";
  std::string all;
  for (const Problem& problem : jobs.error()) all += FormatProblem(problem, "f") + "\n";
  return all;
}

std::vector<std::string> Names(const std::vector<JobSpec>& jobs) {
  std::vector<std::string> names;
  for (const JobSpec& job : jobs) names.push_back(job.name);
  return names;
}

TEST(JobFile, TheShortestJob) {
  const JobSpec job = OneJob("command: python3 train.py --lr 0.1\n");
  EXPECT_EQ(job.name, "train");
  EXPECT_THAT(job.command, ElementsAre("/bin/sh", "-c", "python3 train.py --lr 0.1"));
  EXPECT_EQ(job.directory, "/home/ada/project");
  EXPECT_EQ(job.environment, Here().environment);
  EXPECT_EQ(job.roles, std::vector<RoleSpec>{RoleSpec()});
  EXPECT_EQ(job.tenant, "default");
}

TEST(JobFile, EveryField) {
  const JobSpec job = OneJob(R"(
name: everything
command: [python3, train.py, --layers, 3, "a b"]
directory: sub/../deep
env: {SEED: 7, HOME: /elsewhere, TARGET: "${DATA}/x", LITERAL: "$${DATA}"}
tenant: vision
weight: 2.5
roles:
  worker: {scaling: replicas, min: 2, max: 8, unit: {cpu: 1.5, memory: 2GiB, gpu: 1}}
  server: {scaling: fixed, min: 1, unit: {cpu: 500m}}
memory: 4GiB
threads: 4
progress: {pattern: 'objective=(?P<loss>[-0-9.e]+)', jsonl: metrics.jsonl}
goal: maximize
stop:
  target: -0.5
  plateau: {iterations: 30, improvement: 0.01}
  iterations: 1000
  deadline: 1h30m
termination: {signal: SIGINT, to: group, grace: 90s}
retry: {limit: 3, backoff: 250ms, on_lost: true}
stdout: pty
)");
  JobSpec expected;
  expected.name = "everything";
  expected.command = {"python3", "train.py", "--layers", "3", "a b"};
  expected.directory = "/home/ada/project/deep";
  expected.environment = {{"HOME", "/elsewhere"}, {"PATH", "/usr/bin"},  {"DATA", "/data"},
                          {"SEED", "7"},          {"TARGET", "/data/x"}, {"LITERAL", "${DATA}"}};
  expected.tenant = "vision";
  expected.weight = 2.5;
  expected.roles = {{"worker", Scaling::kReplicas, 2, 8, {1500, int64_t{2} << 30, 1}},
                    {"server", Scaling::kFixed, 1, 1, {500, 0, 0}}};
  expected.memory_bytes = int64_t{4} << 30;
  expected.threads = 4;
  expected.progress = {true, "objective=(?P<loss>[-0-9.e]+)", "metrics.jsonl"};
  expected.goal = Goal::kMaximize;
  expected.stop = {-0.5, Plateau{30, 0.01}, 1000, std::chrono::minutes(90)};
  expected.termination = {SIGINT, true, std::chrono::seconds(90)};
  expected.retry = {3, std::chrono::milliseconds(250), true};
  expected.pty = true;
  EXPECT_EQ(job, expected);
}

TEST(JobFile, DefaultsAreMergedFieldByField) {
  const auto jobs = Jobs(R"(
defaults:
  command: [train]
  tenant: t
  env: {A: 1, B: 2}
  cpus: {min: 0.5, max: 4}
  stop: {target: 1, iterations: 100}
  retry: 2
jobs:
  - {name: plain}
  - {name: other, tenant: u, env: {B: 3}, cpus: {max: 8}, stop: {iterations: 5}, retry: {backoff: 1s}}
  - {name: roles, roles: {worker: {min: 3}}}
)");
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].tenant, "t");
  EXPECT_EQ(jobs[1].tenant, "u");
  EXPECT_EQ(*jobs[1].environment.Find("A"), "1");
  EXPECT_EQ(*jobs[1].environment.Find("B"), "3");
  EXPECT_EQ(jobs[0].roles[0].max_units, 40);
  EXPECT_EQ(jobs[1].roles[0].max_units, 80);
  EXPECT_EQ(jobs[1].roles[0].min_units, 5);
  EXPECT_EQ(jobs[1].stop.target, 1);
  EXPECT_EQ(jobs[1].stop.iterations, 5);
  EXPECT_EQ(jobs[1].retry.limit, 2);
  EXPECT_EQ(jobs[1].retry.backoff, std::chrono::seconds(1));
  EXPECT_EQ(jobs[2].roles[0].min_units, 3);
  EXPECT_EQ(jobs[2].roles[0].max_units, 0);
}

TEST(JobFile, Cpus) {
  const auto role = [](std::string_view cpus) {
    return OneJob("command: x\n" + std::string(cpus)).roles.at(0);
  };
  EXPECT_EQ(role("cpus: 2").max_units, 20);
  EXPECT_EQ(role("cpus: 2").min_units, 1);
  EXPECT_EQ(role("cpus: {min: 0.1, max: 2}").unit.cpu_millis, 100);
  EXPECT_EQ(role("cpus: {min: 1}").max_units, 0);
  EXPECT_EQ(role("cpus: {min: 0.25, max: 2}").unit.cpu_millis, 50);
  EXPECT_EQ(role("cpus: {min: 0.25, max: 2}").min_units, 5);
  EXPECT_EQ(role("min_cores: 1\nmax_cores: 1500m").max_units, 15);
  EXPECT_EQ(role("min_cores: 1\nmax_cores: 1500m").min_units, 10);
  EXPECT_THAT(ProblemsOf("command: x\ncpus: {min: 2, max: 1}"),
              HasSubstr("max (1) is below min (2)"));
  EXPECT_THAT(ProblemsOf("command: x\ncpus: 0"), HasSubstr("f:2:7: cpus: must be hundredths"));
  EXPECT_THAT(ProblemsOf("command: x\ncpus: 0.123"), HasSubstr("hundredths of a core"));
  EXPECT_THAT(ProblemsOf("command: x\ncpus: -1"), HasSubstr("not a number of cores"));
  EXPECT_THAT(ProblemsOf("command: x\ncpus: 1\nmax_cores: 2"),
              HasSubstr("both cpus and max_cores"));
  EXPECT_THAT(ProblemsOf("command: x\ncpus: 1\nroles: {worker: {}}"),
              HasSubstr("both roles and cpus"));
  EXPECT_THAT(ProblemsOf("command: x\ncpus: 900000000"), HasSubstr("too many cores"));
}

TEST(JobFile, AMatrixMultiplies) {
  const auto jobs = Jobs(R"(
jobs:
  - name: mlp-${lr}-${seed}
    matrix: {lr: [0.1, 1e-3], seed: [1, 2], cores: [2]}
    command: python3 mlp.py --lr ${lr} --home ${HOME}
    env: {SEED: "${seed}"}
    cpus: {max: "${cores}"}
  - name: fixed
    matrix: {kind: [a/b, "c d"]}
    command: [run, "${kind}"]
)");
  EXPECT_THAT(Names(jobs), ElementsAre("mlp-0.1-1", "mlp-0.1-2", "mlp-1e-3-1", "mlp-1e-3-2",
                                       "fixed-a_b", "fixed-c_d"));
  ASSERT_EQ(jobs.size(), 6u);
  EXPECT_EQ(jobs[2].command[2], "python3 mlp.py --lr 1e-3 --home ${HOME}");
  EXPECT_EQ(*jobs[3].environment.Find("SEED"), "2");
  EXPECT_EQ(jobs[0].roles[0].max_units, 20);
  EXPECT_EQ(jobs[4].command[1], "a/b");
}

TEST(JobFile, AMatrixIsBounded) {
  std::string list = "[0";
  for (int i = 1; i < 200; ++i) list += "," + std::to_string(i);
  list += "]";
  EXPECT_THAT(ProblemsOf("command: x\nmatrix: {a: " + list + ", b: " + list + "}"),
              HasSubstr("makes more than 10000 jobs"));
  EXPECT_THAT(ProblemsOf("command: x\nmatrix: [1]"), HasSubstr("matrix: must be a map of lists"));
  EXPECT_THAT(ProblemsOf("command: x\nmatrix: {a: 1}"), HasSubstr("matrix.a: must be a list"));
  EXPECT_THAT(ProblemsOf("command: x\nmatrix: {a: [[1]]}"), HasSubstr("single values only"));
}

TEST(JobFile, JobsWithoutNamesAreNumbered) {
  const auto jobs = Jobs(R"(
jobs:
  - {command: [python3, train.py, 1]}
  - {command: [python3, train.py, 2]}
  - {name: train-2, command: "python3 train.py 3"}
  - {command: [/opt/bin/fit]}
  - {command: "///"}
)");
  EXPECT_THAT(Names(jobs), ElementsAre("train", "train-3", "train-2", "fit", "job"));
  EXPECT_THAT(ProblemsOf("jobs: [{name: a, command: x}, {name: a, command: y}]"),
              HasSubstr("jobs[1].name: another job of this file has this name"));
}

TEST(JobFile, ProgressForms) {
  const auto progress = [](std::string_view text) {
    return OneJob("command: x\nprogress: " + std::string(text)).progress;
  };
  EXPECT_EQ(progress("socket"), (ProgressSpec{false, "", ""}));
  EXPECT_EQ(progress("output"), (ProgressSpec{true, "", ""}));
  EXPECT_EQ(progress("{jsonl: m.jsonl}"), (ProgressSpec{false, "", "m.jsonl"}));
  EXPECT_EQ(progress("{jsonl: m.jsonl, output: true}"), (ProgressSpec{true, "", "m.jsonl"}));
  EXPECT_EQ(progress("{regex: '(?P<loss>.)'}"), (ProgressSpec{true, "(?P<loss>.)", ""}));
  EXPECT_THAT(ProblemsOf("command: x\nprogress: {regex: '(?P<loss>.'}"),
              HasSubstr("f:2:19: progress.regex: not a regular expression: missing )"));
  EXPECT_THAT(ProblemsOf("command: x\nprogress: {pattern: 'loss=(.*)'}"),
              HasSubstr("no group named loss"));
  EXPECT_THAT(ProblemsOf("command: x\nprogress: {pattern: '(?=a)(?P<loss>.)'}"),
              HasSubstr("not a regular expression"));
  EXPECT_THAT(ProblemsOf("command: x\nprogress: sockt"), HasSubstr("did you mean 'socket'?"));
}

TEST(JobFile, AnchorsAndMergeKeysWork) {
  const auto jobs = Jobs(R"(
jobs:
  - &base {name: a, command: x, weight: 3}
  - {<<: *base, name: b}
)");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1].name, "b");
  EXPECT_EQ(jobs[1].weight, 3);
}

// One line a mistake: the file, and what must be said about it.
TEST(JobFile, MistakesAreNamedWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the file is empty"},
      {"# only a comment", "the file is empty"},
      {"just text", "a job file is a map"},
      {"[1, 2]", "f:1:1: a job file is a map"},
      {"jobs: 5", "jobs: must be a list of jobs"},
      {"jobs: []", "jobs: must be a list of jobs"},
      {"defaults: {}", "jobs: must be a list of jobs"},
      {"jobs: [5]", "f:1:8: jobs[0]: must be a map, not a single value"},
      {"jobs: [{command: x}]\nname: y", "f:2:1: unknown key 'name'"},
      {"defaults: {name: a}\njobs: [{command: x}]", "each job has its own name"},
      {"name: a", "command: there is no command to run"},
      {"command: ''", "there is no command to run"},
      {"command: []", "there is no command to run"},
      {"weight: 1\ncommand:\ngoal: minimize", "f:2:1: command: has no value"},
      {"command: {a: b}", "command: must be a single value, not a map"},
      {"command: [a, [b]]", "command[1]: must be a single value, not a list"},
      {"comand: x", "did you mean 'command'?"},
      {"command: x\ncwd: /", "f:2:1: unknown key 'cwd' (it is called 'directory' here)"},
      {"command: x\nroles: {worker: {maxx: 3}}",
       "f:2:18: roles.worker: unknown key 'maxx' (did you mean 'max'?)"},
      {"command: x\nroles: {worker: {min: 3, max: 2}}",
       "f:2:31: roles.worker.max: max (2) is below min (3)"},
      {"command: x\nroles: {worker: {max: 0}}", "roles.worker.max: must be from 1"},
      {"command: x\nroles: {worker: {min: -1}}", "roles.worker.min: must be from 0"},
      {"command: x\nroles: {worker: {scaling: shares}}", "did you mean 'share'?"},
      {"command: x\nroles: {worker: {unit: {cpu: lots}}}",
       "roles.worker.unit.cpu: 'lots' is not a number of cores"},
      {"command: x\nroles: {a: {}, b: {}, c: {}, d: {}, e: {}}",
       "roles: a job has at most 4 roles"},
      {"command: x\nroles: {'a b': {}}", "a role's name is not usable"},
      {"command: x\nroles: 3", "roles: must be a map"},
      {"command: x\nweight: .nan", "f:2:9: weight: must be a finite number"},
      {"command: x\nweight: nan", "weight: must be a finite number"},
      {"command: x\nweight: 0", "f:2:9: weight: must be a number from"},
      {"command: x\nweight: heavy", "weight: must be a finite number"},
      {"command: x\nweight: 1e999", "weight: the number is out of range"},
      {"command: x\nthreads: 99999999999999999999", "threads: the number is too large"},
      {"command: x\nthreads: 2.5", "threads: must be a whole number"},
      {"command: x\nthreads: 0", "threads: must be from 1"},
      {"command: x\nmemory: 4 potatoes", "memory: '4 potatoes' is not a size"},
      {"command: x\nmemory: 99999999TiB", "is not a size"},
      {"command: x\nmemory: 12", "memory: must be from 1 MiB"},
      {"command: x\nstop: {deadline: soon}", "stop.deadline: 'soon' is not a duration"},
      {"command: x\nstop: {target: .inf}", "stop.target: must be a finite number"},
      {"command: x\nstop: {plateau: 0}", "f:2:17: stop.plateau: must be at least 1"},
      {"command: x\nstop: {signal: TERM}", "use 'termination: {signal: ...}'"},
      {"command: x\ntermination: {signal: FOO}", "not the name of a signal"},
      {"command: x\ntermination: {signal: ''}", "not the name of a signal"},
      {"command: x\ntermination: {signal: 19}", "not a signal that ends a job"},
      {"command: x\nretry: -1", "retry: must be from 0"},
      {"command: x\nretry: 99999999999", "retry: must be from 0"},
      {"command: x\nretry: {on_lost: maybe}", "must be true or false"},
      {"command: x\nstdout: tty", "must be one of pipe, pty (did you mean 'pty'?)"},
      {"command: x\ngoal: best", "must be one of minimize, maximize"},
      {"command: x\nname: 7", "name: not usable as a name"},
      {"command: x\nname: a/b", "name: not usable as a name"},
      {"command: x\ntenant: 'a b'", "tenant: not usable"},
      {"command: x\nenv: {1A: b}", "env.1A: not usable as a variable's name"},
      {"command: x\nenv: {A: '${NOPE}'}", "f:2:10: env.A: the variable NOPE is not set"},
      {"command: x\nenv: {A: [1]}", "env.A: must be a single value"},
      {"command: x\nenv: [A]", "env: must be a map, not a list"},
      {"command: x\nenv_file: none.env", "env_file: cannot read /home/ada/project/none.env"},
      {"command: x\ncommand: y", "f:2:1: the key 'command' is given twice"},
      {"command: \"x", "not YAML"},
      {"a: b: c", "f:1:5: not YAML"},
      {"command: x\n  weight: 2\n weight: 3", "not YAML"},
      {"command: &a [*a]", "f:1:14: an alias inside the anchor that it names: a cycle"},
      {"command: &a {b: {c: *a}}", "a cycle"},
      {"command: *nowhere", "not YAML"},
      {"? [a]\n: b", "a key must be a word"},
      {"command: !!python/object:os.system x", "none"},
      {"command: !mine x", "a tag (!...) means nothing here"},
      {"command: x\n---\ncommand: y", "a second document"},
      {std::string("command: a\0b", 12), "f:1:11: a NUL byte"},
      {"command: \xFF\xFE", "f:1:10: bytes that are not UTF-8"},
      {std::string(100, '['), "nested too deeply"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(ProblemsOf(text), HasSubstr(expected)) << text;
  }
}

TEST(JobFile, AllProblemsComeAtOnceEachOnce) {
  const JobFile jobs = ParseJobFile(R"(
defaults: {weight: heavy, tenant: '?'}
jobs:
  - {command: a, threads: x}
  - {command: b, goal: x}
  - {comand: c}
)",
                                    Here());
  ASSERT_FALSE(jobs);
  std::vector<std::string> places;
  for (const Problem& problem : jobs.error()) places.push_back(problem.where);
  EXPECT_THAT(places, ElementsAre("defaults.weight", "jobs[0].threads", "defaults.tenant",
                                  "jobs[1].goal", "jobs[2]", "jobs[2].command"));
}

TEST(JobFile, ThereIsAnEndToProblems) {
  std::string text = "jobs:\n";
  for (int i = 0; i < 1000; ++i) text += "- {command: x, weight: heavy}\n";
  const JobFile jobs = ParseJobFile(text, Here());
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().size(), Problems::kMax);
  EXPECT_THAT(ToError(jobs.error(), "f").message,
              HasSubstr("20 problems or more\n  f:2:24: jobs[0].weight"));
}

// An alias bomb is small here: nothing walks what nobody asked for.
TEST(JobFile, AliasBombsAreRefusedFast) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += last + (k < 9 ? ", " : "]\n");
  }
  const SystemClock clock;
  const Instant start = clock.Now();
  EXPECT_THAT(ProblemsOf(bomb + "command: *a29\n"),
              HasSubstr("command[0]: must be a single value"));
  EXPECT_THAT(ProblemsOf(bomb + "command: x\nenv: {A: *a29}\n"), HasSubstr("env.A: must be"));
  EXPECT_LT(ToSeconds(clock.Now() - start), 5);
}

TEST(JobFile, LargeAndWickedInputEndsInTime) {
  const auto repeat = [](std::string_view piece, size_t bytes) {
    std::string text;
    while (text.size() + piece.size() <= bytes) text += piece;
    return text;
  };
  const SystemClock clock;
  for (const char* piece :
       {"[", "{", "- ",   "? ",  "a: ",  "&a ",     "*a ",     "'",    "\"", "\t",    "\n",
        "!", "%", "- - ", "[a,", "{a: ", "a: &a\n", "- [x]\n", "|\n ", "#",  "---\n", ": "}) {
    for (const char* prefix : {"", "command: "}) {
      const Instant start = clock.Now();
      const JobFile jobs = ParseJobFile(prefix + repeat(piece, 1 << 20), Here());
      EXPECT_FALSE(jobs) << piece;
      EXPECT_LT(ToSeconds(clock.Now() - start), 20) << prefix << piece;
    }
  }
}

class JobFileOnDisk : public ::testing::Test {
 protected:
  JobFileOnDisk() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mete-jobs-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~JobFileOnDisk() override { std::filesystem::remove_all(directory_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  std::string directory_;
};

TEST_F(JobFileOnDisk, IsRead) {
  const JobFile jobs = LoadJobFile(Write("jobs.yaml", "command: x\n"), Here());
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->size(), 1u);
  EXPECT_TRUE(LoadJobFile(Write("jobs.json", R"({"jobs": [{"command": ["x"]}]})"), Here()));
}

TEST_F(JobFileOnDisk, WhatCannotBeReadIsNamed) {
  const auto message = [](const std::string& path) {
    return ToError(LoadJobFile(path, Here()).error(), path).ToString();
  };
  EXPECT_THAT(message(directory_ + "/none.yaml"), HasSubstr("mete run -- COMMAND"));
  EXPECT_THAT(message(directory_), HasSubstr("not a file"));
}

TEST_F(JobFileOnDisk, AHundredMegabytesAreRefusedUnread) {
  const std::string path = Write("large.yaml", "command: x\n");
  ASSERT_EQ(::truncate(path.c_str(), 100 * 1024 * 1024), 0);
  const SystemClock clock;
  const Instant start = clock.Now();
  const JobFile jobs = LoadJobFile(path, Here());
  ASSERT_FALSE(jobs);
  EXPECT_THAT(jobs.error()[0].message, HasSubstr("larger than 4 MiB"));
  EXPECT_LT(ToSeconds(clock.Now() - start), 1);
}

TEST_F(JobFileOnDisk, EnvironmentFilesAreRead) {
  Write("a.env", "# comment\nA=1\nexport B=\"two words\"\n\nHOME=/changed\r\n");
  Write("b.env", "A=2\n");
  Submitter submitter = Here();
  submitter.directory = directory_;
  const JobFile jobs =
      ParseJobFile("command: x\nenv_file: [a.env, b.env]\nenv: {B: 3}\n", submitter);
  ASSERT_TRUE(jobs);
  const Environment& environment = jobs->front().environment;
  EXPECT_EQ(*environment.Find("A"), "2");
  EXPECT_EQ(*environment.Find("B"), "3");
  EXPECT_EQ(*environment.Find("HOME"), "/changed");

  Write("bad.env", "A=1\nnot a variable\n");
  const JobFile bad = ParseJobFile("command: x\nenv_file: bad.env\n", submitter);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error()[0].message, HasSubstr("line 2"));
}

TEST(DefaultJobName, IsOfTheScriptOrProgram) {
  EXPECT_EQ(DefaultJobName({"python3", "-u", "src/train_mlp.py", "--lr", "1"}), "train_mlp");
  EXPECT_EQ(DefaultJobName({"/usr/bin/sleep", "5"}), "sleep");
  EXPECT_EQ(DefaultJobName({"/bin/sh", "-c", "cd x; bash run.sh"}), "run");
  EXPECT_EQ(DefaultJobName({"123"}), "job");
  EXPECT_EQ(DefaultJobName({}), "job");
}

}  // namespace
}  // namespace mete
