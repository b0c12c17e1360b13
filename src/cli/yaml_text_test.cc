#include "cli/yaml_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "document/yaml_tree.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

TEST(YamlText, ReadsLikeYaml) {
  const Json document = Json::parse(R"({
    "name": "mlp", "note": "it: is", "version": "1.0", "flag": true, "none": null, "empty": [],
    "numbers": [1, 2.5, null], "no": "no",
    "roles": [{"name": "worker", "units": 3, "reason": {"code": "floor"}}, {"name": "server"}]})");
  EXPECT_EQ(YamlText(document),
            "name: mlp\n"
            "note: \"it: is\"\n"
            "version: \"1.0\"\n"
            "flag: true\n"
            "none: null\n"
            "empty: []\n"
            "numbers: [1,2.5,null]\n"
            "\"no\": \"no\"\n"
            "roles:\n"
            "- name: worker\n"
            "  units: 3\n"
            "  reason:\n"
            "    code: floor\n"
            "- name: server\n");
  EXPECT_EQ(YamlText(Json(3)), "3\n");
}

Json RandomJson(Rng& rng, int depth) {
  switch (rng.Below(depth > 3 ? 3 : 5)) {
    case 0:
      return rng.Uniform(-10, 10);
    case 1:
      return rng.Chance(0.5);
    case 2: {
      std::string text;
      for (uint64_t i = rng.Below(6); i > 0; --i) text += static_cast<char>(32 + rng.Below(95));
      return text;
    }
    case 3: {
      Json list = Json::array();
      for (uint64_t i = rng.Below(4); i > 0; --i) list.push_back(RandomJson(rng, depth + 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (uint64_t i = rng.Below(4); i > 0; --i) {
        object["k" + std::to_string(rng.Below(100))] = RandomJson(rng, depth + 1);
      }
      return object;
    }
  }
}

// The same document, from the tree that a YAML reader makes of the text.
bool Same(const Json& json, const YamlTree::Node& node) {
  if (json.is_object() && !json.empty()) {
    if (node.entries.size() != json.size()) return false;
    for (const YamlTree::Entry& entry : node.entries) {
      if (!json.contains(entry.key) || !Same(json[entry.key], *entry.value)) return false;
    }
    return true;
  }
  if (json.is_array() && !json.empty()) {
    if (node.items.size() != json.size()) return false;
    for (size_t i = 0; i < json.size(); ++i) {
      if (!Same(json[i], *node.items[i])) return false;
    }
    return true;
  }
  if (json.is_string()) return node.text == json.get<std::string>();
  if (json.is_structured()) return node.items.empty() && node.entries.empty();
  return node.text == json.dump();
}

TEST(YamlText, YamlReadersAgree) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    Json document = Json::object();
    document["value"] = RandomJson(rng, 0);
    const std::string text = YamlText(document);
    const auto tree = YamlTree::Parse(text);
    ASSERT_TRUE(tree) << "seed " << seed << ": " << tree.error().message << "\n" << text;
    EXPECT_TRUE(Same(document, tree->root())) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace mete
