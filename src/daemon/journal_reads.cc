#include "daemon/journal_reads.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mete {

void JournalReads::ReadReports(JobId job, int64_t from, int64_t limit, Rows<ReportRow> reply) {
  journal_.ReadReports({.job = job, .from_number = from, .limit = limit},
                       [reply = std::move(reply)](Result<ReportPage> page) {
                         if (!page) return reply(tl::make_unexpected(std::move(page).error()));
                         std::vector<ReportRow> rows;
                         rows.reserve(page->reports.size());
                         for (StoredReport& stored : page->reports) {
                           rows.push_back({.number = stored.number,
                                           .replica = stored.replica,
                                           .report = std::move(stored.report)});
                         }
                         reply(std::move(rows));
                       });
}

void JournalReads::ReadEvents(JobId job, int64_t from, int64_t limit, Rows<EventRow> reply) {
  const uint64_t after = from > 0 ? static_cast<uint64_t>(from) - 1 : 0;
  journal_.ReadEvents({.job = job, .after = after, .limit = limit},
                      [reply = std::move(reply)](Result<std::vector<StoredEvent>> events) {
                        if (!events) return reply(tl::make_unexpected(std::move(events).error()));
                        std::vector<EventRow> rows;
                        rows.reserve(events->size());
                        for (StoredEvent& stored : *events) {
                          rows.push_back({.number = static_cast<int64_t>(stored.sequence),
                                          .at = stored.wall,
                                          .kind = std::move(stored.event.kind),
                                          .job = stored.event.job,
                                          .detail = std::move(stored.event.detail)});
                        }
                        reply(std::move(rows));
                      });
}

void JournalReads::ListEnded(JobId before, int64_t limit, Rows<JobRecord> reply) {
  // The journal lists by the order of ends, the API by id: read all, they are few beside their
  // reports.
  journal_.ListEnded(
      std::numeric_limits<int32_t>::max(), 0,
      [before, limit, reply = std::move(reply)](Result<std::vector<EndedJob>> ended) {
        if (!ended) return reply(tl::make_unexpected(std::move(ended).error()));
        std::vector<JobRecord> rows;
        for (EndedJob& one : *ended) {
          if (!before || one.job.id < before) rows.push_back(std::move(one.job));
        }
        std::ranges::sort(rows, std::ranges::greater(), &JobRecord::id);
        if (static_cast<int64_t>(rows.size()) > limit) {
          rows.resize(static_cast<size_t>(limit));
        }
        reply(std::move(rows));
      });
}

void JournalReads::FindJob(JobId id, Rows<JobRecord> reply) {
  journal_.ReadJob(id, [reply = std::move(reply)](Result<JobRecord> job) {
    if (!job && job.error().code == ErrorCode::kNotFound) return reply(std::vector<JobRecord>());
    if (!job) return reply(tl::make_unexpected(std::move(job).error()));
    reply(std::vector<JobRecord>{std::move(*job)});
  });
}

}  // namespace mete
