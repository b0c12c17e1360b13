// The accuracy that is promised, on real curves: METE_DATA_DIR/curves/{slaq_mllib,taskset}.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "forecast/curve_file.h"
#include "forecast/evaluation.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

class Accuracy : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("METE_DATA_DIR");
    if (data == nullptr || !fs::is_directory(fs::path(data) / "curves"))
      GTEST_SKIP() << "not run: METE_DATA_DIR has no curves";
    curves_ = fs::path(data) / "curves";
  }

  // Of the files in `folder` whose names end with `extension` and begin with `prefix`, or do not.
  std::vector<CurveEvaluation> Evaluate(const std::string& folder, const std::string& extension,
                                        const std::string& prefix, bool begins) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(curves_ / folder))
      if (entry.path().extension() == extension &&
          entry.path().filename().string().starts_with(prefix) == begins)
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<CurveEvaluation> evaluations;
    for (const fs::path& file : files) {
      const auto curves = ReadCurveFile(file.string());
      EXPECT_TRUE(curves) << curves.error().ToString();
      for (RecordedCurve curve : *curves) {
        if (curve.losses.size() > 300) curve.losses.resize(300);
        evaluations.push_back(
            EvaluateCurve(curve.name, curve.losses, 10, **MakeLossPredictor("grid")));
      }
    }
    return evaluations;
  }

  fs::path curves_;
};

TEST_F(Accuracy, MllibCurves) {
  const auto curves = Evaluate("slaq_mllib", ".txt", "variant_", false);
  EXPECT_EQ(curves.size(), 9);
  EXPECT_LE(Mean(curves).relative_error, 0.015);
  for (const CurveEvaluation& curve : curves)
    EXPECT_LE(curve.mean_relative_error, 0.05) << curve.name;
}

TEST_F(Accuracy, MllibVariants) {
  const auto curves = Evaluate("slaq_mllib", ".txt", "variant_", true);
  EXPECT_FALSE(curves.empty());
  for (const CurveEvaluation& curve : curves)
    EXPECT_LE(curve.mean_relative_error, 0.07) << curve.name;
}

TEST_F(Accuracy, TaskSetCurves) {
  const auto curves = Evaluate("taskset", ".csv", "", true);
  EXPECT_GT(curves.size(), 500);
  EXPECT_LE(Mean(curves).relative_error, 0.04);
}

}  // namespace
}  // namespace mete
