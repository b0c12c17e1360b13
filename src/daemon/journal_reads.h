#pragma once

// What the API reads of the past, from the journal.

#include "api/journal_reader.h"
#include "store/journal.h"

namespace mete {

class JournalReads final : public JournalReader {
 public:
  explicit JournalReads(Journal& journal) : journal_(journal) {}

  void ReadReports(JobId job, int64_t from, int64_t limit, Rows<ReportRow> reply) override;
  void ReadEvents(JobId job, int64_t from, int64_t limit, Rows<EventRow> reply) override;
  void ListEnded(JobId before, int64_t limit, Rows<JobRecord> reply) override;
  void FindJob(JobId id, Rows<JobRecord> reply) override;

 private:
  Journal& journal_;
};

}  // namespace mete
