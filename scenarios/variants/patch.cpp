#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../fields/check_fields.hpp"
#include "../fields/node_values.hpp"
#include "variants.hpp"

namespace slicewise::scenarios {
namespace {

bool has_names(const Node& list) {
  return !list.items.empty() && std::ranges::all_of(list.items, [](const NodePtr& item) {
    return text_at(item.get(), "name").has_value();
  });
}

class Merger {
 public:
  explicit Merger(Findings& findings) : findings_(findings) {}

  // NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
  NodePtr merge(const NodePtr& base, const NodePtr& patch, const std::string& path) {
    if (base == nullptr || base->kind != patch->kind) return without_nulls(patch);
    if (patch->kind == Node::Kind::Map) return merge_maps(*base, *patch, path);
    if (patch->kind == Node::Kind::List && has_names(*base) && has_names(*patch)) {
      return merge_lists(*base, *patch, path);
    }
    return patch;
  }

  NodePtr merge_maps(const Node& base, const Node& patch, const std::string& path) {
    auto result = std::make_shared<Node>(base);
    for (const Entry& change : patch.entries) {
      const auto at = std::ranges::find_if(result->entries,
                                           [&](const Entry& e) { return e.key == change.key; });
      const bool present = at != result->entries.end();
      if (change.value->kind == Node::Kind::Null) {
        if (present) result->entries.erase(at);
        continue;
      }
      const NodePtr value =
          merge(present ? at->value : nullptr, change.value, join_path(path, change.key));
      if (present) {
        *at = {change.key, change.key_where, value};
      } else {
        result->entries.push_back({change.key, change.key_where, value});
      }
    }
    return result;
  }

 private:
  NodePtr merge_lists(const Node& base, const Node& patch, const std::string& path) {
    auto result = std::make_shared<Node>(base);
    for (const NodePtr& change : patch.items) {
      const std::string name = *text_at(change.get(), "name");
      const auto at = std::ranges::find_if(
          result->items, [&](const NodePtr& i) { return text_at(i.get(), "name") == name; });
      if (at != result->items.end()) {
        *at = merge(*at, change, fmt::format("{}.{}", path, name));
        continue;
      }
      std::vector<std::string> names;
      for (const NodePtr& item : base.items) names.push_back(*text_at(item.get(), "name"));
      const auto nearest = nearest_name(name, names);
      findings_.add(Code::PathUnknown, value_place(*change, "name"),
                    fmt::format("{} has no entry \"{}\" to patch{}", path, name,
                                nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
                    "a patch changes entries of spec; it cannot add one");
    }
    return result;
  }

  // A patch that adds a block may say null in it, as one that changes it may.
  // NOLINTNEXTLINE(misc-no-recursion): the reader limits the depth of a document.
  static NodePtr without_nulls(const NodePtr& node) {
    if (node->kind != Node::Kind::Map) return node;
    auto result = std::make_shared<Node>(*node);
    std::erase_if(result->entries,
                  [](const Entry& e) { return e.value->kind == Node::Kind::Null; });
    for (Entry& entry : result->entries) entry.value = without_nulls(entry.value);
    return result;
  }

  Findings& findings_;
};

}  // namespace

NodePtr apply_patch(const NodePtr& base, const Node& patch, Findings& findings) {
  return Merger(findings).merge_maps(*base, patch, "");
}

}  // namespace slicewise::scenarios
