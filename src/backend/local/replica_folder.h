#pragma once

// Where a replica's files are: STATE_DIRECTORY/replicas/ID, one folder for each replica ever
// started (runner/replica_files.h says what is in it). It stays after the end, for its log, marked
// by the file `gone`; the oldest of those are removed in time.

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace mete {

std::string ReplicaFolder(const std::string& state_directory, ReplicaId id);

Status MakeReplicaFolder(const std::string& state_directory, ReplicaId id);
// Its end is in the journal: nobody need look at it again.
void MarkReplicaGone(const std::string& state_directory, ReplicaId id);
// Those not marked, in order of their ids.
std::vector<ReplicaId> ListReplicaFolders(const std::string& state_directory);
// Removes marked folders with the smallest ids until at most `kept` are left.
void PruneReplicaFolders(const std::string& state_directory, size_t kept);

}  // namespace mete
