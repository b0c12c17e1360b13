#include "cli/forecast_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/progress_bar.h"
#include "cli/exit_codes.h"
#include "forecast/curve_file.h"
#include "forecast/evaluation.h"

namespace mete {
namespace {

// What --horizon and percentages of the range refer to in the table without --evaluate.
constexpr double kNearlyAll = 0.95;

Result<std::vector<RecordedCurve>> ReadAll(const ForecastCommandOptions& options) {
  std::vector<RecordedCurve> all;
  const CurveLayout layout = options.rows ? CurveLayout::kRows : CurveLayout::kByContent;
  for (const std::string& file : options.files) {
    METE_ASSIGN_OR_RETURN(std::vector<RecordedCurve> curves, ReadCurveFile(file, layout));
    for (RecordedCurve& curve : curves) {
      if (options.first > 0 && static_cast<int64_t>(curve.losses.size()) > options.first)
        curve.losses.resize(options.first);
      all.push_back(std::move(curve));
    }
  }
  return all;
}

std::string Percent(double fraction) {
  return std::isnan(fraction) ? "-" : fmt::format("{:.2f} %", 100 * fraction);
}

size_t NameWidth(const std::vector<RecordedCurve>& curves) {
  size_t width = 5;
  for (const RecordedCurve& curve : curves) width = std::max(width, curve.name.size());
  return width;
}

Result<std::string> Evaluate(const ForecastCommandOptions& options,
                             const std::vector<RecordedCurve>& curves, ProgressBar& progress) {
  std::vector<CurveEvaluation> evaluations;
  for (const RecordedCurve& curve : curves) {
    METE_ASSIGN_OR_RETURN(const auto predictor, MakeLossPredictor(options.method));
    evaluations.push_back(EvaluateCurve(curve.name, curve.losses, options.horizon, *predictor));
    progress.Update(static_cast<int64_t>(evaluations.size()));
  }
  const MeanEvaluation mean = Mean(evaluations);
  if (options.output == "json") {
    nlohmann::ordered_json json = {{"mean_relative_error", mean.relative_error},
                                   {"mean_range_error", mean.range_error},
                                   {"curves", nlohmann::ordered_json::array()}};
    for (const CurveEvaluation& each : evaluations)
      json["curves"].push_back({{"name", each.name},
                                {"points", each.points},
                                {"mean_relative_error", each.mean_relative_error},
                                {"mean_range_error", each.mean_range_error}});
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  const size_t width = NameWidth(curves);
  std::string text = fmt::format("{:<{}}  {:>6}  {:>12}  {:>10}\n", "CURVE", width, "POINTS",
                                 "MEAN ERROR", "OF RANGE");
  const auto add = [&](const std::string& name, const std::string& points, double relative,
                       double range) {
    text += fmt::format("{:<{}}  {:>6}  {:>12}  {:>10}\n", name, width, points, Percent(relative),
                        Percent(range));
  };
  for (const CurveEvaluation& each : evaluations)
    add(each.name, std::to_string(each.points), each.mean_relative_error, each.mean_range_error);
  add("mean", "", mean.relative_error, mean.range_error);
  return text;
}

Result<std::string> Predict(const ForecastCommandOptions& options,
                            const std::vector<RecordedCurve>& curves, ProgressBar& progress) {
  const size_t width = NameWidth(curves);
  nlohmann::ordered_json json = {{"curves", nlohmann::ordered_json::array()}};
  std::string text = fmt::format("{:<{}}  {:>6}  {:>12}  {:>12}  {:>12}  {:>10}  {:>9}\n", "CURVE",
                                 width, "POINTS", "LOSS", fmt::format("IN {}", options.horizon),
                                 "END", "TO 95 %", "BACKTEST");
  int64_t done = 0;
  for (const RecordedCurve& curve : curves) {
    METE_ASSIGN_OR_RETURN(const auto predictor, MakeLossPredictor(options.method));
    int64_t iteration = 0;
    for (const double loss : curve.losses) predictor->Add(++iteration, loss);
    const LossForecast& forecast = predictor->Forecast();
    progress.Update(++done);
    const double expected = predictor->LossAfter(options.horizon);
    // Iterations until 95 % of the range are behind.
    const double left = forecast.level - forecast.first + kNearlyAll * forecast.Range();
    const double iterations = forecast.usable ? forecast.gain.IterationsFor(left) : std::nan("");
    const double gain = forecast.gain.At(options.horizon);
    if (options.output == "json") {
      json["curves"].push_back(
          {{"name", curve.name},
           {"points", static_cast<int64_t>(curve.losses.size())},
           {"usable", forecast.usable},
           {"loss", forecast.current},
           {"level", forecast.level},
           {"best", forecast.best},
           {"horizon", options.horizon},
           {"expected_loss", expected},
           {"gain", gain},
           {"gain_low", gain * forecast.gain_low},
           {"gain_high", gain * forecast.gain_high},
           {"asymptote", forecast.asymptote},
           {"iterations_to_95_percent", iterations},
           {"decay", forecast.decay},
           {"backtest_error",
            forecast.backtest_error < 0 ? std::nan("") : forecast.backtest_error}});
      continue;
    }
    const std::string end = forecast.usable ? fmt::format("{:.6g}", forecast.asymptote) : "-";
    const std::string to_95 = std::isfinite(iterations) ? fmt::format("{:.0f}", iterations) : "-";
    text +=
        fmt::format("{:<{}}  {:>6}  {:>12.6g}  {:>12.6g}  {:>12}  {:>10}  {:>9}\n", curve.name,
                    width, curve.losses.size(), forecast.current, expected, end, to_95,
                    Percent(forecast.backtest_error < 0 ? std::nan("") : forecast.backtest_error));
  }
  if (options.output == "json")
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return text;
}

Result<std::string> Run(const ForecastCommandOptions& options, std::FILE* err, const Clock& clock) {
  METE_RETURN_IF_ERROR(MakeLossPredictor(options.method));
  METE_ASSIGN_OR_RETURN(const std::vector<RecordedCurve> curves, ReadAll(options));
  // Off a terminal only a run of many seconds says that it is alive.
  ProgressBar progress({.label = options.evaluate ? "evaluating" : "forecasting",
                        .total = static_cast<int64_t>(curves.size()),
                        .unit = "curves",
                        .out = err,
                        .terminal = IsTerminal(err)},
                       clock);
  return options.evaluate ? Evaluate(options, curves, progress)
                          : Predict(options, curves, progress);
}

std::string MethodHelp() {
  std::string help = "how to forecast:";
  for (const LossPredictorName& each : LossPredictorNames())
    help += fmt::format("\n  {:<16} {}", each.name, each.summary);
  return help;
}

}  // namespace

int RunForecastCommand(const ForecastCommandOptions& options, std::FILE* out, std::FILE* err,
                       const Clock& clock) {
  const Result<std::string> text = Run(options, err, clock);
  if (!text) {
    fmt::print(err, "mete forecast: {}\n", text.error().ToString());
    return static_cast<int>(ExitCodeFor(text.error().code));
  }
  std::fwrite(text->data(), 1, text->size(), out);
  return 0;
}

void AddForecastCommand(CLI::App& app, const Clock& clock, int& exit_code) {
  const auto options = std::make_shared<ForecastCommandOptions>();
  CLI::App* const command =
      app.add_subcommand("forecast", "forecast loss curves in files, or check how well one can");
  command->add_option("files", options->files, "one loss a line, or a curve in each CSV row")
      ->required()
      ->type_name("FILE");
  command->add_option("--horizon", options->horizon, "losses ahead")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--first", options->first, "read only the first N losses of a curve")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_flag("--evaluate", options->evaluate,
                    "forecast at every loss from the fifth on, and compare with what came");
  command->add_flag("--rows", options->rows, "a curve in each row, also without a comma");
  command->add_option("--method", options->method, MethodHelp())->capture_default_str();
  command->add_option("-o,--output", options->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([options, &clock, &exit_code] {
    exit_code = RunForecastCommand(*options, stdout, stderr, clock);
  });
}

}  // namespace mete
