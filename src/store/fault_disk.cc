#include "store/fault_disk.h"

#include <sqlite3.h>

#include "base/check.h"

namespace mete {
namespace {

// SQLite knows file layers by plain structs: the wrapped file lies behind ours in its memory.
struct FaultFile {
  sqlite3_file base;
  FaultDisk* disk;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

FaultFile* Of(sqlite3_file* file) { return reinterpret_cast<FaultFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file)->real(); }
FaultDisk& Disk(sqlite3_file* file) { return *Of(file)->disk; }

int Close(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }

int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 at) {
  if (Disk(file).fail_reads) return SQLITE_IOERR_READ;
  return Real(file)->pMethods->xRead(Real(file), data, size, at);
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  FaultDisk& disk = Disk(file);
  if (disk.fail_writes) return SQLITE_IOERR_WRITE;
  sqlite3_int64 before = 0;
  Real(file)->pMethods->xFileSize(Real(file), &before);
  if (at + size > before) {
    if (at + size - before > disk.free_bytes) return SQLITE_FULL;
    disk.free_bytes -= at + size - before;
  }
  ++disk.writes;
  disk.written_bytes += size;
  return Real(file)->pMethods->xWrite(Real(file), data, size, at);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  sqlite3_int64 before = 0;
  Real(file)->pMethods->xFileSize(Real(file), &before);
  const int code = Real(file)->pMethods->xTruncate(Real(file), size);
  if (code == SQLITE_OK && size < before) Disk(file).free_bytes += before - size;
  return code;
}

int Sync(sqlite3_file* file, int flags) {
  if (Disk(file).fail_syncs) return SQLITE_IOERR_FSYNC;
  ++Disk(file).syncs;
  return Real(file)->pMethods->xSync(Real(file), flags);
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int lock) { return Real(file)->pMethods->xLock(Real(file), lock); }
int Unlock(sqlite3_file* file, int lock) { return Real(file)->pMethods->xUnlock(Real(file), lock); }
int CheckReservedLock(sqlite3_file* file, int* held) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), held);
}
int FileControl(sqlite3_file* file, int code, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), code, argument);
}
int SectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
int Characteristics(sqlite3_file* file) {
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}

const sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = Characteristics,
};

sqlite3_vfs* System() { return sqlite3_vfs_find(nullptr); }

int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  FaultFile* fault = Of(file);
  fault->disk = static_cast<FaultDisk*>(vfs->pAppData);
  fault->base.pMethods = nullptr;
  const int code = System()->xOpen(System(), path, fault->real(), flags, flags_out);
  if (fault->real()->pMethods) fault->base.pMethods = &kMethods;
  return code;
}

// A copy of the system's with another name and opening; lives as long as it is registered.
sqlite3_vfs* Layer() {
  static sqlite3_vfs layer;
  return &layer;
}

}  // namespace

FaultDisk::FaultDisk() {
  sqlite3_vfs* layer = Layer();
  *layer = *System();
  layer->szOsFile = static_cast<int>(sizeof(FaultFile)) + System()->szOsFile;
  layer->zName = "mete-fault";
  layer->pAppData = this;
  layer->xOpen = Open;
  METE_CHECK(sqlite3_vfs_register(layer, 0) == SQLITE_OK);
}

FaultDisk::~FaultDisk() { sqlite3_vfs_unregister(Layer()); }

}  // namespace mete
