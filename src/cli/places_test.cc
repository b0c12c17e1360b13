#include "cli/places.h"

#include <gtest/gtest.h>

#include <map>

namespace mete {
namespace {

GetVariable From(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Places, FollowTheEnvironment) {
  EXPECT_EQ(DefaultStateDirectory(From({{"HOME", "/home/ann"}})), "/home/ann/.local/state/mete");
  EXPECT_EQ(DefaultStateDirectory(From({{"HOME", "/home/ann"}, {"XDG_STATE_HOME", "/state"}})),
            "/state/mete");
  EXPECT_EQ(DefaultStateDirectory(From({{"METE_STATE_DIR", "/m"}, {"XDG_STATE_HOME", "/state"}})),
            "/m");
  // What is not absolute does not count: the XDG specification.
  EXPECT_EQ(DefaultStateDirectory(From({{"HOME", "/home/ann"}, {"XDG_STATE_HOME", "state"}})),
            "/home/ann/.local/state/mete");

  EXPECT_EQ(DefaultSocketPath(From({{"HOME", "/home/ann"}})),
            "/home/ann/.local/state/mete/mete.sock");
  EXPECT_EQ(DefaultSocketPath(From({{"XDG_RUNTIME_DIR", "/run/user/1"}})),
            "/run/user/1/mete/mete.sock");
  EXPECT_EQ(DefaultSocketPath(From({{"XDG_RUNTIME_DIR", "/run"}, {"METE_SOCKET_PATH", "/s"}})),
            "/s");
}

}  // namespace
}  // namespace mete
