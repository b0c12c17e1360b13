#include "forecast/slaq_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "forecast/baseline_predictor.h"
#include "forecast/bounded_least_squares.h"
#include "forecast/cubic_spline.h"

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kWindow = 100;
constexpr size_t kInterpolated = 50;
constexpr size_t kMinLosses = 5;
constexpr double kDecay = 0.8;
constexpr double kFlat = 1e-6;

// A family of curves: its value at k and its derivatives by the parameters.
struct Family {
  std::vector<double> low, high, start;
  double (*value)(std::span<const double> p, double k, double* derivatives);
};

double Sublinear(std::span<const double> p, double k, double* derivatives) {
  const double below = p[0] * k * k + p[1] * k + p[2];
  const double inverse = 1 / below;
  derivatives[0] = -k * k * inverse * inverse;
  derivatives[1] = -k * inverse * inverse;
  derivatives[2] = -inverse * inverse;
  derivatives[3] = 1;
  return inverse + p[3];
}

double Linear(std::span<const double> p, double k, double* derivatives) {
  const double power = std::pow(p[0], k - p[1]);
  derivatives[0] = p[0] > 0 ? (k - p[1]) * power / p[0] : 0;
  derivatives[1] = p[0] > 0 ? -std::log(p[0]) * power : 0;
  derivatives[2] = 1;
  return power + p[2];
}

// Starts: one above an open bound's end, the middle between two bounds.
Family FamilyOf(SlaqClass slaq_class) {
  if (slaq_class == SlaqClass::kSublinear)
    return {{0, 0, 0, 0}, {kInfinity, kInfinity, kInfinity, kInfinity}, {1, 1, 1, 1}, &Sublinear};
  return {{0, 0, 0}, {1, kInfinity, kInfinity}, {0.5, 1, 1}, &Linear};
}

class SlaqPredictor final : public BaselinePredictor {
 public:
  SlaqPredictor(SlaqClass slaq_class, const LossForecastOptions& options)
      : BaselinePredictor(options),
        family_(FamilyOf(slaq_class)),
        sum_of_fitted_(family_.start.size(), 0) {}

 private:
  void Fit() override {
    fitted_.clear();
    if (points().size() < kMinLosses) return;
    std::vector<double> mean = family_.start;
    if (fits_ > 0)
      for (size_t j = 0; j < mean.size(); ++j) mean[j] = sum_of_fitted_[j] / fits_;
    size_t window = std::min(kWindow, points().size());
    bool found = FitFrom(family_.start, window, kDecay) || FitFrom(mean, window, kDecay) ||
                 FitFrom(mean, window, 1);
    while (!found && window < points().size()) {
      window = std::min(2 * window, points().size());
      found = FitFrom(mean, window, kDecay);
    }
    if (!found) return;
    ++fits_;
    for (size_t j = 0; j < fitted_.size(); ++j) sum_of_fitted_[j] += fitted_[j];
  }

  double Extrapolate(double iterations) const override {
    if (fitted_.empty()) return LastDifference(iterations);
    std::vector<double> derivatives(fitted_.size());
    const double value =
        family_.value(fitted_, points().back().iteration + iterations, derivatives.data());
    return std::max(0.0, value);
  }

  bool FitFrom(const std::vector<double>& start, size_t window, double decay) {
    std::vector<double> k, loss;
    for (size_t i = points().size() - window; i < points().size(); ++i) {
      k.push_back(points()[i].iteration);
      loss.push_back(points()[i].loss);
    }
    if (k.size() < kInterpolated) {
      const CubicSpline spline(k, loss);
      const double first = k.front(), step = (k.back() - first) / (kInterpolated - 1);
      k.resize(kInterpolated);
      loss.resize(kInterpolated);
      for (size_t i = 0; i < kInterpolated; ++i) {
        k[i] = first + step * static_cast<double>(i);
        loss[i] = spline.At(k[i]);
      }
    }
    // The newest point's residual weighs 1.
    std::vector<double> weight(k.size(), 1);
    for (size_t i = k.size() - 1; i-- > 0;) weight[i] = weight[i + 1] * decay;
    BoundedProblem problem;
    problem.low = family_.low;
    problem.high = family_.high;
    problem.residual_count = k.size();
    problem.evaluate = [&](std::span<const double> p, std::span<double> residuals,
                           std::span<double> derivatives) {
      for (size_t i = 0; i < k.size(); ++i) {
        double* const row = &derivatives[i * p.size()];
        residuals[i] = (family_.value(p, k[i], row) - loss[i]) * weight[i];
        for (size_t j = 0; j < p.size(); ++j) row[j] *= weight[i];
      }
    };
    std::vector<double> parameters = start;
    if (!SolveBounded(problem, parameters) || IsFlat(parameters, k, loss)) return false;
    fitted_ = parameters;
    return true;
  }

  // A start so far off that the curve is level over the whole window has no slope to follow: the
  // solver settles at once, on a constant.
  bool IsFlat(const std::vector<double>& parameters, const std::vector<double>& k,
              const std::vector<double>& loss) const {
    std::vector<double> derivatives(parameters.size());
    const auto [least, most] = std::minmax_element(loss.begin(), loss.end());
    const double fall = family_.value(parameters, k.front(), derivatives.data()) -
                        family_.value(parameters, k.back(), derivatives.data());
    return fall <= kFlat * (*most - *least);
  }

  Family family_;
  std::vector<double> fitted_;  // empty: none could be
  std::vector<double> sum_of_fitted_;
  int fits_ = 0;
};

}  // namespace

std::unique_ptr<LossPredictor> MakeSlaqPredictor(SlaqClass slaq_class,
                                                 const LossForecastOptions& options) {
  return std::make_unique<SlaqPredictor>(slaq_class, options);
}

}  // namespace mete
