#include "forecast/loss_predictor.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "forecast/baseline_predictor.h"
#include "forecast/slaq_predictor.h"

namespace mete {
namespace {

class GridPredictor final : public LossPredictor {
 public:
  explicit GridPredictor(const LossForecastOptions& options) : forecaster_(options) {}
  bool Add(int64_t iteration, double loss) override { return forecaster_.Add(iteration, loss); }
  const LossForecast& Forecast() override { return forecaster_.Forecast(); }
  double LossAfter(double iterations) override {
    if (forecaster_.losses() == 0) return std::numeric_limits<double>::quiet_NaN();
    return forecaster_.Forecast().LossAt(iterations);
  }

 private:
  LossForecaster forecaster_;
};

class ConstantPredictor final : public BaselinePredictor {
 public:
  using BaselinePredictor::BaselinePredictor;

 private:
  double Extrapolate(double) const override { return points().back().loss; }
};

class LastDifferencePredictor final : public BaselinePredictor {
 public:
  using BaselinePredictor::BaselinePredictor;

 private:
  double Extrapolate(double iterations) const override { return LastDifference(iterations); }
};

// Assumes an asymptote of 0; where losses are not positive and falling it has nothing to say.
class RatioPredictor final : public BaselinePredictor {
 public:
  using BaselinePredictor::BaselinePredictor;

 private:
  double Extrapolate(double iterations) const override {
    const Point& last = points().back();
    if (points().size() < 2) return last.loss;
    const Point& before = points()[points().size() - 2];
    if (!(last.loss > 0) || !(before.loss > last.loss)) return last.loss;
    const double steps = iterations / (last.iteration - before.iteration);
    return last.loss * std::pow(last.loss / before.loss, steps);
  }
};

constexpr std::array<LossPredictorName, 6> kNames = {{
    {"grid", "average of power and exponential shapes, judged by its own past"},
    {"slaq-class1", "SLAQ as published for first-order methods: 1/(a k^2 + b k + c) + d"},
    {"slaq-class2", "SLAQ as published for quasi-Newton methods: mu^(k - b) + c"},
    {"ratio", "the last ratio of two losses goes on"},
    {"last-difference", "the last difference of two losses goes on"},
    {"constant", "the newest loss stays"},
}};

}  // namespace

std::span<const LossPredictorName> LossPredictorNames() { return kNames; }

Result<std::unique_ptr<LossPredictor>> MakeLossPredictor(std::string_view name,
                                                         const LossForecastOptions& options) {
  if (name == "grid") return std::make_unique<GridPredictor>(options);
  if (name == "slaq-class1") return MakeSlaqPredictor(SlaqClass::kSublinear, options);
  if (name == "slaq-class2") return MakeSlaqPredictor(SlaqClass::kLinear, options);
  if (name == "ratio") return std::make_unique<RatioPredictor>(options);
  if (name == "last-difference") return std::make_unique<LastDifferencePredictor>(options);
  if (name == "constant") return std::make_unique<ConstantPredictor>(options);
  std::string known;
  for (const LossPredictorName& each : kNames)
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  return Fail(ErrorCode::kInvalidArgument, "unknown forecast method '" + std::string(name) + "'",
              "", "known: " + known);
}

}  // namespace mete
