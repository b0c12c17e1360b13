#pragma once

// The runner's side of the conversation with the daemon (runner/protocol.h): listens, lets one
// daemon at a time in by its term, hands its messages on, and sends it reports and the exit in
// order. While no daemon is there it just keeps the door open.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/event_loop.h"
#include "runner/frame.h"
#include "runner/protocol.h"
#include "runner/report_queue.h"

namespace mete::runner {

class DaemonLink {
 public:
  struct Callbacks {
    std::function<Welcome()> welcome;             // version and term are filled in by the link
    std::function<void(const ToRunner&)> handle;  // everything but Hello
  };

  // loop and queue outlive it.
  DaemonLink(EventLoop& loop, ReportQueue& queue, Term term, Callbacks callbacks);
  ~DaemonLink();
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;

  Status Listen(const std::string& path);

  bool IsConnected() const { return daemon_ != nullptr; }
  Term CurrentTerm() const { return term_; }
  void Tell(const StateChanged& change);
  // Sent to the connected daemon and each later one, behind the last report.
  void TellExit(Exited exited);
  // Sends what the queue has in closed batches, as far as the socket takes it.
  void Pump();

 private:
  struct Peer {
    UniqueFd fd;
    FrameReader reader;
    std::string out;
    size_t sent = 0;
    bool waits_for_room = false;
    bool exit_sent = false;
  };
  void Accept();
  void Read(int fd);
  // False: the peer is to be closed.
  bool HandleFrames(Peer& peer);
  bool HandleHello(Peer& peer, const ToRunner& message);
  void Refuse(Peer& peer, RefusalReason reason, std::string message);
  void Fill(Peer& peer);
  // False: the peer has gone.
  bool Flush(Peer& peer);
  void Close(int fd);

  EventLoop& loop_;
  ReportQueue& queue_;
  Term term_;
  Callbacks callbacks_;
  std::string path_;
  UniqueFd listener_;
  std::unordered_map<int, std::unique_ptr<Peer>> peers_;
  Peer* daemon_ = nullptr;  // the one that was welcomed last
  // Messages are being handled: what they give rise to is sent afterwards.
  bool handling_ = false;
  std::string exit_frame_;
};

}  // namespace mete::runner
