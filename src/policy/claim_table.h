#pragma once

// One round's working table: each row of the view as a claim, what it gets, and why. What every
// policy shares is here, so that policies differ only in how they divide:
//
// - One role of a job is sized: the first whose maximum is above its minimum, else role 0. The
//   other roles keep their minimum whenever the job holds units at all. A job that holds units has
//   at least one.
// - Memory. A job not yet started is admitted only while its memory fits beside that of all started
//   jobs, frozen ones included. Asked in the order of submission; later jobs may pass one that does
//   not fit until it has waited for `patience`, then what gets free is kept for it.
// - Minimums. When those of all admitted jobs do not fit together, jobs take turns (time_slice.h).
// - The decision names the roles whose units change, and those whose reason does.
//
// Job ids grow in the order of submission; a lower id is an older job. Results depend on ids, never
// on the order of the rows.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policy/claim.h"
#include "policy/decision.h"
#include "policy/time_slice.h"
#include "policy/view.h"

namespace mete {

// How a job ranks when minimums do not fit: see SliceEntry.
struct Urgency {
  int tier = 0;
  double score = 0;
};

class ClaimTable {
 public:
  // `view` must outlive the table.
  explicit ClaimTable(const View& view);

  // Jobs that may hold units, after Admit...(); rows of the view, in no order.
  std::vector<uint32_t> admitted;
  std::vector<Claim> claims;    // by row
  std::vector<int64_t> units;   // by row: of the sized role
  std::vector<Reason> reasons;  // by row
  Resources free;               // what nobody holds yet
  std::vector<double> tenant_weights;

  // Who may run at all as memory permits.
  void AdmitByMemory(Duration patience);
  // Gives each admitted job its minimum. If they do not all fit, `urgency` (of a row) is asked and
  // those that wait their turn leave `admitted`.
  void GrantMinimums(const std::function<Urgency(uint32_t)>& urgency);

  const ViewRole& SizedRole(uint32_t row) const { return view_.jobs[row].roles[sized_[row]]; }
  // Cores in one unit, for speed models and for people; units that take no CPU count as one core.
  double CoresOf(uint32_t row) const;
  double CoresOf(uint32_t row, int64_t units) const {
    return CoresOf(row) * static_cast<double>(units);
  }
  // The minimum of all roles.
  const Resources& Minimum(uint32_t row) const { return minimums_[row]; }
  // A started job that cannot be frozen: one of its roles is not `share`.
  bool Stays(uint32_t row) const;
  JobId IdOf(uint32_t row) const { return view_.jobs[row].id; }
  // Names nobody for UINT32_MAX, the kernels' kNobody.
  JobId IdOrNobody(uint32_t row) const { return row == UINT32_MAX ? JobId() : IdOf(row); }

  Decision ToDecision() const;

 private:
  const View& view_;
  std::vector<uint8_t> sized_;
  std::vector<Resources> minimums_;
};

}  // namespace mete
