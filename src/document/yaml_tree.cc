#include "document/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"

namespace mete {
namespace {

Problem At(const YAML::Mark& mark, std::string message, std::string hint = "") {
  return {"", std::move(message), std::move(hint), mark.line + 1, mark.column + 1};
}

// Ends the parse from inside yaml-cpp's callbacks; caught in YamlTree::Parse.
struct Refused {
  Problem problem;
};

Problem AtOffset(std::string_view text, size_t offset, std::string message, std::string hint) {
  const std::string_view before = text.substr(0, offset);
  const size_t line_start = before.rfind('\n') + 1;
  return {"", std::move(message), std::move(hint),
          static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - line_start) + 1};
}

std::optional<Problem> CheckBytes(std::string_view text) {
  if (text.size() > YamlTree::kBytesMax) {
    return Problem{"", "the file is larger than 4 MiB", "split it, or use a matrix", 0, 0};
  }
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    return AtOffset(text, nul, "a NUL byte", "write the file as text in UTF-8");
  }
  const size_t good = ValidUtf8Prefix(text);
  if (good == text.size()) return {};
  return AtOffset(text, good, "bytes that are not UTF-8", "write the file as text in UTF-8");
}

}  // namespace

class YamlTreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (tree_.root_ != nullptr) {
      throw Refused{At(mark, "a second document", "put all jobs in one, under jobs:")};
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    // Nothing has no place of its own: its key has.
    YamlTree::Node* node = New(mark, YamlTree::Kind::kNull);
    if (!open_.empty() && open_.back().pending) {
      node->line = open_.back().pending->line;
      node->column = open_.back().pending->column;
    }
    Place(mark, Finished(anchor, node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Refused{At(mark, "an alias inside the anchor that it names: a cycle",
                       "move the anchor to what is to be repeated")};
    }
    Count(mark);
    Place(mark, found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckTag(mark, tag);
    YamlTree::Node* node = New(mark, YamlTree::Kind::kScalar);
    node->text = value;
    Place(mark, Finished(anchor, node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlTree::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlTree::Kind::kMap);
  }
  void OnMapEnd() override {
    ResolveMerges(*open_.back().node);
    Close();
  }

  YamlTree Take() { return std::move(tree_); }
  bool HasRoot() const { return tree_.root_ != nullptr; }

 private:
  struct OpenNode {
    YamlTree::Node* node = nullptr;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<YamlTree::Entry> pending;  // a map's key that waits for its value
    std::unordered_set<std::string> keys;
  };

  static void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:")) return;
    throw Refused{At(mark, "a tag (!...) means nothing here", "leave it out")};
  }

  void Count(const YAML::Mark& mark) {
    if (++count_ > YamlTree::kNodesMax) {
      throw Refused{At(mark, "the file has too many values", "split it, or use a matrix")};
    }
  }

  YamlTree::Node* New(const YAML::Mark& mark, YamlTree::Kind kind) {
    Count(mark);
    YamlTree::Node& node = tree_.nodes_->emplace_back();
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return &node;
  }

  const YamlTree::Node* Finished(YAML::anchor_t anchor, const YamlTree::Node* node) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    return node;
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlTree::Kind kind) {
    CheckTag(mark, tag);
    if (open_.size() >= YamlTree::kDepthMax) throw Refused{At(mark, "nested too deeply")};
    open_.push_back({New(mark, kind), anchor, {}, {}});
  }

  void Close() {
    const YamlTree::Node* node = Finished(open_.back().anchor, open_.back().node);
    open_.pop_back();
    Place({}, node);
  }

  void Place(const YAML::Mark& mark, const YamlTree::Node* node) {
    if (open_.empty()) {
      tree_.root_ = node;
      return;
    }
    OpenNode& parent = open_.back();
    if (parent.node->kind == YamlTree::Kind::kSequence) {
      parent.node->items.push_back(node);
    } else if (parent.pending) {
      parent.pending->value = node;
      parent.node->entries.push_back(std::move(*parent.pending));
      parent.pending.reset();
    } else {
      StartEntry(mark, parent, *node);
    }
  }

  static void StartEntry(const YAML::Mark& mark, OpenNode& parent, const YamlTree::Node& key) {
    if (key.kind != YamlTree::Kind::kScalar) {
      throw Refused{{"", "a key must be a word", "", key.line, key.column}};
    }
    if (!parent.keys.insert(key.text).second) {
      throw Refused{
          At(mark, "the key '" + key.text.substr(0, 60) + "' is given twice", "keep one of them")};
    }
    parent.pending = YamlTree::Entry{key.text, mark.line + 1, mark.column + 1, nullptr};
  }

  // Entries of `<<: *base` or `<<: [*one, *two]`, where the map does not have them itself.
  void ResolveMerges(YamlTree::Node& map) {
    const auto merge = std::find_if(map.entries.begin(), map.entries.end(),
                                    [](const YamlTree::Entry& entry) { return entry.key == "<<"; });
    if (merge == map.entries.end()) return;
    const YamlTree::Entry entry = *merge;
    map.entries.erase(merge);
    std::vector<const YamlTree::Node*> bases = {entry.value};
    if (entry.value->kind == YamlTree::Kind::kSequence) bases = entry.value->items;
    std::unordered_set<std::string>& keys = open_.back().keys;
    for (const YamlTree::Node* base : bases) {
      if (base->kind != YamlTree::Kind::kMap) {
        throw Refused{{"", "<< merges maps only", "", entry.line, entry.column}};
      }
      for (const YamlTree::Entry& inherited : base->entries) {
        Count(YAML::Mark());
        if (keys.insert(inherited.key).second) map.entries.push_back(inherited);
      }
    }
  }

  YamlTree tree_;
  std::vector<OpenNode> open_;
  std::unordered_map<YAML::anchor_t, const YamlTree::Node*> anchors_;
  size_t count_ = 0;
};

tl::expected<YamlTree, Problem> YamlTree::Parse(std::string_view text) {
  if (auto problem = CheckBytes(text)) return tl::make_unexpected(std::move(*problem));
  YamlTreeBuilder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return tl::make_unexpected(refused.problem);
  } catch (const YAML::Exception& exception) {
    return tl::make_unexpected(At(exception.mark, "not YAML: " + exception.msg,
                                  "check indentation, colons and quotes near this place"));
  }
  if (!builder.HasRoot()) return tl::make_unexpected(Problem{"", "the file is empty", "", 0, 0});
  return builder.Take();
}

}  // namespace mete
