#include "trace/input_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/closest_word.h"

namespace mete {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
// Names that an error lists.
constexpr size_t kMembersShown = 8;

struct ArchiveDeleter {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using ArchiveReader = std::unique_ptr<archive, ArchiveDeleter>;

// "ARCHIVE:MEMBER" at the first colon whose left side is there; a path that is there has none.
struct Name {
  std::string path;
  std::string member;
};

bool Exists(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0;
}

Name SplitName(const std::string& name) {
  if (name == "-" || Exists(name)) return {name, ""};
  for (size_t colon = name.find(':'); colon != std::string::npos; colon = name.find(':', colon + 1))
    if (colon > 0 && Exists(name.substr(0, colon)))
      return {name.substr(0, colon), name.substr(colon + 1)};
  return {name, ""};
}

std::string WithoutDot(std::string_view member) {
  while (member.starts_with("./")) member.remove_prefix(2);
  return std::string(member);
}

tl::unexpected<Error> Damaged(archive* reader, const std::string& name) {
  const char* const text = archive_error_string(reader);
  const int code = archive_errno(reader);
  if (code == ENOMEM || code == EACCES || code == EIO)
    return FailErrno(code, "cannot read the file", name);
  return Fail(ErrorCode::kCorrupt,
              fmt::format("the compressed data cannot be read: {}", text == nullptr ? "?" : text),
              name, "it was cut off or damaged: get it again");
}

Result<ArchiveReader> OpenArchive(const std::string& path) {
  struct stat info = {};
  if (path != "-") {
    if (stat(path.c_str(), &info) != 0) return FailErrno(errno, "cannot open the file", path);
    if (S_ISDIR(info.st_mode))
      return Fail(ErrorCode::kInvalidArgument, "this is a folder", path, "name a file in it");
    if (access(path.c_str(), R_OK) != 0) return FailErrno(errno, "cannot open the file", path);
  }
  ArchiveReader reader(archive_read_new());
  if (!reader) return Fail(ErrorCode::kResourceExhausted, "no memory for reading", path);
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_empty(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  archive_read_support_format_raw(reader.get());
  const int opened = path == "-"
                         ? archive_read_open_fd(reader.get(), STDIN_FILENO, kBlockBytes)
                         : archive_read_open_filename(reader.get(), path.c_str(), kBlockBytes);
  if (opened != ARCHIVE_OK) return Damaged(reader.get(), path);
  return reader;
}

// Plain or merely compressed bytes, or nothing at all: one stream without a name.
bool IsBare(archive* reader) {
  const int format = archive_format(reader);
  return format == ARCHIVE_FORMAT_RAW || format == ARCHIVE_FORMAT_EMPTY;
}

// The next file in it; null at the end.
Result<archive_entry*> NextEntry(archive* reader, const std::string& name) {
  for (;;) {
    archive_entry* entry = nullptr;
    const int got = archive_read_next_header(reader, &entry);
    if (got == ARCHIVE_EOF) return nullptr;
    if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return Damaged(reader, name);
    if (IsBare(reader) || archive_entry_filetype(entry) == AE_IFREG) return entry;
  }
}

std::string MemberName(archive_entry* entry) {
  const char* const utf8 = archive_entry_pathname_utf8(entry);
  const char* const raw = utf8 != nullptr ? utf8 : archive_entry_pathname(entry);
  return WithoutDot(raw == nullptr ? "" : raw);
}

std::string Listed(const std::vector<std::string>& members) {
  std::string text;
  for (size_t i = 0; i < members.size() && i < kMembersShown; ++i)
    text += (i == 0 ? "" : ", ") + members[i];
  if (members.size() > kMembersShown)
    text += fmt::format(" and {} more", members.size() - kMembersShown);
  return text;
}

tl::unexpected<Error> NoSuchMember(const Name& name, const std::vector<std::string>& members) {
  const std::string closest = ClosestWord(name.member, members);
  return Fail(ErrorCode::kNotFound, fmt::format("there is no '{}' in it", name.member), name.path,
              closest.empty() ? "it holds " + Listed(members)
                              : fmt::format("did you mean {}:{}?", name.path, closest));
}

}  // namespace

struct InputFile::Stream {
  ArchiveReader reader;
  std::string name;
  std::string block;
  bool ended = false;
};

InputFile::InputFile(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

Result<InputFile> InputFile::Open(const std::string& path) {
  Name name = SplitName(path);
  auto stream = std::make_unique<Stream>();
  stream->name = path;
  METE_ASSIGN_OR_RETURN(stream->reader, OpenArchive(name.path));
  METE_ASSIGN_OR_RETURN(archive_entry * entry, NextEntry(stream->reader.get(), name.path));
  if (entry == nullptr || IsBare(stream->reader.get())) {
    const bool bare = entry == nullptr ? IsBare(stream->reader.get()) : true;
    if (!name.member.empty())
      return Fail(ErrorCode::kInvalidArgument, "this is no archive", name.path,
                  fmt::format("leave out ':{}'", name.member));
    if (!bare) return Fail(ErrorCode::kInvalidArgument, "the archive has no files", path);
    stream->ended = entry == nullptr;
    return InputFile(std::move(stream));
  }
  if (name.member.empty()) {
    if (name.path == "-")
      return Fail(ErrorCode::kInvalidArgument, "standard input is an archive", "-",
                  "pass the file inside it");
    METE_ASSIGN_OR_RETURN(const std::vector<std::string> members, ArchiveMembers(name.path));
    if (members.size() != 1)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the archive has {} files", members.size()), path,
                  fmt::format("name one: {}:{}; it holds {}", path, members[0], Listed(members)));
    return InputFile(std::move(stream));
  }
  std::vector<std::string> passed;
  const std::string wanted = WithoutDot(name.member);
  while (entry != nullptr) {
    passed.push_back(MemberName(entry));
    if (passed.back() == wanted) return InputFile(std::move(stream));
    METE_ASSIGN_OR_RETURN(entry, NextEntry(stream->reader.get(), name.path));
  }
  return NoSuchMember(name, passed);
}

Result<std::string_view> InputFile::Next() {
  Stream& stream = *stream_;
  if (stream.ended) return std::string_view();
  stream.block.resize(kBlockBytes);
  const la_ssize_t got =
      archive_read_data(stream.reader.get(), stream.block.data(), stream.block.size());
  if (got < 0) return Damaged(stream.reader.get(), stream.name);
  stream.ended = got == 0;
  return std::string_view(stream.block.data(), static_cast<size_t>(got));
}

Result<std::string> ReadInputFile(const std::string& path, size_t bytes_max) {
  METE_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  std::string bytes;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const std::string_view block, file.Next());
    if (block.empty()) return bytes;
    if (block.size() > bytes_max - bytes.size())
      return Fail(ErrorCode::kResourceExhausted,
                  fmt::format("the file holds more than {} bytes", bytes_max), path);
    bytes.append(block);
  }
}

Result<std::vector<std::string>> ArchiveMembers(const std::string& path) {
  METE_ASSIGN_OR_RETURN(const ArchiveReader reader, OpenArchive(path));
  std::vector<std::string> members;
  for (;;) {
    METE_ASSIGN_OR_RETURN(archive_entry* const entry, NextEntry(reader.get(), path));
    if (entry == nullptr || IsBare(reader.get())) return members;
    members.push_back(MemberName(entry));
  }
}

}  // namespace mete
