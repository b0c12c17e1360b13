#include "http/event_stream_parser.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "http/responder.h"

namespace mete::http {
namespace {

std::vector<ServerEvent> Parse(const std::vector<std::string>& pieces) {
  std::vector<ServerEvent> events;
  EventStreamParser parser;
  for (const std::string& piece : pieces) {
    const Status fed = parser.Feed(piece, [&](const ServerEvent& event) {
      events.push_back(event);
      return true;
    });
    EXPECT_TRUE(fed);
  }
  return events;
}

TEST(EventStreamParser, ReadsFieldsCommentsAndAllLineEnds) {
  const auto events =
      Parse({": hello\n\nevent: round\ndata: 1\ndata:2\nid: 7\nretry: 5\n\n"
             "data: x\r\n\r\ndata: y\r\rdata\n\nevent: nothing\n\ndata: cut"});
  EXPECT_EQ(events, (std::vector<ServerEvent>{
                        {"round", "1\n2", "7"}, {"", "x", ""}, {"", "y", ""}, {"", "", ""}}));
}

TEST(EventStreamParser, WhatIsSentIsReadHoweverItIsCut) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    std::vector<ServerEvent> sent;
    std::string text;
    for (uint64_t i = rng.Below(6); i > 0; --i) {
      const auto word = [&](std::string_view letters, uint64_t length) {
        std::string made;
        for (uint64_t k = rng.Below(length + 1); k > 0; --k)
          made += letters[rng.Below(letters.size())];
        return made;
      };
      sent.push_back({word("ab:", 3), word("x: \n", 12), word("01", 2)});
      text += FormatEvent(sent.back());
    }
    std::vector<std::string> pieces;
    while (!text.empty()) {
      const size_t size = 1 + rng.Below(8);
      pieces.push_back(text.substr(0, size));
      text.erase(0, size);
    }
    EXPECT_EQ(Parse(pieces), sent) << "seed " << seed;
  }
}

TEST(EventStreamParser, StopsWhenAsked) {
  EventStreamParser parser;
  int seen = 0;
  const Status fed = parser.Feed("data: 1\n\ndata: 2\n\n", [&](const ServerEvent&) {
    ++seen;
    return false;
  });
  EXPECT_TRUE(fed);
  EXPECT_TRUE(parser.stopped());
  EXPECT_EQ(seen, 1);
}

TEST(EventStreamParser, AnEndlessEventIsRefused) {
  EventStreamParser parser;
  const std::string piece(1024 * 1024, 'x');
  Status fed;
  for (int i = 0; i < 20 && fed; ++i)
    fed = parser.Feed(piece, [](const ServerEvent&) { return true; });
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, ErrorCode::kResourceExhausted);
}

TEST(FormatEvent, NamesCannotSmuggleFields) {
  EXPECT_EQ(FormatEvent({"a\ndata: evil", "b\rc", "1\n2"}),
            "event: a data: evil\nid: 1 2\ndata: b c\n\n");
}

}  // namespace
}  // namespace mete::http
