#include "runner/report_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mete::runner {

ReportQueue::ReportQueue(std::string spool_path, const Limits& limits)
    : limits_(limits), spool_(std::move(spool_path), limits.spool_bytes) {}

void ReportQueue::Add(Report report) {
  if (open_.Count() == 0) open_.Begin(next_sequence_);
  report.sequence = next_sequence_++;
  open_.Add(report);
  if (open_.Size() >= limits_.batch_bytes) CloseBatch();
}

void ReportQueue::CloseBatch() {
  if (open_.Count() == 0) return;
  Batch& batch = memory_.emplace_back();
  batch.first_sequence = open_.FirstSequence();
  batch.count = open_.Count();
  open_.Finish(&batch.payload);
  open_.Begin(next_sequence_);
  memory_bytes_ += batch.payload.size();
  while (memory_.size() > 1 && memory_bytes_ > limits_.memory_bytes) SpillOldest();
}

void ReportQueue::SpillOldest() {
  METE_CHECK(!memory_.empty());
  const Batch& oldest = memory_.front();
  if (!spool_.Append(oldest.payload, oldest.first_sequence, oldest.count))
    dropped_in_memory_ += oldest.count;
  memory_bytes_ -= oldest.payload.size();
  memory_.pop_front();
}

void ReportQueue::SpillAll() {
  while (!memory_.empty()) {
    const Batch& oldest = memory_.front();
    // Memory is as good a place while there is no room on the disk.
    if (!spool_.Append(oldest.payload, oldest.first_sequence, oldest.count)) return;
    memory_bytes_ -= oldest.payload.size();
    memory_.pop_front();
  }
}

std::optional<std::string> ReportQueue::NextToSend() {
  const auto is_sent = [this](const auto& batch) {
    return batch.first_sequence + batch.count <= send_from_;
  };
  const auto& spooled = spool_.Records();
  for (auto it = std::partition_point(spooled.begin(), spooled.end(), is_sent); it != spooled.end();
       ++it) {
    send_from_ = it->first_sequence + it->count;
    if (auto payload = spool_.Read(*it)) return std::move(*payload);
  }
  const auto it = std::partition_point(memory_.begin(), memory_.end(), is_sent);
  if (it == memory_.end()) return std::nullopt;
  send_from_ = it->first_sequence + it->count;
  return it->payload;
}

void ReportQueue::Rewind(uint64_t sequence) {
  sequence = std::min(sequence, next_sequence_ - 1);
  AcknowledgeThrough(sequence);
  send_from_ = sequence + 1;
}

void ReportQueue::AcknowledgeThrough(uint64_t sequence) {
  sequence = std::min(sequence, next_sequence_ - 1);
  spool_.AcknowledgeThrough(sequence);
  while (!memory_.empty() &&
         memory_.front().first_sequence + memory_.front().count <= sequence + 1) {
    memory_bytes_ -= memory_.front().payload.size();
    memory_.pop_front();
  }
}

uint64_t ReportQueue::FirstSequence() const {
  if (!spool_.Records().empty()) return spool_.Records().front().first_sequence;
  if (!memory_.empty()) return memory_.front().first_sequence;
  return open_.Count() > 0 ? open_.FirstSequence() : next_sequence_;
}

}  // namespace mete::runner
