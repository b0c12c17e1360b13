#include "forecast/loss_forecaster.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "base/rng.h"

namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

// Counts what the whole test program allocates, so that a test can see that nothing was.
// Not inlined: the compiler would see malloc meet delete.
__attribute__((noinline)) void* operator new(size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) return memory;
  std::abort();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LossForecast ForecastOf(const std::vector<double>& losses,
                        const LossForecastOptions& options = {}) {
  LossForecaster forecaster(options);
  int64_t iteration = 0;
  for (const double loss : losses) forecaster.Add(++iteration, loss);
  return forecaster.Forecast();
}

template <typename Curve>
std::vector<double> Losses(int count, Curve curve) {
  std::vector<double> losses;
  for (int k = 1; k <= count; ++k) losses.push_back(curve(k));
  return losses;
}

// A curve of a random family, level, scale and noise.
std::vector<double> RandomCurve(Rng& rng, int count) {
  const double scale = rng.LogNormal(0, 3), rate = rng.LogNormal(-3, 1.5),
               power = rng.Uniform(0.3, 3);
  const double base = scale * rng.Uniform(0, 3), noise = rng.Chance(0.5) ? 0 : rng.LogNormal(-4, 1);
  const int family = static_cast<int>(rng.Below(4));
  return Losses(count, [&](int k) {
    double shape = 1;
    if (family == 0) shape = std::exp(-rate * k);
    if (family == 1) shape = std::pow(k, -power);
    if (family == 2) shape = 1 / (1 + rate * k) + 0.1 * std::exp(-rate * k);
    if (family == 3) shape = 1 + rate * k;
    return base + scale * (shape + noise * rng.Normal());
  });
}

TEST(LossForecaster, NeedsThreeLosses) {
  LossForecaster forecaster;
  EXPECT_FALSE(forecaster.Forecast().usable);
  forecaster.Add(1, 3);
  forecaster.Add(2, 2);
  EXPECT_FALSE(forecaster.Forecast().usable);
  EXPECT_EQ(forecaster.Forecast().gain.Limit(), 0);
  forecaster.Add(3, 1.5);
  EXPECT_TRUE(forecaster.Forecast().usable);
  EXPECT_GT(forecaster.Forecast().gain.At(1), 0);
}

TEST(LossForecaster, ContinuesSmoothCurves) {
  for (const int n : {10, 30, 99, 100, 101, 400}) {
    const auto exponential = [](double k) { return 2 + 5 * std::exp(-k / 15); };
    const LossForecast e = ForecastOf(Losses(n, exponential));
    EXPECT_NEAR(e.LossAt(10), exponential(n + 10), 0.05 * (exponential(n) - 2)) << n;
    const auto power = [](double k) { return 1 + 4 / std::sqrt(k); };
    const LossForecast p = ForecastOf(Losses(n, power));
    EXPECT_NEAR(p.LossAt(10), power(n + 10), 0.25 * (power(n) - power(n + 10))) << n;
    EXPECT_LE(p.gain_low, 1);
    EXPECT_GE(p.gain_high, 1);
  }
}

TEST(LossForecaster, SmoothsNoise) {
  // White noise about a level: the forecast is nearer the level than the newest loss is.
  double forecast_error = 0, newest_error = 0, gain = 0;
  Rng rng(7);
  for (int run = 0; run < 40; ++run) {
    const LossForecast f = ForecastOf(Losses(100, [&](int) { return 5 + 0.1 * rng.Normal(); }));
    forecast_error += std::abs(f.LossAt(10) - 5);
    newest_error += std::abs(f.current - 5);
    gain += f.gain.At(10);
  }
  EXPECT_LT(forecast_error, 0.6 * newest_error);
  EXPECT_LT(gain / 40, 0.05);
}

TEST(LossForecaster, CountsWhatItRejects) {
  LossForecaster forecaster;
  EXPECT_TRUE(forecaster.Add(5, 4));
  EXPECT_FALSE(forecaster.Add(5, 3));
  EXPECT_FALSE(forecaster.Add(4, 3));
  EXPECT_FALSE(forecaster.Add(-1, 3));
  EXPECT_FALSE(forecaster.Add(6, std::nan("")));
  EXPECT_FALSE(forecaster.Add(6, kInfinity));
  EXPECT_FALSE(forecaster.Add(6, -kInfinity));
  EXPECT_TRUE(forecaster.Add(6, 3));
  const LossForecast& forecast = forecaster.Forecast();
  EXPECT_EQ(forecast.losses, 2);
  EXPECT_EQ(forecast.rejected, 6);
  EXPECT_EQ(forecast.iteration, 6);
  EXPECT_EQ(forecast.max_delta, 1);
  EXPECT_EQ(forecast.best, 3);
}

TEST(LossForecaster, ConstantAndRisingCurvesGainNothing) {
  const LossForecast flat = ForecastOf(Losses(50, [](int) { return 0.7; }));
  EXPECT_EQ(flat.gain.Limit(), 0);
  EXPECT_EQ(flat.LossAt(10), 0.7);
  EXPECT_GT(flat.Range(), 0);
  const LossForecast rising = ForecastOf(Losses(50, [](int k) { return 0.1 * k; }));
  EXPECT_EQ(rising.gain.Limit(), 0);
  EXPECT_LE(rising.max_delta, 0);
  EXPECT_GT(rising.Range(), 0);
}

TEST(LossForecaster, ResetForgets) {
  LossForecaster forecaster;
  for (int k = 1; k < 50; ++k) forecaster.Add(k, 100.0 / k);
  forecaster.Reset();
  EXPECT_FALSE(forecaster.Forecast().usable);
  for (int k = 1; k < 20; ++k) forecaster.Add(k, 5.0 / k);
  EXPECT_EQ(forecaster.Forecast(), ForecastOf(Losses(19, [](int k) { return 5.0 / k; })));
}

TEST(LossForecaster, TargetCapsTheGain) {
  const auto curve = [](int k) { return 1 + 10.0 / k; };
  const LossForecast forecast = ForecastOf(Losses(20, curve), {.target = 1.4});
  EXPECT_NEAR(forecast.asymptote, 1.4, 1e-12);
  EXPECT_NEAR(forecast.Range(), 11 - 1.4, 1e-12);
  LossForecaster later;
  for (int k = 1; k <= 20; ++k) later.Add(k, curve(k));
  later.Forecast();
  later.SetTarget(1.4);
  EXPECT_EQ(later.Forecast(), forecast);
  later.SetTarget(2.0);  // reached
  EXPECT_EQ(later.Forecast().gain.Limit(), 0);
}

TEST(LossForecaster, LossesBelowZeroAreForecastBelowZero) {
  // The same fall, once just above 0 and once below: only the first is known to end at 0.
  const auto fall = [](double k) { return std::pow(k, -0.3); };
  EXPECT_GE(ForecastOf(Losses(60, fall)).asymptote, 0);
  const LossForecast below = ForecastOf(Losses(60, [&](int k) { return fall(k) - 5; }));
  EXPECT_NEAR(below.LossAt(10), fall(70) - 5, 0.01);
  const LossForecast free = ForecastOf(Losses(60, fall), {.non_negative = false});
  EXPECT_NEAR(free.level - 5, below.level, 1e-6);
  EXPECT_NEAR(free.gain.At(25), below.gain.At(25), 1e-6);
}

TEST(LossForecaster, DependsOnThePastOnlyAndNotOnWhenItWasAsked) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::vector<double> curve = RandomCurve(rng, 160);
    LossForecaster often, seldom;
    int64_t iteration = 0;
    for (size_t k = 0; k < curve.size(); ++k) {
      iteration += rng.Chance(0.8) ? 1 : rng.Between(1, 9);
      often.Add(iteration, curve[k]);
      seldom.Add(iteration, curve[k]);
      const LossForecast now = often.Forecast();
      if (rng.Chance(0.05)) {
        EXPECT_EQ(now, seldom.Forecast()) << "after " << k + 1;
      }
    }
  }
}

TEST(LossForecaster, ScaleChangesNothing) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const int count = static_cast<int>(rng.Between(3, 140));
    std::vector<double> losses = RandomCurve(rng, count);
    const LossForecast plain = ForecastOf(losses);
    for (const double factor : {0x1p-300, 0x1p300, 0.001, 7.0}) {
      std::vector<double> scaled = losses;
      for (double& loss : scaled) loss *= factor;
      const LossForecast f = ForecastOf(scaled);
      const double close =
          factor * (1e-5 * std::abs(plain.first - plain.best) + 1e-9 * std::abs(plain.first));
      EXPECT_NEAR(f.LossAt(10), factor * plain.LossAt(10), close) << factor;
      EXPECT_NEAR(f.gain.At(3.5), factor * plain.gain.At(3.5), close) << factor;
    }
  }
}

TEST(LossForecaster, ShiftChangesNothingWithoutAFloor) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<double> losses = RandomCurve(rng, static_cast<int>(rng.Between(3, 140)));
    const LossForecast plain = ForecastOf(losses, {.non_negative = false});
    const double range = std::abs(plain.first - plain.best);
    const double shift = rng.Uniform(-3, 3) * range;
    for (double& loss : losses) loss += shift;
    const LossForecast f = ForecastOf(losses, {.non_negative = false});
    EXPECT_NEAR(f.LossAt(10), plain.LossAt(10) + shift, 1e-3 * range);
  }
}

TEST(LossForecaster, GapsOnlyStretchTime) {
  const auto curve = [](double k) { return 3 + 8 / (1 + k / 20); };
  LossForecaster each, tenth;
  for (int k = 1; k <= 60; ++k) {
    each.Add(k, curve(k));
    tenth.Add(10 * k, curve(k));
  }
  EXPECT_NEAR(each.Forecast().gain.At(4), tenth.Forecast().gain.At(40), 1e-9);
  // Missing reports cost little.
  LossForecaster holey;
  Rng rng(3);
  for (int k = 1; k <= 60; ++k)
    if (k == 60 || rng.Chance(0.7)) holey.Add(k, curve(k));
  EXPECT_NEAR(holey.Forecast().gain.At(10), curve(60) - curve(70), 0.1 * (curve(60) - curve(70)));
}

TEST(LossForecaster, SurvivesWhateverJobsReport) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    LossForecaster forecaster;
    const std::vector<double> odd = {0,      -0.0,    1e300, -1e300, 1e308,     -1e308,      5e-324,
                                     1e-310, -5e-324, 1,     -1,     kInfinity, std::nan("")};
    int64_t iteration = rng.Between(0, 3);
    const double common = odd[rng.Below(11)];
    for (int k = 0; k < 130; ++k) {
      iteration += rng.Chance(0.02) ? int64_t{1} << rng.Below(55) : rng.Between(0, 2);
      double loss = rng.Chance(0.5) ? common : odd[rng.Below(odd.size())];
      if (rng.Chance(0.3)) loss *= rng.Uniform();
      forecaster.Add(iteration, loss);
      const LossForecast& f = forecaster.Forecast();
      ASSERT_TRUE(std::isfinite(f.level));
      ASSERT_TRUE(f.gain.At(10) >= 0 && std::isfinite(f.gain.At(10)));
      ASSERT_TRUE(f.gain.Limit() >= f.gain.At(10));
      ASSERT_FALSE(std::isnan(f.LossAt(10)));
      ASSERT_TRUE(f.Range() > 0 && std::isfinite(f.Range()));
      ASSERT_TRUE(f.gain_low <= 1 && f.gain_high >= 1);
    }
  }
}

TEST(LossForecaster, AllocatesNothing) {
  Rng rng(1);
  const std::vector<double> curve = RandomCurve(rng, 300);
  const int64_t before = allocations;
  LossForecaster forecaster;
  double sum = 0;
  for (size_t k = 0; k < curve.size(); ++k) {
    forecaster.Add(static_cast<int64_t>(k), curve[k]);
    sum += forecaster.Forecast().gain.At(10);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_FALSE(std::isnan(sum));
}

}  // namespace
}  // namespace mete
