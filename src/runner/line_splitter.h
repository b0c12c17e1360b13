#pragma once

// Cuts a byte stream into lines. LF, CR and CRLF end a line (progress bars rewrite theirs by CR);
// empty lines are left out. Of a line longer than kMaxLine only the first kMaxLine bytes are handed
// out, at once when they are there, and the rest is passed over: memory stays bounded whatever a
// job prints. Bytes are not looked at otherwise, so invalid UTF-8 does no harm.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mete::runner {

class LineSplitter {
 public:
  static constexpr size_t kMaxLine = 64 * 1024;

  // Calls each(std::string_view line) in order; the view is valid during the call only.
  template <typename Each>
  void Feed(std::string_view bytes, Each&& each) {
    // The next LF and CR are looked up once and remembered: searching again for each line would be
    // quadratic in a chunk that has only one of them.
    size_t lf = Find(bytes, '\n', 0);
    size_t cr = Find(bytes, '\r', 0);
    size_t begin = 0;
    while (begin < bytes.size()) {
      const size_t end = lf < cr ? lf : cr;
      Piece(bytes.substr(begin, end - begin), each);
      if (end == bytes.size()) break;
      EndLine(each);
      begin = end + 1;
      if (lf < begin) lf = Find(bytes, '\n', begin);
      if (cr < begin) cr = Find(bytes, '\r', begin);
    }
    pending_.append(whole_);
    whole_ = {};
  }

  // The stream has ended: what stands without a line end is a line, too.
  template <typename Each>
  void Finish(Each&& each) {
    EndLine(each);
  }

  // These bytes are left out: what follows up to the next line end may be the rest of a broken
  // line.
  void Skip(std::string_view bytes) {
    if (bytes.empty()) return;
    pending_.clear();
    passing_over_ = bytes.back() != '\n' && bytes.back() != '\r';
  }

  uint64_t CutLines() const { return cut_lines_; }

 private:
  // bytes.size() if there is none.
  static size_t Find(std::string_view bytes, char c, size_t from) {
    const void* at = std::memchr(bytes.data() + from, c, bytes.size() - from);
    return at == nullptr ? bytes.size()
                         : static_cast<size_t>(static_cast<const char*>(at) - bytes.data());
  }

  template <typename Each>
  void Piece(std::string_view piece, Each&& each) {
    if (passing_over_ || piece.empty()) return;
    if (pending_.empty() && piece.size() < kMaxLine) {
      whole_ = piece;
      return;
    }
    const size_t room = kMaxLine - pending_.size();
    pending_.append(piece.substr(0, room));
    if (piece.size() < room) return;
    ++cut_lines_;
    passing_over_ = true;
    each(std::string_view(pending_));
    pending_.clear();
  }

  template <typename Each>
  void EndLine(Each&& each) {
    if (!whole_.empty())
      each(whole_);
    else if (!pending_.empty())
      each(std::string_view(pending_));
    whole_ = {};
    pending_.clear();
    passing_over_ = false;
  }

  std::string_view whole_;  // a line that lies whole in the bytes being fed
  std::string pending_;     // the beginning of a line that began in earlier bytes
  bool passing_over_ = false;
  uint64_t cut_lines_ = 0;
};

}  // namespace mete::runner
