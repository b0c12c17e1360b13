// GET /v1/jobs/{job}/logs: what its replicas print, as raw bytes; `follow=true` goes on until the
// job has ended.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/api_state.h"
#include "http/error_response.h"
#include "runner/log_reader.h"

namespace mete {
namespace {

using http::ErrorResponse;
using http::PathParameters;
using http::Request;
using http::Responder;

constexpr size_t kChunkBytes = 64 * 1024;
constexpr int64_t kTailLinesMax = 1'000'000;
// How far back the last N lines are looked for.
constexpr int64_t kTailBytesMax = 4 << 20;
// In one answer without `follow`.
constexpr size_t kAnswerBytesMax = 64 << 20;
constexpr Duration kPollInterval = std::chrono::milliseconds(200);

struct LogQuery {
  JobId job;
  int64_t attempt = 0;  // 0: the newest that has a log
  std::string role;     // empty: any
  int64_t index = 0;
  int64_t tail = -1;  // lines; -1: all
  bool follow = false;
};

Result<LogQuery> ReadQuery(const ApiStatePtr& api, const Request& request, const std::string& job) {
  LogQuery query;
  METE_ASSIGN_OR_RETURN(query.job, api->ResolveJob(job));
  METE_ASSIGN_OR_RETURN(query.attempt, QueryNumber(request, "attempt", 0, INT32_MAX, 0));
  METE_ASSIGN_OR_RETURN(query.index, QueryNumber(request, "index", 0, INT32_MAX, 0));
  METE_ASSIGN_OR_RETURN(query.tail, QueryNumber(request, "tail", 0, kTailLinesMax, -1));
  if (const std::string* role = request.FindQuery("role")) query.role = *role;
  const std::string* follow = request.FindQuery("follow");
  query.follow = follow != nullptr && *follow != "false" && *follow != "0";
  return query;
}

// The newest replica that the query names, of those that the job ever had.
const ReplicaRecord* ChooseReplica(const std::vector<ReplicaRecord>& replicas, const JobSpec& spec,
                                   const LogQuery& query) {
  const ReplicaRecord* best = nullptr;
  for (const ReplicaRecord& replica : replicas) {
    const auto role = static_cast<size_t>(replica.role);
    if (query.attempt > 0 && replica.attempt != query.attempt) continue;
    if (replica.index != query.index) continue;
    if (!query.role.empty() && (role >= spec.roles.size() || spec.roles[role].name != query.role)) {
      continue;
    }
    if (best == nullptr || replica.id > best->id) best = &replica;
  }
  return best;
}

Error NoSuchLog(const LogQuery& query, bool ever_started) {
  if (!ever_started) {
    return {ErrorCode::kNotFound, fmt::format("job {} has not started yet", query.job.value), "",
            fmt::format("`mete why {}` says why", query.job.value)};
  }
  return {ErrorCode::kNotFound, fmt::format("job {} has no such log", query.job.value), "",
          "`mete describe` shows its attempts and roles; old logs are removed in time"};
}

// The offset at which the last `lines` lines begin.
Result<int64_t> TailOffset(const std::string& directory, int64_t lines) {
  METE_ASSIGN_OR_RETURN(const runner::LogExtent extent, runner::GetLogExtent(directory));
  if (lines < 0) return extent.begin;
  const int64_t begin = std::max(extent.begin, extent.end - kTailBytesMax);
  std::string bytes;
  int64_t at = begin;
  while (at < extent.end) {
    METE_ASSIGN_OR_RETURN(const runner::LogChunk chunk,
                          runner::ReadLog(directory, at, kChunkBytes));
    if (chunk.bytes.empty()) break;
    if (chunk.offset != at) bytes.clear();
    bytes += chunk.bytes;
    at = chunk.NextOffset();
  }
  // A line end at the very end ends the last line and begins none.
  size_t position = bytes.size();
  if (lines > 0 && position > 0 && bytes[position - 1] == '\n') --position;
  for (int64_t left = lines; left > 0 && position > 0; --left) {
    const size_t found = bytes.rfind('\n', position - 1);
    if (found == std::string::npos) return at - static_cast<int64_t>(bytes.size());
    position = found;
    if (left == 1) ++position;
  }
  return at - static_cast<int64_t>(bytes.size() - position);
}

http::Response Head() {
  http::Response head;
  head.content_type = "application/octet-stream";
  head.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return head;
}

// Sends what is there, then looks again until the job has ended and all is sent.
class Follower : public std::enable_shared_from_this<Follower> {
 public:
  Follower(ApiStatePtr api, JobId job, std::string directory, int64_t offset,
           http::ResponseStream stream)
      : api_(std::move(api)),
        job_(job),
        directory_(std::move(directory)),
        offset_(offset),
        stream_(std::move(stream)) {}

  void Step() {
    // Asked before reading: what was printed before the end is read after it.
    const Job* job = api_->engine().jobs().Find(job_);
    const bool ended = job == nullptr || !job->live() || job->replicas.empty();
    // One piece a step, so that a fast job does not keep the loop from everything else and a slow
    // reader is given time.
    const Result<runner::LogChunk> chunk = runner::ReadLog(directory_, offset_, kChunkBytes);
    const bool read = chunk && !chunk->bytes.empty();
    if (read) {
      offset_ = chunk->NextOffset();
      if (!stream_.Write(chunk->bytes)) return;
    } else if (ended || !chunk) {
      stream_.End();
      return;
    }
    if (!stream_.IsOpen()) return;
    timer_ = api_->context().loop.After(read ? std::chrono::milliseconds(5) : kPollInterval,
                                        [self = shared_from_this()] { self->Step(); });
  }

 private:
  ApiStatePtr api_;
  JobId job_;
  std::string directory_;
  int64_t offset_;
  http::ResponseStream stream_;
  EventLoop::Timer timer_;
};

void SendLog(const ApiStatePtr& api, const LogQuery& query, const std::string& directory,
             const Responder& responder) {
  const Result<int64_t> offset = TailOffset(directory, query.tail);
  if (!offset) {
    return responder.Send(ErrorResponse(
        offset.error().code == ErrorCode::kNotFound ? NoSuchLog(query, true) : offset.error()));
  }
  if (query.follow) {
    std::make_shared<Follower>(api, query.job, directory, *offset, responder.StartStream(Head()))
        ->Step();
    return;
  }
  http::Response response = Head();
  int64_t at = *offset;
  while (response.body.size() < kAnswerBytesMax) {
    const Result<runner::LogChunk> chunk = runner::ReadLog(directory, at, kChunkBytes);
    if (!chunk || chunk->bytes.empty()) break;
    response.body += chunk->bytes;
    at = chunk->NextOffset();
  }
  responder.Send(std::move(response));
}

void Logs(const ApiStatePtr& api, const Request& request, const PathParameters& path,
          const Responder& responder) {
  const Result<LogQuery> query = ReadQuery(api, request, path.at("job"));
  if (!query) return responder.Send(ErrorResponse(query.error()));
  Journal* journal = api->context().journal;
  if (journal == nullptr || !api->context().replica_directory) {
    return responder.Send(ErrorResponse(NoSuchLog(*query, true)));
  }
  journal->ReadJob(query->job, [=, query = *query](const Result<JobRecord>& job) {
    if (!job) return responder.Send(ErrorResponse(job.error()));
    journal->ReadReplicas(
        query.job, [=, spec = job->spec](const Result<std::vector<ReplicaRecord>>& replicas) {
          if (!replicas) return responder.Send(ErrorResponse(replicas.error()));
          const ReplicaRecord* replica = ChooseReplica(*replicas, *spec, query);
          if (replica == nullptr) {
            return responder.Send(ErrorResponse(NoSuchLog(query, !replicas->empty())));
          }
          SendLog(api, query, api->context().replica_directory(replica->id), responder);
        });
  });
}

}  // namespace

void AddLogRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add("GET", "/v1/jobs/{job}/logs",
             [api](const Request& request, const PathParameters& path, const Responder& responder) {
               Logs(api, request, path, responder);
             });
}

}  // namespace mete
