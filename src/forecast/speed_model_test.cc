#include "forecast/speed_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A job with a truth to be learned.
struct Job {
  double serial_seconds = 0, cpu_seconds = 1, seconds_per_core = 0, parallelism = kInfinity;

  double Seconds(double cores) const {
    return serial_seconds + cpu_seconds / std::min(cores, parallelism) + seconds_per_core * cores;
  }
  SpeedObservation Run(double cores, int64_t iterations = 20) const {
    return {.cores = cores,
            .cpu_seconds = cpu_seconds * static_cast<double>(iterations),
            .wall_seconds = Seconds(cores) * static_cast<double>(iterations),
            .iterations = iterations};
  }
};

TEST(SpeedModel, KnowsNothingAtFirst) {
  const SpeedModel model;
  EXPECT_FALSE(model.Known());
  EXPECT_EQ(model.SecondsPerIteration(1), kInfinity);
  EXPECT_EQ(model.Iterations(1, 10), 0);
}

TEST(SpeedModel, OneAllocationScalesPerfectly) {
  SpeedModel model;
  model.Observe(Job{.cpu_seconds = 2}.Run(1));
  EXPECT_TRUE(model.Known());
  EXPECT_NEAR(model.SecondsPerIteration(4), 0.5, 1e-12);
  EXPECT_NEAR(model.Iterations(0.5, 8), 2, 1e-12);
  EXPECT_EQ(model.BestCores(), kInfinity);
}

TEST(SpeedModel, LeavesOutTheFirstIteration) {
  SpeedModel model;
  model.Observe({.cores = 1, .cpu_seconds = 50, .wall_seconds = 50, .iterations = 1});
  EXPECT_NEAR(model.cpu_seconds_per_iteration(), 50, 1e-9);
  for (int i = 0; i < 3; ++i) model.Observe(Job{.cpu_seconds = 2}.Run(1, 1));
  EXPECT_NEAR(model.cpu_seconds_per_iteration(), 2, 1e-9);
}

TEST(SpeedModel, LearnsThatOneThreadUsesOneCore) {
  const Job job{.cpu_seconds = 0.3, .parallelism = 1};
  SpeedModel model;
  for (int i = 0; i < 3; ++i) model.Observe(job.Run(0.5));
  EXPECT_EQ(model.parallelism(), kInfinity);
  for (int i = 0; i < 3; ++i) model.Observe(job.Run(2));
  EXPECT_NEAR(model.parallelism(), 1, 0.02);
  EXPECT_NEAR(model.BestCores(), 1, 0.02);
  EXPECT_NEAR(model.Iterations(2, 3), model.Iterations(1, 3), 0.3);
  EXPECT_NEAR(model.SecondsPerIteration(0.25), 1.2, 0.05);
}

TEST(SpeedModel, ANeighbourThatTakesMoreIsNoBound) {
  const Job job{.cpu_seconds = 1};
  SpeedModel model;
  for (int i = 0; i < 30; ++i) {
    SpeedObservation seen = job.Run(1);
    // Now and then the job gets four fifths of its share, once a third.
    if (i % 4 == 0) seen.wall_seconds /= i == 12 ? 0.33 : 0.8;
    model.Observe(seen);
  }
  EXPECT_EQ(model.parallelism(), kInfinity);
  EXPECT_EQ(model.BestCores(), kInfinity);
  EXPECT_NEAR(model.SecondsPerIteration(1), 1, 0.2);
}

TEST(SpeedModel, ForgetsABoundThatWasLifted) {
  SpeedModel model;
  for (int i = 0; i < 10; ++i) model.Observe(Job{.cpu_seconds = 1, .parallelism = 1}.Run(4));
  EXPECT_NEAR(model.BestCores(), 1, 0.05);
  for (int i = 0; i < 100; ++i) model.Observe(Job{.cpu_seconds = 1}.Run(2));
  EXPECT_GT(model.BestCores(), 2);
}

TEST(SpeedModel, LearnsOverheadPerCore) {
  const Job job{.cpu_seconds = 4, .seconds_per_core = 0.25};
  SpeedModel model;
  // The overhead is work that cores do, so that none is left unused.
  for (const double cores : {1.0, 1.0, 2.0, 4.0, 8.0}) {
    SpeedObservation seen = job.Run(cores);
    seen.wall_seconds = job.Seconds(cores) * 20;
    model.Observe(seen);
  }
  EXPECT_LT(model.BestCores(), 8);
  for (const double cores : {1.0, 2.0, 4.0})
    EXPECT_NEAR(model.SecondsPerIteration(cores), job.Seconds(cores), 0.35 * job.Seconds(cores));
}

TEST(SpeedModel, FollowsIterationsThatGrow) {
  SpeedModel model;
  for (int i = 0; i < 100; ++i) model.Observe(Job{.cpu_seconds = 1}.Run(1, 1));
  for (int i = 0; i < 200; ++i) model.Observe(Job{.cpu_seconds = 3}.Run(1, 1));
  EXPECT_NEAR(model.cpu_seconds_per_iteration(), 3, 0.1);
}

TEST(SpeedModel, IgnoresNonsense) {
  SpeedModel model;
  model.Observe({.cores = 1, .cpu_seconds = 1, .wall_seconds = 1, .iterations = 0});
  model.Observe({.cores = 0, .cpu_seconds = 1, .wall_seconds = 1, .iterations = 1});
  model.Observe({.cores = 1, .cpu_seconds = std::nan(""), .wall_seconds = 1, .iterations = 1});
  model.Observe({.cores = 1, .cpu_seconds = 1, .wall_seconds = kInfinity, .iterations = 1});
  EXPECT_FALSE(model.Known());
}

TEST(SpeedModel, IterationsAreIncreasingAndConcaveInCores) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Job job{.serial_seconds = rng.Chance(0.5) ? rng.LogNormal(-2, 1) : 0,
                  .cpu_seconds = rng.LogNormal(0, 1),
                  .seconds_per_core = rng.Chance(0.5) ? rng.LogNormal(-4, 1) : 0,
                  .parallelism = rng.Chance(0.5) ? rng.Uniform(0.5, 6) : kInfinity};
    SpeedModel model;
    const int64_t observations = rng.Between(1, 40);
    for (int64_t i = 0; i < observations; ++i) {
      SpeedObservation seen = job.Run(rng.Uniform(0.1, 8), rng.Between(1, 50));
      seen.wall_seconds *= rng.LogNormal(0, 0.1);
      seen.cpu_seconds *= rng.LogNormal(0, 0.05);
      model.Observe(seen);
    }
    double previous = 0, previous_rise = kInfinity;
    for (double cores = 0.1; cores < 12; cores += 0.1) {
      const double iterations = model.Iterations(cores, 3);
      ASSERT_TRUE(std::isfinite(iterations));
      ASSERT_GE(iterations, previous - 1e-9);
      ASSERT_LE(iterations - previous, previous_rise + 1e-9 * iterations);
      previous_rise = iterations - previous;
      previous = iterations;
    }
    EXPECT_GE(model.serial_seconds(), 0);
    EXPECT_GE(model.seconds_per_core(), 0);
  }
}

}  // namespace
}  // namespace mete
