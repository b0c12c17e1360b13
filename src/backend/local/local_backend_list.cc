// The local backend finds what an earlier daemon left.

#include <algorithm>
#include <utility>

#include "backend/local/local_replica.h"
#include "backend/local/replica_folder.h"
#include "base/check.h"
#include "runner/identity.h"
#include "runner/launch_file.h"

namespace mete {
namespace {

constexpr Duration kListPatience = std::chrono::seconds(5);

}  // namespace

void LocalBackend::List(std::function<void(Result<std::vector<ReplicaFound>>)> done) {
  METE_CHECK(!list_done_);
  list_done_ = std::move(done);
  list_waits_ = 1;
  std::vector<std::string> known_groups;
  for (const ReplicaId id : ListReplicaFolders(options_.state_directory)) {
    known_groups.push_back(GroupOf(id));
    if (Find(id) != nullptr) continue;
    const std::string folder = ReplicaFolder(options_.state_directory, id);
    const auto spec = runner::ReadLaunchFile(folder);
    const auto identity = runner::ReadIdentity(folder);
    // A folder whose runner was never started is as good as none: Apply starts it.
    if (!spec || (!identity && !runner::IsReplicaLocked(folder))) continue;
    Replica& replica = Add(id, spec->job);
    (void)controller_->Create(replica.group);
    if (identity) replica.pid = identity->child.pid;
    replica.list_waits = true;
    ++list_waits_;
    Connect(replica);
  }
  // Groups without a folder: left by a daemon that ended between the two.
  for (const std::string& group : controller_->List()) {
    if (std::find(known_groups.begin(), known_groups.end(), group) != known_groups.end()) continue;
    work_->Push([this, group] {
      KillAndWait(*controller_, group, std::chrono::seconds(2));
      (void)controller_->Remove(group);
    });
  }
  // A runner that is there but does not answer is found all the same.
  list_deadline_ = loop_.After(kListPatience, [this] {
    for (const auto& [id, replica] : replicas_) Found(*replica);
  });
  Post([this] { FinishList(); });
}

void LocalBackend::Found(Replica& replica) {
  if (!std::exchange(replica.list_waits, false)) return;
  Post([this] { FinishList(); });
}

void LocalBackend::FinishList() {
  if (--list_waits_ > 0 || !list_done_) return;
  std::vector<ReplicaFound> found;
  for (const auto& [id, replica] : replicas_) {
    if (replica->stage == Replica::Stage::kLaunching) continue;
    ReplicaFound one{.id = id, .job = replica->job, .pid = replica->pid, .ended = replica->over()};
    if (replica->stage == Replica::Stage::kSweeping) one.state = ReplicaState::kLost;
    found.push_back(one);
  }
  std::sort(found.begin(), found.end(),
            [](const ReplicaFound& a, const ReplicaFound& b) { return a.id < b.id; });
  list_deadline_.Cancel();
  const auto done = std::exchange(list_done_, nullptr);
  done(std::move(found));
  for (Observation& observation : std::exchange(held_, {})) Emit(std::move(observation));
}

}  // namespace mete
