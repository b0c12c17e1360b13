#include "runner/exit_file.h"

#include <cstring>
#include <optional>
#include <variant>

#include "runner/byte_codec.h"
#include "runner/checksum.h"
#include "runner/file_io.h"
#include "runner/frame.h"
#include "runner/replica_files.h"

namespace mete::runner {

Status WriteExitFile(const std::string& replica_directory, const Exited& exited) {
  std::string frame;
  Encode(ToDaemon(exited), &frame);
  std::string content;
  ByteWriter(&content).Fixed(Crc32c(frame));
  content += frame;
  return ReplaceFile(ReplicaPath(replica_directory, kExitFile), content, Durability::kSynced);
}

Result<Exited> ReadExitFile(const std::string& replica_directory) {
  const std::string path = ReplicaPath(replica_directory, kExitFile);
  METE_ASSIGN_OR_RETURN(const std::string content, ReadWholeFile(path, 2 * kMaxPayload));
  uint32_t checksum = 0;
  if (content.size() < sizeof checksum)
    return Fail(ErrorCode::kCorrupt, "the exit record is damaged", path);
  std::memcpy(&checksum, content.data(), sizeof checksum);
  const std::string_view bytes = std::string_view(content).substr(sizeof checksum);
  if (Crc32c(bytes) != checksum)
    return Fail(ErrorCode::kCorrupt, "the exit record is damaged", path);
  FrameReader reader;
  reader.Append(bytes);
  METE_ASSIGN_OR_RETURN(const std::optional<Frame> frame, reader.Next());
  if (!frame) return Fail(ErrorCode::kCorrupt, "the exit record is damaged", path);
  METE_ASSIGN_OR_RETURN(ToDaemon message, DecodeToDaemon(frame->type, frame->payload));
  if (!std::holds_alternative<Exited>(message))
    return Fail(ErrorCode::kCorrupt, "the exit record is damaged", path);
  return std::get<Exited>(std::move(message));
}

}  // namespace mete::runner
