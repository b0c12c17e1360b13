#include "forecast/loss_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "forecast/evaluation.h"

namespace mete {
namespace {

std::unique_ptr<LossPredictor> Make(std::string_view name) {
  return std::move(MakeLossPredictor(name)).value();
}

template <typename Curve>
std::unique_ptr<LossPredictor> Fed(std::string_view name, int count, Curve curve) {
  auto predictor = Make(name);
  for (int k = 1; k <= count; ++k) predictor->Add(k, curve(k));
  return predictor;
}

TEST(LossPredictor, NamesAreMadeAndUnknownOnesListThem) {
  ASSERT_FALSE(LossPredictorNames().empty());
  EXPECT_EQ(LossPredictorNames()[0].name, "grid");
  for (const LossPredictorName& each : LossPredictorNames()) {
    const auto predictor = MakeLossPredictor(each.name);
    ASSERT_TRUE(predictor) << each.name;
    EXPECT_TRUE(std::isnan((*predictor)->LossAfter(10))) << each.name;
    EXPECT_FALSE((*predictor)->Forecast().usable) << each.name;
  }
  const auto unknown = MakeLossPredictor("slaq");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("slaq-class2"), std::string::npos);
}

TEST(LossPredictor, SimpleBaselines) {
  const auto halves = [](int k) { return std::pow(0.5, k); };
  EXPECT_DOUBLE_EQ(Fed("constant", 5, halves)->LossAfter(3), halves(5));
  EXPECT_DOUBLE_EQ(Fed("ratio", 5, halves)->LossAfter(3), halves(8));
  EXPECT_DOUBLE_EQ(Fed("last-difference", 5, halves)->LossAfter(3), halves(5) * -2);
  // Nothing to say where losses are not positive and falling.
  EXPECT_EQ(Fed("ratio", 5, [](int k) { return 3.0 - k; })->LossAfter(3), -2);
  EXPECT_EQ(Fed("ratio", 5, [](int k) { return 1.0 * k; })->LossAfter(3), 5);
}

TEST(LossPredictor, SlaqFitsItsOwnFamilies) {
  const auto sublinear = [](int k) { return 1 / (0.001 * k * k + 0.02 * k + 0.3) + 0.5; };
  EXPECT_NEAR(Fed("slaq-class1", 40, sublinear)->LossAfter(10), sublinear(50), 0.005);
  const auto linear = [](int k) { return std::pow(0.9, k - 3) + 0.7; };
  EXPECT_NEAR(Fed("slaq-class2", 40, linear)->LossAfter(10), linear(50), 0.005);
  // Fewer than five losses: the last difference.
  EXPECT_DOUBLE_EQ(Fed("slaq-class1", 4, [](int k) { return 9.0 - k; })->LossAfter(2), 3);
}

TEST(LossPredictor, ForecastsAreConcaveAndUsableWhateverTheMethodSays) {
  for (const LossPredictorName& each : LossPredictorNames())
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(std::string(each.name) + " seed " + std::to_string(seed));
      Rng rng(seed);
      const double noise = rng.Chance(0.5) ? 0.1 : 0;
      const auto predictor =
          Fed(each.name, 30, [&](int k) { return 2 + 5.0 / k + noise * rng.Normal(); });
      const LossForecast& forecast = predictor->Forecast();
      EXPECT_TRUE(forecast.usable);
      EXPECT_EQ(forecast.losses, 30);
      double previous_slope = std::numeric_limits<double>::infinity(), previous = 0;
      for (double h = 1; h < 256; ++h) {
        const double gain = forecast.gain.At(h);
        ASSERT_GE(gain, previous);
        ASSERT_LE(gain - previous, previous_slope + 1e-9);
        previous_slope = gain - previous;
        previous = gain;
      }
    }
}

TEST(LossPredictor, ForecastsDependOnThePastOnly) {
  for (const LossPredictorName& each : LossPredictorNames()) {
    Rng rng(5);
    std::vector<double> losses;
    for (int k = 1; k <= 40; ++k) losses.push_back(1 + 3.0 / k + 0.01 * rng.Normal());
    const auto whole = Make(each.name);
    for (int k = 1; k <= 40; ++k) {
      whole->Add(k, losses[k - 1]);
      if (k < 5 || k % 7 != 0) continue;
      const auto fresh = Make(each.name);
      for (int j = 1; j <= k; ++j) fresh->Add(j, losses[j - 1]);
      if (each.name.starts_with("slaq")) {
        // Starts from the parameters of earlier fits, if the first try fails; they are made at each
        // forecast, so that only the same requests give the same answer.
        EXPECT_TRUE(std::isfinite(fresh->LossAfter(10)));
      } else {
        EXPECT_EQ(fresh->LossAfter(10), whole->LossAfter(10)) << each.name << " at " << k;
      }
    }
  }
}

TEST(Evaluation, IsWhatItSays) {
  // Constant forecasts of a falling line: every error is the fall within the horizon.
  std::vector<double> losses;
  for (int k = 1; k <= 30; ++k) losses.push_back(100 - k);
  const CurveEvaluation e = EvaluateCurve("line", losses, 10, *Make("constant"));
  EXPECT_EQ(e.points, 30);
  EXPECT_EQ(e.forecasts, 16);  // k = 5 .. 20
  EXPECT_NEAR(e.mean_range_error, 10.0 / 29, 1e-12);
  double relative = 0;
  for (int k = 5; k <= 20; ++k) relative += 10.0 / (100 - k - 10) / 16;
  EXPECT_NEAR(e.mean_relative_error, relative, 1e-12);
  EXPECT_TRUE(std::isnan(
      EvaluateCurve("short", {losses.data(), 14}, 10, *Make("constant")).mean_relative_error));
}

TEST(Evaluation, DropsTheWorstOfAHundred) {
  std::vector<double> losses(214, 1.0);  // 200 forecasts
  losses[150] = 101;                     // wrong as an outcome and as a basis
  losses[160] = 51;
  const CurveEvaluation e = EvaluateCurve("spikes", losses, 10, *Make("constant"));
  EXPECT_EQ(e.forecasts, 200);
  // Errors: 100/101 for one forecast, 50 for another, 50/51, ... : the two largest are dropped.
  EXPECT_LT(e.mean_relative_error, 0.02);
}

}  // namespace
}  // namespace mete
