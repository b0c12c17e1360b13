#pragma once

// A file as plain bytes, whatever it is packed in: as it is, compressed (gzip, bzip2, xz, zstd;
// told by content), or a member of a tar or zip archive, compressed or not, named "ARCHIVE:MEMBER".
// An archive with one file in it needs no member; "-" is standard input. Read as a stream. One
// thread.
//
// Errors name the file. Damaged or cut off data is kCorrupt.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace mete {

class InputFile {
 public:
  static Result<InputFile> Open(const std::string& path);
  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  // As a ByteSource.
  Result<std::string_view> Next();
  // Good while this object stays where it is.
  ByteSource source() {
    return [this] { return Next(); };
  }

 private:
  struct Stream;
  explicit InputFile(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

// Everything in it; kResourceExhausted beyond `bytes_max`.
Result<std::string> ReadInputFile(const std::string& path, size_t bytes_max = size_t{1} << 32);

// The names of the files in an archive, in its order; of a file that is no archive, none.
Result<std::vector<std::string>> ArchiveMembers(const std::string& path);

}  // namespace mete
