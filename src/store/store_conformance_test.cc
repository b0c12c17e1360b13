// What every store promises, for the journal on disk and the one in memory alike.

#include <map>
#include <memory>
#include <numeric>

#include "gtest/gtest.h"
#include "store/journal.h"
#include "store/journal_testing.h"
#include "store/memory_store.h"
#include "store/random_records.h"

namespace mete {
namespace {

// A store that can be opened again, as by the next daemon.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual LoadedState Open(const std::string& boot_id) = 0;
  virtual Store& store() = 0;
  TestLoop loop;

  Status Commit(JournalBatch batch) {
    return loop.Wait<Status>([&](auto done) { store().Commit(std::move(batch), done); });
  }
};

class OnDisk final : public Subject {
 public:
  LoadedState Open(const std::string& boot_id) override {
    journal_.reset();
    auto opened = Journal::Open(folder_.File("journal.db"),
                                {.boot_id = boot_id, .report_gather = std::chrono::milliseconds(2)},
                                clock_, loop.Post());
    METE_CHECK(opened);
    EXPECT_TRUE(opened->notes.empty()) << opened->notes.front();
    journal_ = std::move(opened->journal);
    return std::move(opened->state);
  }
  Store& store() override { return *journal_; }

 private:
  TemporaryFolder folder_;
  SystemClock clock_;
  std::unique_ptr<Journal> journal_;
};

class InMemory final : public Subject {
 public:
  LoadedState Open(const std::string& boot_id) override {
    const bool rebooted = !boot_id_.empty() && boot_id != boot_id_;
    boot_id_ = boot_id;
    return store_.Load(rebooted);
  }
  Store& store() override { return store_; }

 private:
  MemoryStore store_{loop.Post()};
  std::string boot_id_;
};

template <typename T>
class StoreConformance : public testing::Test {
 protected:
  T subject_;
};
using Stores = testing::Types<OnDisk, InMemory>;
TYPED_TEST_SUITE(StoreConformance, Stores);

std::map<uint64_t, std::string> DescribeJobs(const std::vector<JobRecord>& jobs) {
  std::map<uint64_t, std::string> described;
  for (const JobRecord& job : jobs) described[job.id.value] = Describe(job);
  return described;
}

std::map<uint64_t, std::string> DescribeReplicas(const std::vector<ReplicaRecord>& replicas) {
  std::map<uint64_t, std::string> described;
  for (const ReplicaRecord& replica : replicas) described[replica.id.value] = Describe(replica);
  return described;
}

TYPED_TEST(StoreConformance, AnEmptyJournalIsAnEmptyState) {
  const LoadedState state = this->subject_.Open("boot");
  EXPECT_EQ(state.term, Term{1});
  EXPECT_FALSE(state.rebooted);
  EXPECT_TRUE(state.jobs.empty());
  EXPECT_TRUE(state.replicas.empty());
  EXPECT_EQ(state.next_job_id, 1u);
  EXPECT_EQ(state.next_replica_id, 1u);
}

TYPED_TEST(StoreConformance, EveryReignHasALargerTermAndKnowsOfAReboot) {
  EXPECT_EQ(this->subject_.Open("boot").term, Term{1});
  const LoadedState second = this->subject_.Open("boot");
  EXPECT_EQ(second.term, Term{2});
  EXPECT_FALSE(second.rebooted);
  const LoadedState third = this->subject_.Open("another boot");
  EXPECT_EQ(third.term, Term{3});
  EXPECT_TRUE(third.rebooted);
}

// Random steps: what the next reign finds is what was last written of each record.
TYPED_TEST(StoreConformance, TheLatestOfEverythingComesBack) {
  const uint64_t seed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Rng rng(seed);
  this->subject_.Open("boot");
  std::map<uint64_t, JobRecord> jobs;
  std::map<uint64_t, ReplicaRecord> replicas;
  std::string policy, policy_state;
  for (int step = 0; step < 60; ++step) {
    JournalBatch batch;
    for (uint64_t i = rng.Below(4); i > 0; --i) {
      JobRecord job = RandomJob(rng, JobId{1 + rng.Below(20)});
      job.report_count = 0;  // a store counts for itself
      jobs[job.id.value] = job;
      batch.jobs.push_back(job);
      batch.events.push_back({"changed", job.id, "{}"});
    }
    for (uint64_t i = rng.Below(4); i > 0 && !jobs.empty(); --i) {
      // A replica stays with its job.
      const uint64_t id = 1 + rng.Below(30);
      ReplicaRecord replica = RandomReplica(rng, ReplicaId{id}, JobId{1 + id % 20});
      replicas[id] = replica;
      batch.replicas.push_back(replica);
    }
    if (rng.Chance(0.2)) batch.policy = policy = "slaq " + std::to_string(step);
    if (rng.Chance(0.2)) batch.policy_state = policy_state = RandomBytes(rng, 100);
    batch.quiet_rounds = static_cast<int64_t>(rng.Below(3));
    ASSERT_TRUE(this->subject_.Commit(std::move(batch)));

    if (!rng.Chance(0.2)) continue;
    const LoadedState state = this->subject_.Open("boot");
    std::map<uint64_t, std::string> expected_jobs, expected_replicas;
    for (const auto& [id, job] : jobs) expected_jobs[id] = Describe(job);
    for (const auto& [id, replica] : replicas) {
      const auto job = jobs.find(replica.job.value);
      const bool live = job != jobs.end() && !IsFinal(job->second.phase);
      if (live || replica.state != ReplicaState::kGone) expected_replicas[id] = Describe(replica);
    }
    EXPECT_EQ(DescribeJobs(state.jobs), expected_jobs);
    // What a replica has acknowledged never goes back, so compare without.
    std::map<uint64_t, std::string> loaded = DescribeReplicas(state.replicas);
    EXPECT_EQ(loaded.size(), expected_replicas.size());
    for (const ReplicaRecord& replica : state.replicas) {
      ReplicaRecord expected = replicas[replica.id.value];
      EXPECT_GE(replica.acknowledged_sequence, expected.acknowledged_sequence);
      expected.acknowledged_sequence = replica.acknowledged_sequence;
      EXPECT_EQ(Describe(replica), Describe(expected));
    }
    EXPECT_EQ(state.policy, policy);
    EXPECT_EQ(state.policy_state, policy_state);
    EXPECT_EQ(state.next_job_id, jobs.rbegin()->first + 1);
    EXPECT_EQ(state.next_replica_id, replicas.rbegin()->first + 1);
  }
}

TYPED_TEST(StoreConformance, ReportsOfLiveJobsComeBackInOrder) {
  Rng rng(5);
  this->subject_.Open("boot");
  JournalBatch batch;
  for (uint64_t id = 1; id <= 3; ++id) {
    JobRecord job = RandomJob(rng, JobId{id});
    job.phase = id == 3 ? JobPhase::kDone : JobPhase::kRunning;
    job.first_report = 0;
    batch.jobs.push_back(job);
    ReplicaRecord replica = RandomReplica(rng, ReplicaId{id}, JobId{id});
    replica.acknowledged_sequence = 0;
    replica.state = ReplicaState::kRunning;
    batch.replicas.push_back(replica);
  }
  ASSERT_TRUE(this->subject_.Commit(std::move(batch)));

  std::map<uint64_t, std::vector<std::string>> sent;
  for (uint64_t sequence = 1; sequence <= 120; sequence += 4) {
    JournalBatch step;
    for (uint64_t id = 1; id <= 3; ++id) {
      ReportBatch reports{JobId{id}, ReplicaId{id}, {}};
      for (uint64_t i = 0; i < 4; ++i) {
        reports.reports.push_back(RandomReport(rng, sequence + i));
        sent[id].push_back(Describe(reports.reports.back()));
      }
      step.reports.push_back(std::move(reports));
    }
    ASSERT_TRUE(this->subject_.Commit(std::move(step)));
  }

  const LoadedState state = this->subject_.Open("boot");
  std::map<uint64_t, std::vector<std::string>> loaded;
  for (const ReportBatch& reports : state.recent_reports) {
    EXPECT_EQ(reports.replica.value, reports.job.value);
    for (const Report& report : reports.reports) {
      loaded[reports.job.value].push_back(Describe(report));
    }
  }
  // Of what has ended a store may give some.
  sent.erase(3);
  loaded.erase(3);
  EXPECT_EQ(loaded, sent);
  ASSERT_EQ(state.replicas.size(), 3u);
  for (const ReplicaRecord& replica : state.replicas) {
    EXPECT_EQ(replica.acknowledged_sequence, 120u) << replica.id.value;
  }
  for (const JobRecord& job : state.jobs) {
    if (job.id != JobId{3}) {
      EXPECT_GE(job.report_count, 120);
    }
  }
}

TYPED_TEST(StoreConformance, AnswersComeInTheOrderOfTheCalls) {
  Rng rng(6);
  this->subject_.Open("boot");
  std::vector<int> answered;
  for (int i = 0; i < 200; ++i) {
    JournalBatch batch;
    if (i % 3 == 0) batch.jobs.push_back(RandomJob(rng, JobId{1}));
    if (i % 3 == 1) batch.reports.push_back({JobId{1}, ReplicaId{1}, {RandomReport(rng, 1)}});
    this->subject_.store().Commit(std::move(batch), [&answered, i](Status status) {
      EXPECT_TRUE(status);
      answered.push_back(i);
    });
  }
  ASSERT_TRUE(this->subject_.loop.RunUntil([&] { return answered.size() == 200; }));
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(answered, expected);
}

}  // namespace
}  // namespace mete
