#pragma once

// Views of made-up jobs, for tests and the bench: loss curves of the shapes that training has, with
// noise, fitted by the default forecast as the engine would.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "forecast/loss_forecaster.h"
#include "policy/decision.h"
#include "policy/view.h"

namespace mete {

// A falling curve, power law or exponential, with a little noise.
std::vector<double> GeneratedCurve(size_t losses, Rng& rng);

struct GeneratedViewOptions {
  int64_t jobs = 4000;
  int64_t units = 16000;  // what the cluster has, in tenths of a core
  int64_t losses = 100;   // of each job
  int64_t max_units = 64;
  uint64_t seed = 1;
};

// Running share jobs of one tenant, one unit each held, ready to be decided on. With `forecasters`,
// those are left there too, by row, one loss short of the view.
struct GeneratedView {
  View view;
  std::vector<LossForecaster> forecasters;
  std::vector<double> last_losses;
};
GeneratedView GenerateView(const GeneratedViewOptions& options);

// Anything that the engine may show: tenants, several resources and roles, jobs that wait, that
// start, that never report, curves that rise. Minimums of all jobs fit where `roomy`.
View RandomView(Rng& rng, bool roomy);

// Carries a decision out, as the engine would once everything has started.
void Carry(const Decision& decision, View& view);

// Of a row: the units of all its roles.
Resources Held(const ViewJob& job);

}  // namespace mete
