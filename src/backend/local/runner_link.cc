#include "backend/local/runner_link.h"

#include <array>
#include <utility>
// Asio after <utility>: see http/asio_access.h.
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

#include "http/asio_access.h"
#include "runner/frame.h"
#include "runner/replica_files.h"
#include "runner/unix_socket.h"

namespace mete {

namespace asio = boost::asio;
using boost::system::error_code;

class RunnerLink::Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(EventLoop& loop, UniqueFd fd, Callbacks callbacks)
      : descriptor_(IoContext(loop), fd.Release()), callbacks_(std::move(callbacks)) {}

  void Read() {
    descriptor_.async_read_some(
        asio::buffer(bytes_), [self = shared_from_this()](error_code error, size_t count) {
          if (self->closed_) return;
          if (error) return self->Close(ErrorCode::kUnavailable, error.message());
          self->reader_.Append(std::string_view(self->bytes_.data(), count));
          if (self->HandleFrames()) self->Read();
        });
  }

  void Send(const runner::ToRunner& message) {
    if (closed_) return;
    runner::Encode(message, &waiting_);
    Write();
  }

  void Forget() {
    closed_ = true;
    error_code ignored;
    descriptor_.close(ignored);
  }

 private:
  // False: closed meanwhile.
  bool HandleFrames() {
    while (!closed_) {
      const auto frame = reader_.Next();
      if (!frame) {
        Close(frame.error().code, frame.error().message);
        return false;
      }
      if (!*frame) return true;
      auto message = runner::DecodeToDaemon((*frame)->type, (*frame)->payload);
      if (!message && message.error().code == ErrorCode::kNotFound) continue;
      if (!message) {
        Close(message.error().code, message.error().message);
        return false;
      }
      callbacks_.on_message(std::move(*message));
    }
    return false;
  }

  void Write() {
    if (!sending_.empty() || waiting_.empty()) return;
    std::swap(sending_, waiting_);
    asio::async_write(descriptor_, asio::buffer(sending_),
                      [self = shared_from_this()](error_code error, size_t) {
                        self->sending_.clear();
                        // A broken pipe shows as the end of what is read, behind all that was sent.
                        if (!error && !self->closed_) self->Write();
                      });
  }

  void Close(ErrorCode code, std::string why) {
    Forget();
    const auto on_closed = std::move(callbacks_.on_closed);
    if (on_closed) on_closed(Error{.code = code, .message = std::move(why)});
  }

  asio::posix::stream_descriptor descriptor_;
  Callbacks callbacks_;
  runner::FrameReader reader_;
  std::array<char, 64 * 1024> bytes_;
  std::string sending_;
  std::string waiting_;
  bool closed_ = false;
};

Result<std::unique_ptr<RunnerLink>> RunnerLink::Connect(EventLoop& loop,
                                                        const std::string& replica_folder,
                                                        const runner::Hello& hello,
                                                        Callbacks callbacks) {
  METE_ASSIGN_OR_RETURN(
      UniqueFd fd, runner::ConnectUnix(runner::ReplicaPath(replica_folder, runner::kRunnerSocket)));
  if (!runner::PeerIsOurs(fd.Get())) {
    return Fail(ErrorCode::kPermissionDenied, "another user's process answers", replica_folder);
  }
  auto stream = std::make_shared<Stream>(loop, std::move(fd), std::move(callbacks));
  stream->Send(hello);
  stream->Read();
  return std::unique_ptr<RunnerLink>(new RunnerLink(std::move(stream)));
}

RunnerLink::~RunnerLink() { stream_->Forget(); }

void RunnerLink::Send(const runner::ToRunner& message) { stream_->Send(message); }

}  // namespace mete
