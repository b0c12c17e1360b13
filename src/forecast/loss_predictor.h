#pragma once

// The methods of forecasting a loss that a job or a comparison can choose between, by name:
//
//   grid             the default (loss_forecaster.h)
//   slaq-class1      SLAQ as published: 1 / (a k^2 + b k + c) + d, for first-order methods
//   slaq-class2      SLAQ as published: mu^(k - b) + c, for quasi-Newton methods
//   ratio            the last ratio of two losses goes on, as in SLAQ's scheduler prototype
//   last-difference  the last difference of two losses goes on
//   constant         the newest loss stays
//
// One predictor serves one job. Baselines keep all losses and may allocate; none throws.

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "forecast/loss_forecaster.h"

namespace mete {

class LossPredictor {
 public:
  virtual ~LossPredictor() = default;

  // As LossForecaster::Add.
  virtual bool Add(int64_t iteration, double loss) = 0;
  // What the method itself expects, after `iterations` > 0 more: baselines may expect a rise, which
  // Forecast() shows as no gain. NaN before any loss.
  virtual double LossAfter(double iterations) = 0;
  virtual const LossForecast& Forecast() = 0;
};

struct LossPredictorName {
  std::string_view name;
  std::string_view summary;
};
// The default first.
std::span<const LossPredictorName> LossPredictorNames();

// An unknown name is an error that lists the known ones.
Result<std::unique_ptr<LossPredictor>> MakeLossPredictor(std::string_view name,
                                                         const LossForecastOptions& options = {});

}  // namespace mete
