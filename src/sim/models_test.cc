#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sim/models/all_reduce.h"
#include "sim/models/loss_replay.h"
#include "sim/models/parameter_server.h"
#include "sim/models/rigid.h"

namespace mete {
namespace {

Layout Cores(double cores) { return {.units = {1}, .cores = cores, .nodes = 1}; }
Layout Units(int64_t first, int64_t second, int nodes = 1) {
  return {.units = {first, second}, .cores = 1, .nodes = nodes};
}

TEST(LossReplay, AnIterationTakesWhatTheLawSays) {
  LossReplay job({.losses = std::make_shared<const std::vector<double>>(std::vector{3.0, 2.0, 1.5}),
                  .cpu_seconds = 4,
                  .serial_seconds = 1,
                  .seconds_per_core = 0.5,
                  .parallelism = 2,
                  .loading_cpu_seconds = 6});
  EXPECT_EQ(job.length(), 3);
  EXPECT_EQ(job.LossAfter(1), 3);
  EXPECT_EQ(job.LeastLoss(), 1.5);
  EXPECT_DOUBLE_EQ(1 / job.PaceAt(0, Cores(1)).rate, 1 + 4 + 0.5);
  EXPECT_DOUBLE_EQ(1 / job.PaceAt(0, Cores(4)).rate, 1 + 2 + 2);
  EXPECT_DOUBLE_EQ(job.PaceAt(0, Cores(4)).cores, 4 / 5.0);
  EXPECT_DOUBLE_EQ(job.LoadingPace(Cores(4)).rate, 2 / 6.0);
  EXPECT_EQ(job.PaceAt(0, Cores(0)).rate, 0);
}

TEST(LossReplay, TheEnvelopeNeverRises) {
  EXPECT_EQ(MonotoneEnvelope({3, 1, 2, 0.5, 4}), (std::vector<double>{3, 1, 1, 0.5, 0.5}));
}

// The best measured cell of each type with at most 16 of a kind, in samples a second.
TEST(ParameterServer, TheFittedTypesAreNearWhatWasMeasured) {
  struct Measured {
    int64_t servers, workers;
    double samples_per_second;
  };
  const std::vector<Measured> best = {{15, 2, 65.2}, {14, 1, 28.4}, {5, 1, 507},  {15, 5, 311},
                                      {11, 3, 556},  {5, 5, 100},   {7, 5, 1189}, {5, 1, 498}};
  const auto& types = Dl2Types();
  ASSERT_EQ(types.size(), best.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const double samples = types[i].batch * ParameterServerSpeed::LawStepsPerSecond(
                                                types[i], best[i].workers, best[i].servers);
    EXPECT_NEAR(samples / best[i].samples_per_second, 1, 0.25) << types[i].name;
  }
}

TEST(ParameterServer, CellNoiseIsFixedAndOfTheRightSize) {
  const ParameterServerSpeed first(Dl2Types()[0], 0.05, Rng(3));
  const ParameterServerSpeed same(Dl2Types()[0], 0.05, Rng(3));
  double sum = 0, squares = 0;
  for (int64_t w = 1; w <= 16; ++w) {
    for (int64_t p = 1; p <= 16; ++p) {
      EXPECT_EQ(first.StepsPerSecond(w, p), same.StepsPerSecond(w, p));
      const double noise = std::log(first.StepsPerSecond(w, p) /
                                    ParameterServerSpeed::LawStepsPerSecond(first.type(), w, p));
      sum += noise;
      squares += noise * noise;
    }
  }
  EXPECT_NEAR(sum / 256, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / 256), 0.05, 0.01);
  EXPECT_EQ(first.StepsPerSecond(0, 3), 0);
}

TEST(ParameterServer, AStretchKeepsItsNoiseThroughAResize) {
  const auto speed = std::make_shared<const ParameterServerSpeed>(Dl2Types()[0], 0, Rng(1));
  ParameterServerJob job({.speed = speed,
                          .steps = 100'000,
                          .stretch_noise = 0.05,
                          .stretch = std::chrono::minutes(20),
                          .rng = Rng(5)});
  const Pace small = job.PaceAt(0, Units(1, 1));
  const double noise = small.rate / speed->StepsPerSecond(1, 1);
  EXPECT_NE(noise, 1);
  EXPECT_DOUBLE_EQ(small.until, small.rate * 1200);
  const Pace large = job.PaceAt(small.until / 2, Units(4, 4));
  EXPECT_DOUBLE_EQ(large.rate / speed->StepsPerSecond(4, 4), noise);
  EXPECT_EQ(large.until, small.until);
  const Pace next = job.PaceAt(small.until, Units(4, 4));
  EXPECT_NE(next.rate, large.rate);
  EXPECT_GT(next.until, small.until);
}

TEST(ParameterServer, AloneItTakesItsBestSizeWithinItsShare) {
  const auto speed = std::make_shared<const ParameterServerSpeed>(Dl2Types()[0], 0, Rng(1));
  ParameterServerJob job({.speed = speed, .steps = 1000});
  JobSpec spec;
  spec.roles = {{.name = "worker", .max_units = 4, .unit = speed->type().worker},
                {.name = "server", .max_units = 4, .unit = speed->type().server}};
  const Resources cluster{.cpu_millis = 16'000, .gpus = 8};
  // Half of it: four servers' or workers' worth of cores.
  double best = 0;
  for (const auto& [w, p] : {std::pair(1, 1), {1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 1}}) {
    best = std::max(best, speed->StepsPerSecond(w, p));
  }
  EXPECT_DOUBLE_EQ(job.SecondsAlone(spec, cluster, 0.5), 1000 / best);
  // Too little even for one of each, which is a quarter: it takes turns.
  EXPECT_DOUBLE_EQ(job.SecondsAlone(spec, cluster, 0.125), 2000 / speed->StepsPerSecond(1, 1));
}

TEST(PublishedSpeed, ErrsByTheFractionSaidAndAlwaysTheSame) {
  const auto truth = std::make_shared<const ParameterServerSpeed>(Dl2Types()[2], 0.05, Rng(1));
  const PublishedSpeed exact(truth, 0, Rng(2), 50);
  const PublishedSpeed wrong(truth, 0.05, Rng(2), 50);
  int above = 0;
  for (int64_t w = 1; w <= 10; ++w) {
    for (int64_t p = 1; p <= 10; ++p) {
      const std::array<int64_t, 2> units = {w, p};
      EXPECT_EQ(exact.Rate(units, 1), truth->StepsPerSecond(w, p));
      const double ratio = wrong.Rate(units, 1) / truth->StepsPerSecond(w, p);
      EXPECT_NEAR(std::abs(ratio - 1), 0.05, 1e-12);
      EXPECT_EQ(wrong.Rate(units, 1), wrong.Rate(units, 1));
      above += ratio > 1 ? 1 : 0;
    }
  }
  EXPECT_NEAR(above, 50, 20);
}

TEST(AllReduce, TheRingIsAsFastAsItsSlowestLink) {
  const AllReduceSpeed speed({.compute_seconds = 8,
                              .fixed_seconds = 0.5,
                              .gradient_bytes = 1e9,
                              .bytes_per_second_within = 10e9,
                              .bytes_per_second_between = 1e9,
                              .hop_seconds = 0.01});
  EXPECT_DOUBLE_EQ(1 / speed.StepsPerSecond(1, 1), 8.5);
  EXPECT_DOUBLE_EQ(1 / speed.StepsPerSecond(4, 1), 2 + 0.5 + 1.5 * 0.1 + 6 * 0.01);
  EXPECT_DOUBLE_EQ(1 / speed.StepsPerSecond(4, 2), 2 + 0.5 + 1.5 * 1.0 + 6 * 0.01);
}

TEST(Rigid, HalfItsUnitsWouldTakeTwiceAsLong) {
  const RigidJob job(100);
  JobSpec spec;
  spec.roles = {{.min_units = 4, .max_units = 4, .unit = {.gpus = 1}}};
  EXPECT_DOUBLE_EQ(job.SecondsAlone(spec, {.gpus = 8}, 1), 100);
  EXPECT_DOUBLE_EQ(job.SecondsAlone(spec, {.gpus = 8}, 0.25), 200);
}

}  // namespace
}  // namespace mete
