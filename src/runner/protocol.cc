#include "runner/protocol.h"

#include <concepts>
#include <type_traits>
#include <utility>

#include "runner/byte_codec.h"
#include "runner/frame.h"
#include "runner/report_codec.h"

namespace mete::runner {
namespace {

// A message is described once, as the list of its fields; writing and reading follow it. `Fields`
// is called with a writer on a const message or with a reader on one to be filled.
class Writing {
 public:
  explicit Writing(std::string* out) : out_(out) {}

  void operator()(const std::string& text) { out_.Bytes(text); }
  void operator()(const bool& value) { out_.Fixed(static_cast<uint8_t>(value)); }
  void operator()(const uint32_t& value) { out_.Varint(value); }
  void operator()(const uint64_t& value) { out_.Varint(value); }
  void operator()(const int& value) { out_.Signed(value); }
  void operator()(const int64_t& value) { out_.Signed(value); }
  void operator()(const Duration& value) { out_.Signed(value.count()); }
  void operator()(const Instant& value) { out_.Signed(value.time_since_epoch().count()); }
  template <typename Tag>
  void operator()(const Id<Tag>& id) {
    out_.Varint(id.value);
  }
  template <typename E>
  void Enum(const E& value, E /*last*/) {
    out_.Fixed(static_cast<uint8_t>(value));
  }
  template <typename T, typename Each>
  void List(const std::vector<T>& list, Each each) {
    out_.Varint(list.size());
    for (const T& item : list) each(item);
  }

 private:
  ByteWriter out_;
};

class Reading {
 public:
  explicit Reading(std::string_view in) : in_(in) {}

  void operator()(std::string& text) { text = in_.Bytes(); }
  void operator()(bool& value) { value = in_.Fixed<uint8_t>() != 0; }
  void operator()(uint32_t& value) { value = static_cast<uint32_t>(in_.Varint()); }
  void operator()(uint64_t& value) { value = in_.Varint(); }
  void operator()(int& value) { value = static_cast<int>(in_.Signed()); }
  void operator()(int64_t& value) { value = in_.Signed(); }
  void operator()(Duration& value) { value = Duration(in_.Signed()); }
  void operator()(Instant& value) { value = Instant(Duration(in_.Signed())); }
  template <typename Tag>
  void operator()(Id<Tag>& id) {
    id.value = in_.Varint();
  }
  template <typename E>
  void Enum(E& value, E last) {
    const auto number = in_.Fixed<uint8_t>();
    if (number > static_cast<uint8_t>(last))
      bad_enum_ = true;
    else
      value = static_cast<E>(number);
  }
  template <typename T, typename Each>
  void List(std::vector<T>& list, Each each) {
    const uint64_t count = in_.Varint();
    // Every item takes at least a byte: the loop ends with the bytes, whatever the count says.
    for (uint64_t i = 0; i < count && !in_.Failed(); ++i) each(list.emplace_back());
  }
  bool Failed() const { return in_.Failed() || bad_enum_; }

 private:
  ByteReader in_;
  bool bad_enum_ = false;
};

// A message type, const or not.
template <typename M, typename T>
concept Like = std::same_as<std::remove_const_t<M>, T>;

template <typename A>
void Fields(A& a, Like<Hello> auto& m) {
  a(m.version), a(m.term), a(m.acknowledged_through);
}
template <typename A>
void Fields(A& a, Like<AckReports> auto& m) {
  a(m.through_sequence);
}
template <typename A>
void Fields(A&, Like<AckExit> auto&) {}
template <typename A>
void Fields(A& a, Like<Stop> auto& m) {
  a(m.signal), a(m.grace), a(m.reason);
}
template <typename A>
void Fields(A& a, Like<Kill> auto& m) {
  a(m.reason);
}
template <typename A>
void Fields(A& a, Like<SetAllocation> auto& m) {
  auto& allocation = m.allocation;
  a(allocation.generation), a(allocation.cpu_millis), a(allocation.role), a(allocation.index);
  a.List(allocation.counts, [&](auto& count) { a(count.role), a(count.count); });
}
template <typename A>
void Fields(A& a, Like<Signal> auto& m) {
  a(m.signal);
}

template <typename A>
void Fields(A& a, Like<ProcessIdentity> auto& m) {
  a(m.boot_id), a(m.pid), a(m.start_ticks);
}
template <typename A>
void Fields(A& a, Like<Welcome> auto& m) {
  a(m.version), a(m.term);
  Fields(a, m.runner);
  a(m.replica), a(m.job), a(m.role), a(m.index), a(m.attempt);
  a.Enum(m.state, ReplicaState::kExited);
  Fields(a, m.child);
  a(m.child_started), a(m.first_sequence), a(m.next_sequence), a(m.dropped_reports);
  a(m.allocation_generation);
}
template <typename A>
void Fields(A& a, Like<Refused> auto& m) {
  a.Enum(m.reason, RefusalReason::kNotHello);
  a(m.version), a(m.term), a(m.message);
}
template <typename A>
void Fields(A& a, Like<StateChanged> auto& m) {
  a.Enum(m.state, ReplicaState::kExited);
  Fields(a, m.child);
  a(m.time);
}
template <typename A>
void Fields(A& a, Like<ProgressCounts> auto& m) {
  a(m.reports), a(m.bad_lines), a(m.cut_lines), a(m.skipped_bytes), a(m.nan_losses);
  a(m.repeated_iterations), a(m.backward_iterations), a(m.refused_writers);
}
template <typename A>
void Fields(A& a, Like<Exited> auto& m) {
  a.Enum(m.reason, EndReason::kStartFailed);
  a(m.exit_code), a(m.signal), a(m.start_error_number), a(m.detail);
  a(m.stop_requested), a(m.stop_reason), a(m.killed), a(m.started), a(m.ended);
  a(m.cpu), a(m.peak_memory_bytes), a(m.oom_kills), a(m.log_bytes), a(m.log_lost_bytes);
  a(m.last_sequence), a(m.dropped_reports);
  Fields(a, m.progress);
  a.List(m.leftovers, [&](auto& leftover) { a(leftover.pid), a(leftover.name); });
  a(m.last_output);
}

// Types on the wire: never reused. Those of the runner have the high bit.
template <typename M>
constexpr uint16_t kType = 0;
template <>
constexpr uint16_t kType<Hello> = 1;
template <>
constexpr uint16_t kType<AckReports> = 2;
template <>
constexpr uint16_t kType<AckExit> = 3;
template <>
constexpr uint16_t kType<Stop> = 4;
template <>
constexpr uint16_t kType<Kill> = 5;
template <>
constexpr uint16_t kType<SetAllocation> = 6;
template <>
constexpr uint16_t kType<Signal> = 7;
template <>
constexpr uint16_t kType<Welcome> = 0x8001;
template <>
constexpr uint16_t kType<Refused> = 0x8002;
template <>
constexpr uint16_t kType<StateChanged> = 0x8004;
template <>
constexpr uint16_t kType<Exited> = 0x8005;

template <typename M>
void EncodeFields(const M& message, std::string* out) {
  const size_t begin = BeginFrame(kType<M>, out);
  Writing writing(out);
  Fields(writing, message);
  EndFrame(begin, out);
}

void EncodeFields(const Reports& message, std::string* out) {
  ReportEncoder encoder;
  encoder.Begin(message.first_sequence);
  for (const Report& report : message.reports) encoder.Add(report);
  const size_t begin = BeginFrame(kReportsType, out);
  encoder.Finish(out);
  EndFrame(begin, out);
}

template <typename M>
Result<M> DecodeFields(std::string_view payload) {
  M message;
  Reading reading(payload);
  Fields(reading, message);
  if (reading.Failed()) return Fail(ErrorCode::kCorrupt, "a message does not read back");
  return message;
}

template <>
Result<Reports> DecodeFields<Reports>(std::string_view payload) {
  return DecodeReports(payload);
}

// Tries the alternatives of Variant in turn.
template <typename Variant, typename M, typename... Rest>
Result<Variant> DecodeAs(uint16_t type, std::string_view payload) {
  constexpr uint16_t kThisType = std::is_same_v<M, Reports> ? kReportsType : kType<M>;
  static_assert(kThisType != 0);
  if (type == kThisType) {
    METE_ASSIGN_OR_RETURN(M message, DecodeFields<M>(payload));
    return Variant(std::move(message));
  }
  if constexpr (sizeof...(Rest) > 0)
    return DecodeAs<Variant, Rest...>(type, payload);
  else
    return Fail(ErrorCode::kNotFound, "a message of an unknown type");
}

template <typename... Messages>
Result<std::variant<Messages...>> DecodeAny(uint16_t type, std::string_view payload,
                                            std::variant<Messages...>* /*kind*/) {
  return DecodeAs<std::variant<Messages...>, Messages...>(type, payload);
}

}  // namespace

const char* EndReasonName(EndReason reason) {
  switch (reason) {
    case EndReason::kExited:
      return "exited";
    case EndReason::kSignalled:
      return "signalled";
    case EndReason::kOutOfMemory:
      return "out_of_memory";
    case EndReason::kCommandNotFound:
      return "command_not_found";
    case EndReason::kPermissionDenied:
      return "permission_denied";
    case EndReason::kMissingDirectory:
      return "missing_directory";
    case EndReason::kBadCgroup:
      return "bad_cgroup";
    case EndReason::kStartFailed:
      return "start_failed";
  }
  return "start_failed";
}

void Encode(const ToRunner& message, std::string* out) {
  std::visit([&](const auto& m) { EncodeFields(m, out); }, message);
}

void Encode(const ToDaemon& message, std::string* out) {
  std::visit([&](const auto& m) { EncodeFields(m, out); }, message);
}

Result<ToRunner> DecodeToRunner(uint16_t type, std::string_view payload) {
  return DecodeAny(type, payload, static_cast<ToRunner*>(nullptr));
}

Result<ToDaemon> DecodeToDaemon(uint16_t type, std::string_view payload) {
  return DecodeAny(type, payload, static_cast<ToDaemon*>(nullptr));
}

}  // namespace mete::runner
