#include "http/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "http/serving_fixture.h"
#include "http/token.h"

namespace mete::http {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(UnixListener, MakesPrivateDirectoriesAndSocket) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/run/mete/mete.sock";
  {
    const auto listener = UnixListener::Open(path);
    ASSERT_TRUE(listener) << listener.error().ToString();
    EXPECT_EQ(ModeOf(path), 0600u);
    EXPECT_EQ(ModeOf(directory.path() + "/run/mete"), 0700u);
    EXPECT_TRUE(ConnectUnix(path, std::chrono::seconds(1)));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  const auto refused = ConnectUnix(path, std::chrono::seconds(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().hint.find("mete serve"), std::string::npos);
}

TEST(UnixListener, ASecondOneIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/mete.sock";
  const auto first = UnixListener::Open(path);
  ASSERT_TRUE(first);
  const auto second = UnixListener::Open(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(ConnectUnix(path, std::chrono::seconds(1)));
}

// Somebody who knows nothing of the lock file.
TEST(UnixListener, AListenerWithoutALockIsRespectedToo) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/mete.sock";
  const auto first = UnixListener::Open(path);
  ASSERT_TRUE(first);
  std::filesystem::remove(path + ".lock");
  const auto second = UnixListener::Open(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kFailedPrecondition);
}

TEST(UnixListener, AStaleSocketIsReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/mete.sock";
  {
    auto listener = UnixListener::Open(path);
    ASSERT_TRUE(listener);
    // A daemon that was killed leaves its socket behind.
    std::filesystem::create_hard_link(path, path + ".kept");
  }
  std::filesystem::rename(path + ".kept", path);
  ASSERT_FALSE(ConnectUnix(path, std::chrono::seconds(1)));
  const auto listener = UnixListener::Open(path);
  ASSERT_TRUE(listener) << listener.error().ToString();
  EXPECT_TRUE(ConnectUnix(path, std::chrono::seconds(1)));
}

TEST(UnixListener, AnotherOnesSocketIsNotRemovedAtTheEnd) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/mete.sock";
  auto listener = UnixListener::Open(path);
  ASSERT_TRUE(listener);
  std::filesystem::remove(path);
  std::ofstream(path) << "other";
  listener->Close();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(UnixListener, AFileIsNotReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/mete.sock";
  std::ofstream(path) << "precious";
  const auto listener = UnixListener::Open(path);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(std::filesystem::file_size(path), 8u);
}

TEST(UnixListener, DirectoriesOpenToOthersAreRefused) {
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0777);
  const auto listener = UnixListener::Open(directory.path() + "/mete.sock");
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, ErrorCode::kPermissionDenied);
}

TEST(UnixListener, AnotherUsersSocketIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "not run: needs root to give a socket away";
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/mete.sock";
  const auto theirs = UnixListener::Open(path);
  ASSERT_TRUE(theirs);
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  const auto listener = UnixListener::Open(path);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, ErrorCode::kPermissionDenied);
}

TEST(UnixListener, PathsOfAnyLengthWork) {
  const TemporaryDirectory directory;
  std::string path = directory.path();
  while (path.size() < 600) path += "/a-rather-long-name-of-a-directory-for-sockets";
  path += "/mete.sock";
  const auto listener = UnixListener::Open(path);
  ASSERT_TRUE(listener) << listener.error().ToString();
  EXPECT_TRUE(ConnectUnix(path, std::chrono::seconds(1)));
  const auto second = UnixListener::Open(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kFailedPrecondition);

  const auto too_long = UnixListener::Open(directory.path() + "/" + std::string(120, 'n'));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, ErrorCode::kInvalidArgument);
}

TEST(Token, IsMadeOnceAndKept) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/token";
  const auto made = LoadOrCreateToken(path);
  ASSERT_TRUE(made) << made.error().ToString();
  EXPECT_EQ(made->size(), 64u);
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(LoadOrCreateToken(path), made);
  EXPECT_NE(LoadOrCreateToken(path + "2"), made);
}

TEST(Token, OpenOrBrokenFilesAreRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/token";
  ASSERT_TRUE(LoadOrCreateToken(path));
  ::chmod(path.c_str(), 0644);
  ASSERT_FALSE(LoadOrCreateToken(path));
  EXPECT_EQ(LoadOrCreateToken(path).error().code, ErrorCode::kPermissionDenied);
  std::ofstream(path) << "short\n";
  ::chmod(path.c_str(), 0600);
  ASSERT_FALSE(LoadOrCreateToken(path));
  EXPECT_EQ(LoadOrCreateToken(path).error().code, ErrorCode::kInvalidArgument);
}

TEST(Token, OnlyTheSameIsTheSame) {
  EXPECT_TRUE(SameToken("secret", "secret"));
  for (const char* given : {"", "secre", "secrets", "secretsecret", "Secret", "xxxxxx"}) {
    EXPECT_FALSE(SameToken("secret", given)) << given;
  }
  EXPECT_FALSE(SameToken("", ""));
}

}  // namespace
}  // namespace mete::http
