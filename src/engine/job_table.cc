#include "engine/job_table.h"

#include <algorithm>

#include "base/check.h"

namespace mete {

Job& JobTable::Add(JobRecord record) {
  METE_CHECK(record.id && record.spec != nullptr);
  auto job = std::make_unique<Job>();
  job->fixed_units.resize(record.spec->roles.size());
  record.units.resize(record.spec->roles.size());
  record.reasons.resize(record.spec->roles.size());
  job->record = std::move(record);
  auto [place, added] = jobs_.emplace(job->record.id, std::move(job));
  METE_CHECK(added);
  return *place->second;
}

Job* JobTable::Find(JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second.get();
}

const Job* JobTable::Find(JobId id) const { return const_cast<JobTable*>(this)->Find(id); }

void JobTable::Erase(JobId id) {
  Job* job = Find(id);
  METE_CHECK(job != nullptr && job->replicas.empty());
  jobs_.erase(id);
}

Replica& JobTable::AddReplica(Job& job, ReplicaRecord record) {
  auto replica = std::make_unique<Replica>();
  replica->seen_sequence = record.acknowledged_sequence;
  replica->record = std::move(record);
  Replica& added = *replica;
  METE_CHECK(replicas_.emplace(added.record.id, std::move(replica)).second);
  job.replicas.push_back(&added);
  return added;
}

Replica* JobTable::FindReplica(ReplicaId id) {
  const auto found = replicas_.find(id);
  return found == replicas_.end() ? nullptr : found->second.get();
}

void JobTable::EraseReplica(ReplicaId id) {
  const auto found = replicas_.find(id);
  METE_CHECK(found != replicas_.end());
  if (Job* job = Find(found->second->record.job)) std::erase(job->replicas, found->second.get());
  replicas_.erase(found);
}

void JobTable::SetNextIds(uint64_t job, uint64_t replica) {
  METE_CHECK(job >= next_job_id_ && replica >= next_replica_id_);
  next_job_id_ = job;
  next_replica_id_ = replica;
}

}  // namespace mete
