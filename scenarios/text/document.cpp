#include "document.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "slicewise/lookup.hpp"
#include "slicewise/scenarios/load.hpp"

#include "flow_brackets.hpp"
#include "plain_scalars.hpp"
#include "source_places.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::size_t kMostValues = 200'000;  // aliases expanded
constexpr std::size_t kDeepestYaml = 64;      // levels of nesting

// The innermost list or mapping that is still open.
struct Frame {
  std::shared_ptr<Node> node;
  YAML::anchor_t anchor = YAML::NullAnchor;
  bool has_key = false;  // a Map whose next event is a value
  bool drop_value = false;
  // Places of the keys <<, whose values' entries are its own.
  std::vector<std::pair<std::size_t, YAML::Mark>> merges = {};
  std::unordered_map<std::string, std::size_t> keys = {};  // of a Map: places of its entries
};

// Builds the tree from the parser's events. A document that cannot be used stops the parser with
// the parser's own exception, the only way out of its recursion.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourcePlaces& places, Diagnostics& found, bool is_yaml_1_1 = false)
      : places_(places), found_(found), is_yaml_1_1_(is_yaml_1_1) {}

  NodePtr take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto node = std::make_shared<Node>();
    const std::size_t offset = offset_of(mark);
    const std::string_view rest = places_.text().substr(std::min(offset, places_.text().size()));
    const bool written = rest.starts_with('~') || rest.starts_with("null") ||
                         rest.starts_with("Null") || rest.starts_with("NULL");
    node->where = written ? places_.at(offset, rest[0] == '~' ? 1 : 4) : place_of_nothing(mark);
    add(std::move(node), mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) throw YAML::ParserException(mark, "an alias to its own parent");
    add(target->second, mark, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = std::make_shared<Node>();
    const std::size_t offset = offset_of(mark);
    const std::string_view core = core_tag(tag);
    node->quoted = tag != "?" && (core.empty() || core == "str");
    node->text = value;
    node->where = places_.at(offset, places_.scalar_bytes(offset, value));
    node->kind = node->quoted ? Node::Kind::Text : core_schema_kind(value);
    if (is_yaml_1_1_ && !node->quoted) take_yaml_1_1(*node);
    node->refused =
        refuse_tag(tag, core, mark) || refuse_other_kind(*node, core) || refuse_leading_zero(*node);
    add(std::move(node), mark, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::List, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::Map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  std::size_t offset_of(const YAML::Mark& mark) const {
    return places_.skip_properties(static_cast<std::size_t>(std::max(mark.pos, 0)));
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == Node::Kind::Map && !open_.back().has_key;
  }

  // `key:` without a value: the parser's mark is that of the next token, so show the key.
  SourceLocation place_of_nothing(const YAML::Mark& mark) const {
    if (!open_.empty() && open_.back().has_key && !open_.back().drop_value) {
      return open_.back().node->entries.back().key_where;
    }
    return places_.at(offset_of(mark));
  }

  // "str" of !!str, which Kubernetes' tools read; "" of other tags and none.
  std::string_view core_tag(std::string_view tag) const {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    constexpr std::string_view kRead[] = {"str", "int", "float", "bool", "null", "map", "seq"};
    if (!is_yaml_1_1_ || !tag.starts_with(kCore)) return {};
    tag.remove_prefix(kCore.size());
    return std::ranges::find(kRead, tag) == std::end(kRead) ? std::string_view() : tag;
  }

  // `!!int abc`. Source: goyaml.v2 resolve.go.
  bool refuse_other_kind(const Node& value, std::string_view core) {
    const bool is_number = value.kind == Node::Kind::Integer;
    const bool fits = core == "int"     ? is_number
                      : core == "float" ? is_number || value.kind == Node::Kind::Float
                      : core == "bool"  ? value.kind == Node::Kind::Boolean || old_truth(value)
                      : core == "null"  ? value.kind == Node::Kind::Null
                                        : true;
    if (fits) return false;
    found_.push_back(make_diagnostic(Code::YamlSyntax, value.where,
                                     fmt::format("cannot decode {} as a !!{}", value.text, core),
                                     "kubectl refuses the file"));
    return true;
  }

  // Those of others (!Ref of CloudFormation) say nothing to Kubernetes' tools: the value is text.
  bool refuse_tag(std::string_view tag, std::string_view core, const YAML::Mark& mark) {
    if (is_yaml_1_1_ || tag == "?" || tag == "!" || tag.empty() || !core.empty()) return false;
    const std::string_view text = places_.text();
    const std::size_t start =
        std::min(text.find('!', static_cast<std::size_t>(std::max(mark.pos, 0))), offset_of(mark));
    const std::size_t stop = std::min(text.find_first_of(" \t\r\n,]}", start), text.size());
    found_.push_back(make_diagnostic(Code::YamlSyntax, places_.at(start, stop - start),
                                     "scenario files have no tags such as !!str",
                                     "quote the value to make it text"));
    return true;
  }

  // Here a leading zero may mean either.
  bool refuse_leading_zero(const Node& value) {
    if (value.kind != Node::Kind::Integer || expects_key()) return false;
    const std::string_view text = value.text;
    const std::string_view sign = text.substr(0, text.find_first_of("0123456789"));
    const std::string_view digits = text.substr(sign.size());
    if (digits.size() < 2 || digits[0] != '0' || digits[1] == 'x' || digits[1] == 'o') return false;
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    found_.push_back(make_diagnostic(
        Code::FieldType, value.where,
        fmt::format("{} has a leading zero: YAML 1.2 reads a decimal number, YAML 1.1 an octal one",
                    text),
        fmt::format("write {}{}, or \"{}\" for text", sign, digits.substr(first), text)));
    return true;
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    if (open_.size() >= kDeepestYaml) {
      throw YAML::ParserException(mark, fmt::format("nested deeper than {} levels", kDeepestYaml));
    }
    if (expects_key()) throw YAML::ParserException(mark, "a key must be text");
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->where = places_.at(offset_of(mark));
    refuse_tag(tag, core_tag(tag), mark);
    ++total_;
    open_.push_back({std::move(node), anchor});
  }

  void close() {
    if (!open_.back().merges.empty()) merge(open_.back());
    Frame frame = std::move(open_.back());
    open_.pop_back();
    if (frame.anchor != YAML::NullAnchor) anchors_[frame.anchor] = frame.node;
    attach(std::move(frame.node));
  }

  // `<<: *base` and `<<: [*one, *other]`, of which the earlier come first. What is written beside
  // it comes before them; for Kubernetes' tools only what is written below it. Source: goyaml.v2
  // decode.go, mapping() and merge().
  void merge(Frame& frame) const {
    std::vector<Entry> merged;
    std::unordered_map<std::string_view, std::size_t> places;
    const auto put = [&](const Entry& entry, bool overrides) {
      const auto [known, is_new] = places.try_emplace(entry.key, merged.size());
      if (is_new) {
        merged.push_back(entry);
      } else if (overrides) {
        merged[known->second] = entry;
      }
    };
    const auto put_all = [&](const Node& from, bool overrides, const YAML::Mark& mark) {
      std::vector<NodePtr> bases = from.items;
      if (overrides) std::ranges::reverse(bases);
      const auto take = [&](const Node& base) {
        if (base.kind != Node::Kind::Map) {
          throw YAML::ParserException(mark,
                                      "map merge requires map or sequence of maps as the value");
        }
        for (const Entry& entry : base.entries) put(entry, overrides);
      };
      if (from.kind != Node::Kind::List) return take(from);
      for (const NodePtr& base : bases) take(*base);
    };
    const std::vector<Entry> written = std::move(frame.node->entries);
    auto next = frame.merges.begin();
    for (std::size_t at = 0; at < written.size(); ++at) {
      if (next == frame.merges.end() || next->first != at) {
        put(written[at], true);
      } else {
        if (is_yaml_1_1_) put_all(*written[at].value, true, next->second);
        ++next;
      }
    }
    if (!is_yaml_1_1_) {
      const auto& [at, mark] = frame.merges.front();
      put_all(*written[at].value, false, mark);
    }
    frame.node->entries = std::move(merged);
  }

  void add(NodePtr node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    total_ += node->weight;
    if (total_ > kMostValues) {
      throw YAML::ParserException(
          mark, fmt::format("more than {} values, aliases expanded", kMostValues));
    }
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    if (expects_key()) {
      add_key(*node, mark);
    } else {
      attach(std::move(node));
    }
  }

  // JSON's, where `on` and `True` are "true". Source: sigs.k8s.io/yaml yaml.go.
  std::string key_text(const Node& key) const {
    if (!is_yaml_1_1_ || key.quoted) return key.text;
    if (const auto truth = old_truth(key)) return *truth ? "true" : "false";
    if (key.kind != Node::Kind::Boolean) return key.text;
    return key.text.starts_with('t') || key.text.starts_with('T') ? "true" : "false";
  }

  void add_key(const Node& key, const YAML::Mark& mark) {
    if (!key.is_scalar() || key.kind == Node::Kind::Null) {
      throw YAML::ParserException(mark, "a key must be text");
    }
    Frame& frame = open_.back();
    frame.has_key = true;
    frame.drop_value = false;
    std::vector<Entry>& entries = frame.node->entries;
    const bool is_merge = key.text == "<<" && !key.quoted;
    if (is_merge && (is_yaml_1_1_ || frame.merges.empty())) {
      frame.merges.emplace_back(entries.size(), mark);
      frame.keys.try_emplace(key.text, entries.size());
      entries.push_back({key.text, key.where, nullptr});
      return;
    }
    const std::string text = key_text(key);
    const auto [known, is_new] = frame.keys.try_emplace(text, entries.size());
    if (is_new) {
      entries.push_back({text, key.where, nullptr});
      return;
    }
    const Entry* first = &entries[known->second];
    frame.drop_value = true;
    found_.push_back(
        make_diagnostic(Code::FieldDuplicate, key.where, fmt::format("\"{}\" is set twice", text),
                        "remove one of the two: programs differ in which one they take",
                        fmt::format("first set on line {}", first->key_where.line)));
  }

  void attach(NodePtr node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (!frame.drop_value) frame.node->weight += node->weight;
    if (frame.node->kind == Node::Kind::List) {
      frame.node->items.push_back(std::move(node));
    } else if (!frame.drop_value) {
      frame.node->entries.back().value = std::move(node);
    }
    frame.has_key = false;
    frame.drop_value = false;
  }

  const SourcePlaces& places_;
  Diagnostics& found_;
  bool is_yaml_1_1_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, NodePtr> anchors_;
  NodePtr root_;
  std::size_t total_ = 0;
};

std::string syntax_help(std::string_view message) {
  if (message.find("tab") != std::string_view::npos) return "indent with spaces, not tabs";
  if (message == YAML::ErrorMsg::MAP_VALUE) {
    return "a value that holds \": \" needs quotes; a key needs the indentation of its siblings";
  }
  if (message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::END_OF_SEQ) {
    return "check the indentation: every key of a mapping starts in the same column";
  }
  if (message == YAML::ErrorMsg::END_OF_MAP_FLOW) return "check the commas of this { } mapping";
  if (message == YAML::ErrorMsg::END_OF_SEQ_FLOW) return "check the commas of this [ ] list";
  if (message == YAML::ErrorMsg::UNKNOWN_TOKEN) {
    return "a value that starts with one of @ ` % needs quotes";
  }
  return {};
}

// Empty when the bytes can be given to the parser.
std::optional<Diagnostic> unreadable_text(const SourceText& source, const SourcePlaces& places) {
  if (source.text.size() > kLargestScenario) {
    return make_diagnostic(Code::YamlSyntax, {source.name}, "the file is larger than 16 MiB");
  }
  if (const auto bad = first_bad_byte(places.text())) {
    const auto byte = static_cast<unsigned char>(places.text()[*bad]);
    return make_diagnostic(Code::YamlSyntax, places.at(*bad),
                           fmt::format("byte 0x{:02x} is {}", byte,
                                       byte < 0x80 ? "a control character" : "not valid UTF-8"),
                           "scenario files are UTF-8 text");
  }
  return std::nullopt;
}

Diagnostic too_deep(const SourceLocation& where) {
  return make_diagnostic(Code::YamlSyntax, where,
                         fmt::format("nested deeper than {} levels", kDeepestYaml));
}

// The parser notices an open bracket far from it, or takes it for something else.
Diagnostic syntax_problem(const YAML::Exception& error, const FlowBrackets& brackets,
                          const SourcePlaces& places) {
  if (!brackets.open.empty()) {
    const std::size_t offset = brackets.open.back();
    const SourceLocation where = places.at(offset);
    const bool mapping = places.text()[offset] == '{';
    return make_diagnostic(Code::YamlSyntax, where,
                           fmt::format("the {} that opens at {}:{} is never closed",
                                       mapping ? "mapping" : "list", where.line, where.column),
                           fmt::format("add the missing {}", mapping ? '}' : ']'));
  }
  const auto offset = static_cast<std::size_t>(std::max(error.mark.pos, 0));
  return make_diagnostic(Code::YamlSyntax, places.at(offset), "not valid YAML: " + error.msg,
                         syntax_help(error.msg));
}

void refuse_second_document(YAML::Parser& parser, const SourcePlaces& places, Diagnostics& found) {
  Diagnostics ignored;
  TreeBuilder rest(places, ignored);
  while (parser.HandleNextDocument(rest)) {
    const NodePtr root = rest.take_root();
    if (root == nullptr || root->kind == Node::Kind::Null) continue;
    found.push_back(make_diagnostic(Code::YamlSyntax, root->where,
                                    "a second document in a scenario file",
                                    "one file holds one scenario; use variants or two files"));
    return;
  }
}

// Gives the parser of a text to `read`; false when the text is not YAML, which is reported.
template <class Read>
bool parse(const SourceText& source, Read read, Diagnostics& found) {
  std::string_view text = source.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const SourcePlaces places(source.name, text);
  if (auto problem = unreadable_text(source, places)) {
    found.push_back(std::move(*problem));
    return false;
  }
  // The parser needs time quadratic in the depth, so brackets are counted before it starts.
  const FlowBrackets brackets = find_flow_brackets(text, kDeepestYaml);
  if (brackets.open.size() > kDeepestYaml) {
    found.push_back(too_deep(places.at(brackets.open.back())));
    return false;
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    read(parser, places);
  } catch (const YAML::Exception& error) {
    found.push_back(syntax_problem(error, brackets, places));
    return false;
  }
  return true;
}

}  // namespace

const Entry* Node::entry(std::string_view key) const {
  return find_or_null(entries, key, &Entry::key);
}

const Node* Node::find(std::string_view key) const {
  const Entry* found = entry(key);
  return found == nullptr ? nullptr : found->value.get();
}

std::string_view kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::Null:
      return "nothing";
    case Node::Kind::Boolean:
      return "true or false";
    case Node::Kind::Integer:
      return "a whole number";
    case Node::Kind::Float:
      return "a number";
    case Node::Kind::Text:
      return "text";
    case Node::Kind::Map:
      return "a mapping";
    case Node::Kind::List:
      return "a list";
  }
  return "";
}

NodePtr read_document(const SourceText& source, Diagnostics& found, bool is_yaml_1_1) {
  NodePtr root;
  const auto read = [&](YAML::Parser& parser, const SourcePlaces& places) {
    TreeBuilder builder(places, found, is_yaml_1_1);
    parser.HandleNextDocument(builder);
    root = builder.take_root();
    refuse_second_document(parser, places, found);
  };
  if (!parse(source, read, found)) return nullptr;
  if (root != nullptr) return root;
  auto nothing = std::make_shared<Node>();
  nothing->where = {source.name, 1, 1, 1};
  return nothing;
}

std::vector<NodePtr> read_documents(const SourceText& source, Diagnostics& found) {
  std::vector<NodePtr> roots;
  const auto read = [&](YAML::Parser& parser, const SourcePlaces& places) {
    // The parser stands still at a stray comma and finds nothing for ever.
    constexpr int kMostEmpty = 1'000;
    for (int empty = 0; empty <= kMostEmpty;) {
      TreeBuilder builder(places, found, true);
      if (!parser.HandleNextDocument(builder)) return;
      NodePtr root = builder.take_root();
      if (root == nullptr || root->kind == Node::Kind::Null) {
        ++empty;
      } else {
        roots.push_back(std::move(root));
      }
    }
    throw YAML::ParserException(YAML::Mark(), "nothing can be made of the text that is left");
  };
  if (!parse(source, read, found)) roots.clear();
  return roots;
}

}  // namespace slicewise::scenarios
