// Reading reports: pages of them, and a few that show the whole.

#include <algorithm>
#include <cmath>
#include <limits>

#include "store/report_log.h"

namespace mete {
namespace {

// Blocks that are read to show a whole history.
constexpr size_t kSpreadBlocksMax = 16;

// Some of `blocks`, evenly spread, the first and the last among them.
template <typename Block>
std::vector<Block> SomeOf(const std::vector<Block>& blocks) {
  if (blocks.size() <= kSpreadBlocksMax) return blocks;
  std::vector<Block> some;
  for (size_t i = 0; i < kSpreadBlocksMax; ++i) {
    some.push_back(blocks[i * (blocks.size() - 1) / (kSpreadBlocksMax - 1)]);
  }
  return some;
}

}  // namespace

Result<ReportPage> ReportLog::Read(const ReportQuery& query) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::min();
  const auto wanted = [&](const StoredReport& stored) {
    return stored.number >= query.from_number &&
           (!query.from_iteration || stored.report.iteration >= *query.from_iteration);
  };
  const auto limit = static_cast<size_t>(std::max<int64_t>(query.limit, 0));
  std::vector<StoredReport> found;  // one more than the limit tells that there are more
  const auto take = [&](const auto begin, const auto end) {
    for (auto it = begin; it != end && found.size() <= limit; ++it) {
      if (wanted(*it)) found.push_back(*it);
    }
  };
  const auto stream = streams_.find(query.job);
  const auto take_tail = [&] {
    if (stream == streams_.end()) return;
    const std::deque<StoredReport>& tail = stream->second.tail;
    if (query.newest) {
      take(tail.rbegin(), tail.rend());
    } else {
      take(tail.begin(), tail.end());
    }
  };

  if (query.newest) take_tail();
  SqlStatement& blocks = query.newest ? backward_ : forward_;
  {
    SqlUse use(blocks);
    blocks.Bind(1, query.job.value).Bind(2, query.from_number);
    blocks.Bind(3, query.from_iteration.value_or(kAny)).Bind(4, kAny);
    while (found.size() <= limit) {
      METE_ASSIGN_OR_RETURN(const bool row, blocks.Step());
      if (!row) break;
      auto reports = ReadBlock(blocks.Int(0));
      if (!reports && reports.error().code == ErrorCode::kCorrupt) continue;
      if (!reports) return tl::make_unexpected(std::move(reports).error());
      if (query.newest) {
        take(reports->rbegin(), reports->rend());
      } else {
        take(reports->begin(), reports->end());
      }
    }
  }
  if (!query.newest) take_tail();

  ReportPage page;
  page.more = found.size() > limit;
  if (page.more) found.pop_back();
  if (query.newest) std::reverse(found.begin(), found.end());
  page.next_number = found.empty() ? query.from_number : found.back().number + 1;
  page.reports = std::move(found);
  return page;
}

Result<std::vector<StoredReport>> ReportLog::ReadSpread(JobId job, int64_t from_number,
                                                        int64_t count) {
  std::vector<Block> blocks;
  {
    SqlUse use(blocks_of_job_);
    blocks_of_job_.Bind(1, job.value).Bind(2, from_number);
    for (;;) {
      METE_ASSIGN_OR_RETURN(const bool row, blocks_of_job_.Step());
      if (!row) break;
      blocks.push_back(ToBlock(blocks_of_job_));
    }
  }
  std::vector<StoredReport> found;
  const auto take = [&](StoredReport& stored) {
    if (stored.number < from_number || !std::isfinite(stored.report.loss)) return;
    stored.report.metrics.clear();
    found.push_back(std::move(stored));
  };
  for (const Block& block : SomeOf(blocks)) {
    auto reports = ReadBlock(block.id);
    if (!reports && reports.error().code == ErrorCode::kCorrupt) continue;
    if (!reports) return tl::make_unexpected(std::move(reports).error());
    for (StoredReport& stored : *reports) take(stored);
  }
  if (const auto stream = streams_.find(job); stream != streams_.end()) {
    for (StoredReport stored : stream->second.tail) take(stored);
  }
  const auto size = std::ssize(found);
  if (size <= count) return found;
  for (int64_t i = 0; i < count; ++i) {
    found[static_cast<size_t>(i)] =
        std::move(found[static_cast<size_t>(i * (size - 1) / std::max<int64_t>(count - 1, 1))]);
  }
  found.resize(static_cast<size_t>(count));
  return found;
}

}  // namespace mete
