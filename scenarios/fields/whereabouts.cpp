#include "whereabouts.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"

#include "../text/flow_text.hpp"
#include "fields.hpp"

namespace slicewise::scenarios {
namespace {

// Looks for a key in the other blocks: where it stands, "slo" for `p95` of a workload.
class Whereabouts {
 public:
  Whereabouts(const Entry& entry, const std::string& path, std::function<bool(const Field&)> suits)
      : key_(entry.key), value_(*entry.value), suits_(std::move(suits)) {
    for (const std::string& name : split_path(path == "spec" ? "" : path)) here_.push_back(name);
  }

  std::string hint(const Field& root) {
    const Field* spec = root.children().find("spec");
    look_in(spec == nullptr ? root.children() : spec->children());
    constexpr std::size_t kMostPlaces = 2;
    if (best_.empty() || best_.size() > kMostPlaces) return {};
    const Found& first = best_.front();
    if (first.place.empty()) {
      return fmt::format("write `{}`{}", first.written,
                         first.others.empty() ? "" : ", or " + first.others);
    }
    std::string text = "it belongs in ";
    for (const Found& found : best_)
      text += (&found == &best_.front() ? "" : ", or in ") + found.place;
    return best_.size() > 1 ? text : fmt::format("{}: write `{}`", text, best_.front().written);
  }

 private:
  struct Found {
    std::string place;     // of the block: "slo", "nodePools.devicePlugin.sharing"; "": the key's
    std::string written;   // as a file would have it, from the block of the key or from spec on
    std::string others{};  // names that the key may stand for as well: "ttftP99, tpotP99"
  };

  // `p95` is meant as latencyP95.
  bool is_meant_by(std::string_view name) const {
    constexpr std::size_t kShortest = 3;
    return name == key_ || (key_.size() >= kShortest && name.size() > key_.size() &&
                            same_name(key_, name.substr(name.size() - key_.size())));
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the table of fields
  void look_in(FieldList fields) {
    for (const Field& field : fields) {
      if (!field.is_taken()) continue;
      if (is_meant_by(field.name)) note(field);
      steps_.push_back(&field);
      look_in(field.children());
      steps_.pop_back();
    }
  }

  void note(const Field& field) {
    std::size_t common = 0;
    while (common < std::min(here_.size(), steps_.size()) &&
           here_[common] == steps_[common]->name) {
      ++common;
    }
    // A key stands too high more often than in a wrong branch.
    constexpr std::size_t kUp = 3;
    const std::size_t up = here_.size() - common;
    const std::size_t far = 2 * (kUp * up + steps_.size() - common) + (field.name == key_ ? 0 : 1);
    if (far > nearest_ || (up > 0 && field.name != key_)) return;
    if (far < nearest_) best_.clear();
    nearest_ = far;
    const std::size_t from = up == 0 ? common : 0;
    Found found{"", field.written_example()};
    if (value_.is_scalar() && suits_(field)) {
      found.written = fmt::format("{}: {}", field.name, flow_text(value_));
    }
    for (std::size_t i = from; i < steps_.size(); ++i) {
      found.place += (found.place.empty() ? "" : ".") + std::string(steps_[i]->name);
    }
    if (found.place.empty() && up > 0) found.place = "spec";
    for (std::size_t i = steps_.size(); i > from; --i) {
      const bool list = steps_[i - 1]->type == FieldType::Blocks;
      found.written = fmt::format("{}: {}{{{}}}{}", steps_[i - 1]->name, list ? "[" : "",
                                  found.written, list ? "]" : "");
    }
    // Of several of one block the first is the most usual: latencyP95 before ttftP95.
    const auto same = std::ranges::find(best_, found.place, &Found::place);
    if (same == best_.end()) return best_.push_back(std::move(found));
    if (!suits_(field)) return;
    same->others += (same->others.empty() ? "" : ", ") + std::string(field.name);
  }

  std::string_view key_;
  const Node& value_;
  std::function<bool(const Field&)> suits_;
  std::vector<std::string> here_;
  std::vector<const Field*> steps_;  // to the block that is looked at
  std::vector<Found> best_;
  std::size_t nearest_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::string whereabouts(const Field& root, const Entry& entry, const std::string& path,
                        std::function<bool(const Field&)> suits) {
  return Whereabouts(entry, path, std::move(suits)).hint(root);
}

}  // namespace slicewise::scenarios
