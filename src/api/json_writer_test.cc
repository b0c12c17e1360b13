#include "api/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(JsonWriter, WritesDocuments) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("id", int64_t{3});
  json.Field("name", "a \"b\"\n\x01");
  json.Field("absent", std::optional<double>());
  json.Field("loss", std::optional<double>(0.25));
  json.Field("nan", std::nan(""));
  json.Field("never", WallTime());
  json.Field("at", WallTime(std::chrono::seconds(1)));
  json.Key("list");
  json.BeginArray();
  json.BeginObject();
  json.EndObject();
  json.Bool(true);
  json.Null();
  json.Raw("[1]");
  json.EndArray();
  json.EndObject();
  EXPECT_EQ(out, R"({"id":3,"name":"a \"b\"\n\u0001","loss":0.25,"nan":null,)"
                 R"("at":"1970-01-01T00:00:01.000Z","list":[{},true,null,[1]]})");
}

TEST(JsonWriter, AnyTextComesBackAsValidUtf8) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string bytes;
    for (uint64_t i = rng.Below(60); i > 0; --i) bytes += static_cast<char>(rng.Below(256));
    std::string out;
    JsonWriter(out).String(bytes);
    EXPECT_TRUE(nlohmann::json::accept(out)) << out;
  }
}

TEST(JsonWriter, NumbersComeBackExactly) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const double value = rng.Normal() * std::pow(10, rng.Uniform(-300, 300));
    std::string out;
    JsonWriter(out).Number(value);
    EXPECT_EQ(nlohmann::json::parse(out).get<double>(), value);
  }
}

}  // namespace
}  // namespace mete
