#include "runner/protocol.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "runner/frame.h"

namespace mete::runner {
namespace {

std::vector<ToRunner> EveryToRunner() {
  SetAllocation allocation;
  allocation.allocation = {3, 2500, "worker", 1, {{"worker", 4}, {"server", 2}}};
  return {Hello{1, Term{4}, 99},
          AckReports{12345678901},
          AckExit{},
          Stop{2, std::chrono::seconds(5), "cancelled"},
          Kill{"deadline"},
          allocation,
          Signal{19}};
}

std::vector<ToDaemon> EveryToDaemon() {
  Welcome welcome;
  welcome.term = Term{8};
  welcome.runner = {"boot", 12, 34};
  welcome.replica = ReplicaId{6};
  welcome.job = JobId{5};
  welcome.role = "worker";
  welcome.index = 1;
  welcome.attempt = 2;
  welcome.state = ReplicaState::kEnding;
  welcome.child = {"boot", 56, 78};
  welcome.child_started = Instant(Duration(1234));
  welcome.first_sequence = 10;
  welcome.next_sequence = 20;
  welcome.dropped_reports = 3;
  welcome.allocation_generation = 7;
  Reports reports;
  reports.first_sequence = 10;
  reports.reports.resize(3);
  Exited exited;
  exited.reason = EndReason::kOutOfMemory;
  exited.signal = 9;
  exited.detail = "killed at its limit";
  exited.stop_requested = true;
  exited.stop_reason = "cancelled";
  exited.cpu = std::chrono::seconds(3);
  exited.peak_memory_bytes = 1 << 30;
  exited.last_sequence = 20;
  exited.progress.bad_lines = 2;
  exited.leftovers = {{99, "sleep"}};
  exited.last_output = std::string("raw \xff\0 bytes", 12);
  return {welcome, Refused{RefusalReason::kOlderTerm, 1, Term{9}, "no"}, reports,
          StateChanged{ReplicaState::kRunning, {"b", 1, 2}, Instant(Duration(5))}, exited};
}

// Encodes what was decoded: equal bytes mean equal messages.
template <typename Message, typename Decode>
void ExpectRoundTrip(const std::vector<Message>& messages, Decode decode) {
  std::string stream;
  for (const Message& message : messages) Encode(message, &stream);
  FrameReader reader;
  std::string again;
  size_t index = 0;
  // One byte at a time, as a slow socket may deliver them.
  for (const char c : stream) {
    reader.Append(std::string_view(&c, 1));
    for (;;) {
      const auto frame = reader.Next();
      ASSERT_TRUE(frame);
      if (!*frame) break;
      const auto message = decode((*frame)->type, (*frame)->payload);
      ASSERT_TRUE(message) << message.error().ToString();
      EXPECT_EQ(message->index(), messages[index++].index());
      Encode(*message, &again);
    }
  }
  EXPECT_EQ(index, messages.size());
  EXPECT_EQ(again, stream);
}

TEST(Protocol, EveryMessageReadsBack) {
  ExpectRoundTrip(EveryToRunner(), DecodeToRunner);
  ExpectRoundTrip(EveryToDaemon(), DecodeToDaemon);
}

TEST(Protocol, AnUnknownTypeIsTellable) {
  const auto message = DecodeToRunner(999, "whatever");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(DecodeToDaemon(1, "").error().code, ErrorCode::kNotFound);
}

TEST(Protocol, FieldsAppendedByANewerPeerAreIgnored) {
  std::string bytes;
  Encode(ToRunner(AckReports{5}), &bytes);
  const std::string payload = bytes.substr(kFrameHeader) + "more";
  const auto message = DecodeToRunner(2, payload);
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<AckReports>(*message).through_sequence, 5u);
}

TEST(Protocol, TruncatedOrRandomPayloadsNeverDoHarm) {
  Rng rng(11);
  for (const ToDaemon& message : EveryToDaemon()) {
    std::string bytes;
    Encode(message, &bytes);
    const auto type = static_cast<uint16_t>(static_cast<unsigned char>(bytes[4]) |
                                            static_cast<unsigned char>(bytes[5]) << 8);
    const std::string payload = bytes.substr(kFrameHeader);
    for (size_t n = 0; n < payload.size(); ++n) {
      EXPECT_FALSE(DecodeToDaemon(type, payload.substr(0, n))) << type << " " << n;
      std::string damaged = payload;
      damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Next());
      (void)DecodeToDaemon(type, damaged);
    }
  }
}

TEST(Frame, AnImpossibleLengthEndsTheStream) {
  FrameReader reader;
  reader.Append(std::string("\xff\xff\xff\xff\x01\x00", 6));
  const auto frame = reader.Next();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace mete::runner
