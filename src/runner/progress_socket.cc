#include "runner/progress_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/unix_socket.h"

namespace mete::runner {

ProgressSocket::~ProgressSocket() {
  for (const auto& [fd, writer] : writers_) loop_.Forget(fd);
  if (!listener_) return;
  loop_.Forget(listener_.Get());
  unlink(path_.c_str());
}

Status ProgressSocket::Listen(const std::string& path) {
  METE_ASSIGN_OR_RETURN(listener_, ListenUnix(path, kMaxWriters));
  path_ = path;
  return loop_.Watch(listener_.Get(), EPOLLIN, [this] { Accept(); });
}

void ProgressSocket::Accept() {
  for (;;) {
    UniqueFd fd(accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    const int number = fd.Get();
    if (writers_.size() >= kMaxWriters || !PeerIsOurs(number) ||
        !loop_.Watch(number, EPOLLIN, [this, number] { Read(number); })) {
      intake_.CountRefusedWriter();
      continue;
    }
    writers_[number].fd = std::move(fd);
  }
}

bool ProgressSocket::Read(int fd) {
  const auto it = writers_.find(fd);
  if (it == writers_.end()) return false;
  char bytes[64 * 1024];
  const ssize_t n = recv(fd, bytes, sizeof bytes, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    Close(fd);
    return false;
  }
  const Instant now = clock_.Now();
  it->second.splitter.Feed(std::string_view(bytes, static_cast<size_t>(n)),
                           [&](std::string_view line) { intake_.TakeJson(line, now); });
  return true;
}

void ProgressSocket::Close(int fd) {
  loop_.Forget(fd);
  const auto it = writers_.find(fd);
  const Instant now = clock_.Now();
  it->second.splitter.Finish([&](std::string_view line) { intake_.TakeJson(line, now); });
  intake_.CountCutLines(it->second.splitter.CutLines());
  writers_.erase(it);
}

void ProgressSocket::Finish() {
  if (!listener_) return;
  Accept();
  std::vector<int> open;
  for (const auto& [fd, writer] : writers_) open.push_back(fd);
  for (const int fd : open) {
    while (Read(fd)) {
    }
    if (writers_.contains(fd)) Close(fd);
  }
  loop_.Forget(listener_.Get());
  listener_.Reset();
  unlink(path_.c_str());
}

}  // namespace mete::runner
