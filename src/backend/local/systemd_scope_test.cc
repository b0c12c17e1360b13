#include "backend/local/systemd_scope.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/local/temporary_folder.h"

namespace mete {
namespace {

// A busctl that writes down how it was called, and moves us as systemd would.
class FakeManager {
 public:
  explicit FakeManager(int status = 0) {
    options_.instance = "t";
    options_.proc = folder_.path() + "/proc";
    options_.cgroup_mount = "/sys/fs/cgroup";
    folder_.Write("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
    const std::string script =
        "#!/bin/sh\nprintf '%s|' \"$@\" > " + folder_.path() + "/call\n" +
        (status != 0 ? "echo 'Call failed: no bus' >&2\nexit 1\n"
                     : "for word in \"$@\"; do case $word in mete-*.scope) "
                       "echo \"0::/user.slice/app.slice/$word/mete-daemon\" > " +
                           folder_.path() + "/proc/self/cgroup;; esac; done\n");
    options_.busctl = folder_.Write("busctl", script);
    chmod(options_.busctl.c_str(), 0755);
  }
  SystemdScopeOptions& options() { return options_; }
  std::string call() { return folder_.Read("call"); }

 private:
  TemporaryFolder folder_;
  SystemdScopeOptions options_;
};

TEST(SystemdScope, AsksForADelegatedScopeWithOurselvesInIt) {
  FakeManager manager;
  const auto scope = JoinSystemdScope(manager.options());
  ASSERT_TRUE(scope) << scope.error().ToString();
  const std::string pid = std::to_string(getpid());
  EXPECT_EQ(scope->unit, "mete-t-" + pid + ".scope");
  EXPECT_EQ(scope->root, "/sys/fs/cgroup/user.slice/app.slice/" + scope->unit);
  EXPECT_EQ(manager.call(),
            "--user|--timeout=5|call|org.freedesktop.systemd1|/org/freedesktop/systemd1|"
            "org.freedesktop.systemd1.Manager|StartTransientUnit|ssa(sv)a(sa(sv))|mete-t-" +
                pid +
                ".scope|fail|4|Description|s|mete and its jobs|Delegate|b|true|CollectMode|s|"
                "inactive-or-failed|PIDs|au|1|" +
                pid + "|0|");
}

TEST(SystemdScope, JoinsTheScopeOfAnEarlierDaemon) {
  FakeManager manager;
  manager.options().unit = "mete-t-7.scope";
  manager.options().system_manager = true;
  const auto scope = JoinSystemdScope(manager.options());
  ASSERT_TRUE(scope) << scope.error().ToString();
  EXPECT_EQ(scope->unit, "mete-t-7.scope");
  EXPECT_NE(manager.call().find("--system|"), std::string::npos);
  EXPECT_NE(manager.call().find("AttachProcessesToUnit|ssau|mete-t-7.scope|/mete-daemon|1|" +
                                std::to_string(getpid())),
            std::string::npos);
}

TEST(SystemdScope, SaysWhatTheManagerSaid) {
  FakeManager manager(1);
  const auto scope = JoinSystemdScope(manager.options());
  ASSERT_FALSE(scope);
  EXPECT_NE(scope.error().message.find("no bus"), std::string::npos);
  EXPECT_NE(scope.error().hint.find("enable-linger"), std::string::npos);
}

TEST(SystemdScope, AMissingProgramIsAnError) {
  SystemdScopeOptions options;
  options.busctl = "/nonexistent/busctl";
  EXPECT_FALSE(JoinSystemdScope(options));
}

}  // namespace
}  // namespace mete
