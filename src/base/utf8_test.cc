#include "base/utf8.h"

#include <gtest/gtest.h>

namespace mete {
namespace {

TEST(Utf8, AcceptsWellFormedText) {
  for (const char* text : {"", "plain", "grüße", "日本語", "\U0001F600", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
    EXPECT_EQ(ToValidUtf8(text), text);
  }
}

TEST(Utf8, RefusesIllFormedBytes) {
  for (const char* bytes :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "cut \xE6\x97", "\xC3("}) {
    EXPECT_FALSE(IsValidUtf8(bytes));
    EXPECT_TRUE(IsValidUtf8(ToValidUtf8(bytes)));
  }
  EXPECT_EQ(ValidUtf8Prefix("grüße\xFF!"), std::string("grüße").size());
  EXPECT_EQ(ToValidUtf8("a\xFF"
                        "b"),
            "a\xEF\xBF\xBD"
            "b");
}

}  // namespace
}  // namespace mete
