#pragma once

// The tables of a journal, and how older ones become today's. docs: what each column means stands
// beside it in schema.cc.
//
// Every row starts with a tag that names its table, so that rows can be told apart even when the
// pages that lead to them are lost (store/salvage.h).

#include <cstdint>

#include "base/result.h"
#include "store/database.h"

namespace mete {

enum class RowTag : int64_t {
  kMeta = 101,
  kReign = 102,
  kJob = 103,
  kSpec = 104,
  kReplica = 105,
  kEvent = 106,
  kTail = 107,
  kBlock = 108,
};

inline constexpr int64_t kSchemaVersion = 2;
inline constexpr int64_t kApplicationId = 0x6d657465;  // "mete"
inline constexpr int64_t kPageBytes = 4096;

// Settings of a connection; on a new file they also fix its form. Before anything else.
Status PrepareConnection(Database& database);

// Refuses a newer journal, or a database that is no journal; writes nothing. The version found.
Result<int64_t> CheckVersion(Database& database);

// Brings a new or older journal to kSchemaVersion, each step in its own transaction.
Status Migrate(Database& database);

}  // namespace mete
