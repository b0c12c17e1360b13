#include "runner/identity.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "runner/byte_codec.h"
#include "runner/file_io.h"
#include "runner/replica_files.h"

namespace mete::runner {
namespace {

// The first bytes of an identity file; the number is its version.
constexpr std::string_view kMagic = "mete identity 1\n";

void Put(ByteWriter& out, const ProcessIdentity& process) {
  out.Bytes(process.boot_id);
  out.Signed(process.pid);
  out.Varint(process.start_ticks);
}

ProcessIdentity Get(ByteReader& in) {
  ProcessIdentity process;
  process.boot_id = in.Bytes();
  process.pid = in.Signed();
  process.start_ticks = in.Varint();
  return process;
}

Result<std::string> BootId() {
  METE_ASSIGN_OR_RETURN(std::string id, ReadWholeFile("/proc/sys/kernel/random/boot_id", 128));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

struct ProcessStat {
  char state = '?';
  uint64_t start_ticks = 0;
};

// Fields 3 and 22 of /proc/PID/stat. The second field is the name in brackets, which may hold
// anything, so counting begins behind the last bracket.
Result<ProcessStat> ReadStat(int64_t pid) {
  METE_ASSIGN_OR_RETURN(const std::string stat,
                        ReadWholeFile("/proc/" + std::to_string(pid) + "/stat", 4096));
  const size_t bracket = stat.rfind(')');
  size_t at = bracket;
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return Fail(ErrorCode::kInternal, "/proc/PID/stat is too short");
  return ProcessStat{stat[bracket + 2], std::strtoull(stat.c_str() + at + 1, nullptr, 10)};
}

}  // namespace

Result<ProcessIdentity> IdentifyProcess(int64_t pid) {
  ProcessIdentity process;
  process.pid = pid;
  METE_ASSIGN_OR_RETURN(const ProcessStat stat, ReadStat(pid));
  process.start_ticks = stat.start_ticks;
  METE_ASSIGN_OR_RETURN(process.boot_id, BootId());
  return process;
}

bool IsAlive(const ProcessIdentity& process) {
  const auto stat = ReadStat(process.pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return false;
  const auto boot_id = BootId();
  return boot_id && stat->start_ticks == process.start_ticks && *boot_id == process.boot_id;
}

Status WriteIdentity(const std::string& replica_directory, const ReplicaIdentity& identity) {
  std::string content(kMagic);
  ByteWriter out(&content);
  Put(out, identity.runner);
  Put(out, identity.child);
  out.Varint(identity.cgroups.size());
  for (const std::string& cgroup : identity.cgroups) out.Bytes(cgroup);
  return ReplaceFile(ReplicaPath(replica_directory, kIdentityFile), content);
}

Result<ReplicaIdentity> ReadIdentity(const std::string& replica_directory) {
  const std::string path = ReplicaPath(replica_directory, kIdentityFile);
  METE_ASSIGN_OR_RETURN(const std::string content, ReadWholeFile(path, 1 << 20));
  if (!content.starts_with(kMagic)) return Fail(ErrorCode::kCorrupt, "not an identity", path);
  ByteReader in(std::string_view(content).substr(kMagic.size()));
  ReplicaIdentity identity;
  identity.runner = Get(in);
  identity.child = Get(in);
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; i < count && !in.Failed(); ++i) identity.cgroups.emplace_back(in.Bytes());
  if (in.Failed()) return Fail(ErrorCode::kCorrupt, "not an identity", path);
  return identity;
}

Result<UniqueFd> LockReplica(const std::string& replica_directory) {
  const std::string path = ReplicaPath(replica_directory, kLockFile);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return FailErrno(errno, "cannot open", path);
  if (flock(fd.Get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK)
    return Fail(ErrorCode::kFailedPrecondition, "another runner has this replica", path);
  return FailErrno(errno, "cannot lock", path);
}

bool IsLockDeleted(const UniqueFd& lock) {
  struct stat facts {};
  return fstat(lock.Get(), &facts) == 0 && facts.st_nlink == 0;
}

bool IsReplicaLocked(const std::string& replica_directory) {
  UniqueFd fd(open(ReplicaPath(replica_directory, kLockFile).c_str(), O_RDWR | O_CLOEXEC));
  return fd && flock(fd.Get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace mete::runner
