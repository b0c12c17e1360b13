#include "base/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace mete {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Table = std::vector<std::vector<std::string>>;

Result<Table> Read(const ByteSource& source, size_t line_bytes_max = CsvReader::kLineBytesMax) {
  CsvReader reader("f.csv", source, line_bytes_max);
  Table table;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) return table;
    table.emplace_back(reader.cells().begin(), reader.cells().end());
  }
}

Table Parsed(std::string_view text) {
  const auto table = Read(MemorySource(text));
  EXPECT_TRUE(table) << table.error().ToString();
  return table.value_or(Table());
}

std::string ErrorOf(std::string_view text) {
  const auto table = Read(MemorySource(text), 64);
  return table ? "none" : table.error().ToString();
}

TEST(CsvReader, CellsAndLines) {
  EXPECT_THAT(Parsed("a,b\n1,2\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(Parsed("\xEF\xBB\xBF"
                     "a,,\r\n\r\n\n , b"),
              ElementsAre(ElementsAre("a", "", ""), ElementsAre(" ", " b")));
  EXPECT_THAT(Parsed(""), ElementsAre());
  EXPECT_THAT(Parsed("\n\r\n"), ElementsAre());
  EXPECT_THAT(Parsed(","), ElementsAre(ElementsAre("", "")));
}

TEST(CsvReader, Quotes) {
  EXPECT_THAT(Parsed("\"a,b\",\"say \"\"hi\"\"\",\"\"\n\"x\""),
              ElementsAre(ElementsAre("a,b", "say \"hi\"", ""), ElementsAre("x")));
}

TEST(CsvReader, ErrorsNamePlaces) {
  EXPECT_THAT(ErrorOf("a\nb,c\"d\n"), HasSubstr("f.csv:2:4: a quote inside a cell"));
  EXPECT_THAT(ErrorOf("a,\"b\nc\"\n"), HasSubstr("f.csv:1:3: a quote that is not closed"));
  EXPECT_THAT(ErrorOf("\"a\"b\n"), HasSubstr("f.csv:1:4: something follows a closing quote"));
  EXPECT_THAT(ErrorOf("a\n" + std::string(65, 'x')), HasSubstr("f.csv:2:1: a line longer than 64"));
  EXPECT_THAT(ErrorOf(std::string(65, 'x') + "\na"), HasSubstr("f.csv:1:1: a line longer"));
  EXPECT_EQ(ErrorOf(std::string(64, 'x')), "none");
}

TEST(CsvReader, ColumnsOfCells) {
  CsvReader reader("f", MemorySource("ab,\"c\",d\n"));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.column(0), 1);
  EXPECT_EQ(reader.column(1), 4);
  EXPECT_EQ(reader.column(2), 8);
  EXPECT_EQ(reader.column(3), 9);
  EXPECT_EQ(reader.line(), 1);
}

TEST(CsvReader, PassesOnTheErrorOfItsSource) {
  const auto table = Read([]() -> Result<std::string_view> {
    return Fail(ErrorCode::kCorrupt, "the archive is cut off");
  });
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kCorrupt);
}

// However the bytes are cut into blocks, the records are the same.
TEST(CsvReader, BlocksDoNotMatter) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    std::string text;
    constexpr std::string_view kPieces[] = {"a", "bc", ",", ",", "\n", "\r\n", "\"q,\"\"\"", "é"};
    for (uint64_t i = rng.Below(60); i > 0; --i) text += kPieces[rng.Below(std::size(kPieces))];
    const auto whole = Read(MemorySource(text));
    size_t given = 0;
    std::string block;
    const auto pieces = Read([&]() -> Result<std::string_view> {
      block = text.substr(given, 1 + rng.Below(5));
      given += block.size();
      return block;
    });
    ASSERT_EQ(whole.has_value(), pieces.has_value()) << "seed " << seed << ": " << text;
    if (whole) {
      ASSERT_EQ(*whole, *pieces) << "seed " << seed << ": " << text;
    } else {
      ASSERT_EQ(whole.error(), pieces.error()) << "seed " << seed << ": " << text;
    }
  }
}

}  // namespace
}  // namespace mete
