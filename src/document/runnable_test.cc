#include "document/runnable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace mete {
namespace {

using ::testing::HasSubstr;

class RunnableTest : public ::testing::Test {
 protected:
  RunnableTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mete-run-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream(directory_ + "/train.py") << "print(1)\n";
    std::ofstream(directory_ + "/tool") << "#!/bin/sh\n";
    ::chmod((directory_ + "/tool").c_str(), 0755);
    std::ofstream(directory_ + "/odd") << "#!/no/such/interpreter -x\n";
    ::chmod((directory_ + "/odd").c_str(), 0755);
    std::filesystem::create_directory(directory_ + "/sub");
  }
  ~RunnableTest() override { std::filesystem::remove_all(directory_); }

  std::string Check(std::vector<std::string> command, std::string path = "/usr/bin:/bin") const {
    JobSpec job;
    job.directory = directory_;
    job.command = std::move(command);
    job.environment = {{"PATH", std::move(path)}};
    Problems problems;
    CheckRunnable(job, problems);
    return problems.empty() ? "fine" : FormatProblem(problems.list().front(), "");
  }

  std::string directory_;
};

TEST_F(RunnableTest, WhatRunsIsFine) {
  EXPECT_EQ(Check({"sh", "-c", "exit"}), "fine");
  EXPECT_EQ(Check({"/bin/sh", "-c", "exit"}), "fine");
  EXPECT_EQ(Check({"./tool"}), "fine");
  EXPECT_EQ(Check({"tool"}, directory_), "fine");
  EXPECT_EQ(Check({"tool"}, "/nowhere::/bin"), "fine");
  EXPECT_EQ(Check({"sh", "train.py"}), "fine");
  EXPECT_EQ(Check({"sh", directory_ + "/train.py"}), "fine");
}

TEST_F(RunnableTest, WhatDoesNotIsNamed) {
  EXPECT_THAT(Check({"no-such-program"}), HasSubstr("command: there is no program"));
  EXPECT_THAT(Check({"./none"}), HasSubstr("the job would run in " + directory_));
  EXPECT_THAT(Check({"sh train.py"}), HasSubstr("as separate items"));
  EXPECT_THAT(Check({"./train.py"}), HasSubstr("chmod +x ./train.py"));
  EXPECT_THAT(Check({"./sub"}), HasSubstr("may not be run"));
  EXPECT_THAT(Check({"./odd"}), HasSubstr("asks for /no/such/interpreter"));
  EXPECT_THAT(Check({"sh", "trian.py"}), HasSubstr("there is no file trian.py"));
  EXPECT_THAT(Check({"tool"}, "/nowhere"), HasSubstr("there is no program"));
}

TEST_F(RunnableTest, TheDirectoryMustBeThere) {
  JobSpec job;
  job.command = {"/bin/sh"};
  for (const std::string& directory : {directory_ + "/none", directory_ + "/train.py"}) {
    job.directory = directory;
    Problems problems;
    CheckRunnable(job, problems);
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems.list()[0].where, "directory");
  }
}

}  // namespace
}  // namespace mete
