#include "runner/job_output.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace mete::runner {
namespace {

// After the job's end someone outside of its tree may hold a pipe and go on writing: then only so
// much is taken.
constexpr int kReadsAtTheEnd = 4096;

}  // namespace

JobOutput::~JobOutput() {
  if (output_) loop_.Forget(output_.Get());
  if (error_) loop_.Forget(error_.Get());
}

Status JobOutput::Start(UniqueFd output, UniqueFd error) {
  output_ = std::move(output);
  error_ = std::move(error);
  remember_output_ = !error_;
  METE_RETURN_IF_ERROR(loop_.Watch(output_.Get(), EPOLLIN,
                                   [this] { Read(output_, ProgressIntake::Stream::kOutput); }));
  if (!error_) return {};
  return loop_.Watch(error_.Get(), EPOLLIN,
                     [this] { Read(error_, ProgressIntake::Stream::kError); });
}

bool JobOutput::Read(UniqueFd& fd, ProgressIntake::Stream stream) {
  if (!fd) return false;
  char bytes[64 * 1024];
  const ssize_t n = read(fd.Get(), bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  // A terminal that nobody holds any more says EIO.
  if (n <= 0) {
    loop_.Forget(fd.Get());
    fd.Reset();
    return false;
  }
  const std::string_view chunk(bytes, static_cast<size_t>(n));
  log_.Append(chunk);
  if (stream == ProgressIntake::Stream::kError || remember_output_) Remember(chunk);
  intake_.TakeOutput(stream, chunk);
  return true;
}

void JobOutput::Remember(std::string_view bytes) {
  if (bytes.size() > kLastBytes) bytes.remove_prefix(bytes.size() - kLastBytes);
  last_.append(bytes);
  if (last_.size() > 2 * kLastBytes) last_.erase(0, last_.size() - kLastBytes);
}

void JobOutput::Finish() {
  const std::pair<UniqueFd*, ProgressIntake::Stream> streams[] = {
      {&output_, ProgressIntake::Stream::kOutput}, {&error_, ProgressIntake::Stream::kError}};
  for (const auto& [fd, stream] : streams) {
    for (int i = 0; i < kReadsAtTheEnd && Read(*fd, stream); ++i) {
    }
    if (!*fd) continue;
    loop_.Forget(fd->Get());
    fd->Reset();
  }
  intake_.FinishOutput();
}

std::string JobOutput::LastOutput() const {
  if (last_.size() <= kLastBytes) return last_;
  std::string_view last = std::string_view(last_).substr(last_.size() - kLastBytes);
  const size_t line = last.find('\n');
  if (line != std::string_view::npos && line + 1 < last.size()) last.remove_prefix(line + 1);
  return std::string(last);
}

}  // namespace mete::runner
