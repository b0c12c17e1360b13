#pragma once

// How long a job's iteration takes on a number of cores, learned from what it measured:
//
//   t(a) = s + S / min(a, p) + o * a        seconds per iteration on a cores (a > 0, fractional)
//
// S: CPU seconds an iteration needs, as measured; p: the most cores it can use at once; s: the part
// that no core speeds up (waiting for disk or network); o: what each further core costs. s, o >= 0
// are fitted by least squares over the distinct allocations seen, and are 0 while only one was:
// then t(a) = S / a, the assumption of SLAQ (SoCC 2017).
//
// The first iteration (cold caches, loading) counts only while there is no other. Old measurements
// fade, so that a job whose iterations grow is followed. A plain value without heap.

#include <array>
#include <cstdint>

namespace mete {

// What was measured between two reports of a job that ran all the while.
struct SpeedObservation {
  double cores = 0;         // cores that the job could use: its allocation, or more if others idled
  double cpu_seconds = 0;   // consumed
  double wall_seconds = 0;  // passed
  int64_t iterations = 0;   // finished
};

class SpeedModel {
 public:
  SpeedModel();

  // Observations with no iteration, no time or a value that is not finite and positive are ignored.
  void Observe(const SpeedObservation& observation);

  // Whether anything is known; if not, iterations take forever.
  bool Known() const { return cpu_seconds_ > 0; }

  double SecondsPerIteration(double cores) const;
  // Iterations in `seconds` on `cores`, fractional; cores beyond BestCores() add nothing.
  // Increasing and concave in cores, which is what the allocation needs.
  double Iterations(double cores, double seconds) const;
  // The number of cores beyond which an iteration takes no less time; +infinity if there is no end.
  double BestCores() const { return best_cores_; }

  double cpu_seconds_per_iteration() const { return cpu_seconds_; }  // S
  double serial_seconds() const { return serial_seconds_; }          // s
  double seconds_per_core() const { return seconds_per_core_; }      // o
  double parallelism() const { return parallelism_; }                // p; +infinity: no bound seen

 private:
  // Measurements at about the same number of cores.
  struct Point {
    double cores = 0;
    double used_cores = 0;
    double seconds = 0;     // per iteration
    double iterations = 0;  // weight
    int observations = 0;
  };
  static constexpr int kPoints = 8;

  void Fade();
  void Merge(const Point& seen);
  void Fit();

  std::array<Point, kPoints> points_ = {};
  int point_count_ = 0;
  int64_t observations_ = 0;
  double iterations_weight_ = 0;
  double cpu_weight_ = 0;
  double cpu_seconds_ = 0;
  double serial_seconds_ = 0;
  double seconds_per_core_ = 0;
  double parallelism_;
  double best_cores_;
};

}  // namespace mete
