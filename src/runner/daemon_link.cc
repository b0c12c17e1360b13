#include "runner/daemon_link.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "runner/report_codec.h"
#include "runner/unix_socket.h"

namespace mete::runner {
namespace {

// One daemon and a few that try; more are turned away.
constexpr size_t kMaxPeers = 8;
// How much is encoded ahead of what the socket has taken.
constexpr size_t kOutBytes = 128 * 1024;

}  // namespace

DaemonLink::DaemonLink(EventLoop& loop, ReportQueue& queue, Term term, Callbacks callbacks)
    : loop_(loop), queue_(queue), term_(term), callbacks_(std::move(callbacks)) {}

DaemonLink::~DaemonLink() {
  for (const auto& [fd, peer] : peers_) loop_.Forget(fd);
  if (!listener_) return;
  loop_.Forget(listener_.Get());
  unlink(path_.c_str());
}

Status DaemonLink::Listen(const std::string& path) {
  METE_ASSIGN_OR_RETURN(listener_, ListenUnix(path, kMaxPeers));
  path_ = path;
  return loop_.Watch(listener_.Get(), EPOLLIN, [this] { Accept(); });
}

void DaemonLink::Accept() {
  for (;;) {
    UniqueFd fd(accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    const int number = fd.Get();
    if (peers_.size() >= kMaxPeers || !PeerIsOurs(number) ||
        !loop_.Watch(number, EPOLLIN, [this, number] { Read(number); }))
      continue;
    auto peer = std::make_unique<Peer>();
    peer->fd = std::move(fd);
    peers_[number] = std::move(peer);
  }
}

void DaemonLink::Read(int fd) {
  const auto it = peers_.find(fd);
  if (it == peers_.end()) return;
  Peer& peer = *it->second;
  char bytes[16 * 1024];
  const ssize_t n = recv(fd, bytes, sizeof bytes, 0);
  bool open = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
  if (n > 0) {
    peer.reader.Append(std::string_view(bytes, static_cast<size_t>(n)));
    handling_ = true;
    open = HandleFrames(peer);
    handling_ = false;
  }
  if (open && &peer == daemon_) Fill(peer);
  if (!open || !Flush(peer)) Close(fd);
}

bool DaemonLink::HandleFrames(Peer& peer) {
  for (;;) {
    const auto frame = peer.reader.Next();
    if (!frame) {
      Refuse(peer, RefusalReason::kMalformed, frame.error().ToString());
      return false;
    }
    if (!*frame) return true;
    const auto message = DecodeToRunner((*frame)->type, (*frame)->payload);
    if (!message && message.error().code == ErrorCode::kNotFound) continue;
    if (!message) {
      Refuse(peer, RefusalReason::kMalformed, message.error().ToString());
      return false;
    }
    if (&peer != daemon_ || std::holds_alternative<Hello>(*message)) {
      if (!HandleHello(peer, *message)) return false;
    } else {
      callbacks_.handle(*message);
    }
  }
}

bool DaemonLink::HandleHello(Peer& peer, const ToRunner& message) {
  const auto* hello = std::get_if<Hello>(&message);
  if (hello == nullptr) {
    Refuse(peer, RefusalReason::kNotHello, "the first message must be Hello");
    return false;
  }
  if (hello->version != kProtocolVersion) {
    Refuse(peer, RefusalReason::kVersion,
           "this runner speaks version " + std::to_string(kProtocolVersion) + ", not " +
               std::to_string(hello->version));
    return false;
  }
  if (hello->term < term_) {
    Refuse(peer, RefusalReason::kOlderTerm,
           "term " + std::to_string(hello->term.value) + " is over, this is term " +
               std::to_string(term_.value));
    return false;
  }
  term_ = hello->term;
  if (daemon_ != nullptr && daemon_ != &peer) Close(daemon_->fd.Get());
  daemon_ = &peer;
  peer.exit_sent = false;
  Welcome welcome = callbacks_.welcome();
  welcome.version = kProtocolVersion;
  welcome.term = term_;
  queue_.Rewind(hello->acknowledged_through);
  welcome.first_sequence = queue_.FirstSequence();
  welcome.next_sequence = queue_.NextSequence();
  welcome.dropped_reports = queue_.Dropped();
  Encode(ToDaemon(welcome), &peer.out);
  return true;
}

void DaemonLink::Refuse(Peer& peer, RefusalReason reason, std::string message) {
  Encode(ToDaemon(Refused{reason, kProtocolVersion, term_, std::move(message)}), &peer.out);
  Flush(peer);
}

void DaemonLink::Tell(const StateChanged& change) {
  if (daemon_ == nullptr) return;
  Encode(ToDaemon(change), &daemon_->out);
  Pump();
}

void DaemonLink::TellExit(Exited exited) {
  exit_frame_.clear();
  Encode(ToDaemon(std::move(exited)), &exit_frame_);
  Pump();
}

void DaemonLink::Pump() {
  if (daemon_ == nullptr || daemon_->waits_for_room || handling_) return;
  Fill(*daemon_);
  if (!Flush(*daemon_)) Close(daemon_->fd.Get());
}

void DaemonLink::Fill(Peer& peer) {
  while (peer.out.size() - peer.sent < kOutBytes) {
    const std::optional<std::string> batch = queue_.NextToSend();
    if (!batch) {
      if (!exit_frame_.empty() && !peer.exit_sent && !queue_.HasOpenBatch()) {
        peer.out += exit_frame_;
        peer.exit_sent = true;
      }
      return;
    }
    const size_t begin = BeginFrame(kReportsType, &peer.out);
    peer.out += *batch;
    EndFrame(begin, &peer.out);
  }
}

bool DaemonLink::Flush(Peer& peer) {
  for (;;) {
    while (peer.sent < peer.out.size()) {
      const ssize_t n = send(peer.fd.Get(), peer.out.data() + peer.sent,
                             peer.out.size() - peer.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n >= 0) {
        peer.sent += static_cast<size_t>(n);
      } else if (errno == EAGAIN) {
        if (!peer.waits_for_room) loop_.Change(peer.fd.Get(), EPOLLIN | EPOLLOUT);
        peer.waits_for_room = true;
        return true;
      } else if (errno != EINTR) {
        return false;
      }
    }
    peer.out.clear();
    peer.sent = 0;
    if (peer.waits_for_room) loop_.Change(peer.fd.Get(), EPOLLIN);
    peer.waits_for_room = false;
    if (&peer == daemon_) Fill(peer);
    if (peer.out.empty()) return true;
  }
}

void DaemonLink::Close(int fd) {
  const auto it = peers_.find(fd);
  if (it == peers_.end()) return;
  if (it->second.get() == daemon_) daemon_ = nullptr;
  loop_.Forget(fd);
  peers_.erase(it);
}

}  // namespace mete::runner
