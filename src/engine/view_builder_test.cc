#include "engine/view_builder.h"

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

ViewJob Row(uint64_t id, int64_t units) {
  ViewJob job;
  job.id = JobId{id};
  job.roles[0].units = units;
  return job;
}

TEST(ViewBuilder, PublishedStaysWhileWorkingChanges) {
  ViewBuilder builder;
  builder.Put(Row(1, 3));
  const View& published = builder.Publish(Instant(1s), 3s);
  builder.Put(Row(1, 5));
  builder.Put(Row(2, 1));
  EXPECT_EQ(published.jobs.size(), 1u);
  EXPECT_EQ(published.jobs[0].roles[0].units, 3);
  builder.Publish(Instant(2s), 3s);
  EXPECT_EQ(published.jobs.size(), 2u);
  EXPECT_EQ(published.jobs[0].roles[0].units, 5);
}

// After any sequence of changes the published view equals one built from scratch, and `changed`
// names every row that differs from the one published before.
TEST(ViewBuilder, EqualsARebuild) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    ViewBuilder builder;
    std::map<uint64_t, int64_t> truth;
    std::vector<ViewJob> before;
    uint64_t next = 1;
    for (int step = 0; step < 200; ++step) {
      const double what = rng.Uniform();
      if (what < 0.4 || truth.empty()) {
        truth[next] = step;
        builder.Put(Row(next++, step));
      } else {
        auto any = truth.begin();
        std::advance(any, static_cast<long>(rng.Below(truth.size())));
        if (what < 0.7) {
          any->second = step;
          builder.Put(Row(any->first, step));
        } else {
          builder.Remove(JobId{any->first});
          truth.erase(any);
        }
      }
      if (!rng.Chance(0.2)) continue;
      const View& view = builder.Publish(Instant(), 3s);
      std::map<uint64_t, int64_t> seen;
      for (const ViewJob& job : view.jobs) seen[job.id.value] = job.roles[0].units;
      ASSERT_EQ(seen, truth);
      for (uint32_t row = 0; row < view.jobs.size(); ++row) {
        const bool same = row < before.size() && before[row].id == view.jobs[row].id &&
                          before[row].roles[0].units == view.jobs[row].roles[0].units;
        if (!same) {
          ASSERT_TRUE(std::ranges::count(view.changed, row) == 1) << "row " << row;
        }
      }
      before = view.jobs;
    }
  }
}

}  // namespace
}  // namespace mete
