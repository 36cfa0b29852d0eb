#include "slicewise/scenarios/without_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "slicewise/scenarios/kai_part.hpp"
#include "slicewise/scenarios/scenario.hpp"

#include "../fields/fields.hpp"
#include "../text/document.hpp"
#include "../text/flow_text.hpp"
#include "../text/scalars.hpp"

namespace slicewise::scenarios {
namespace {

// Whether a variable of a pod changes a run.
bool changes_runs(std::string_view variable) {
  return variable == "TF_FORCE_GPU_ALLOW_GROWTH" || variable == "CUDA_VISIBLE_DEVICES" ||
         variable == "NVIDIA_VISIBLE_DEVICES";
}

using WordSet = std::set<std::string, std::less<>>;

// Every key and word of the format: where somebody calls a workload so, nothing is given away.
void add_format_words(const Field& field, std::set<const Field*>& seen, WordSet& words) {
  words.emplace(field.name);
  for (const Word& word : field.words) words.emplace(word.text);
  const FieldList children = field.children();
  if (!seen.insert(children.first).second) return;
  for (const Field& child : children) add_format_words(child, seen, words);
}

bool is_named_by(std::string_view key) {
  return key == "name" || key == "namespace" || key == "unitName";
}

// Whose keys, and values, are the user's.
bool is_free(std::string_view key) {
  return key == "labels" || key == "nodeSelector" || key == "configs" || key == "matchLabels";
}

// That list what the user named by key and value.
bool is_of_taints(std::string_view key) { return key == "taints" || key == "tolerations"; }

// That choose jobs by names that the file of the trace has.
bool is_of_trace(std::string_view key) {
  return key == "users" || key == "groups" || key == "profileBy";
}

// A label or taint that everybody has: "nvidia.com/gpu.present".
bool is_public(std::string_view key) {
  constexpr std::array<std::string_view, 9> kDomains = {
      "nvidia.com", "kubernetes.io", "k8s.io",        "k8s.aws", "amazonaws.com",
      "amazon.com", "karpenter.sh",  "slicewise.dev", "amd.com"};
  const std::string_view domain = key.substr(0, std::min(key.size(), key.find('/')));
  return domain.size() < key.size() && std::ranges::any_of(kDomains, [&](std::string_view known) {
           return domain == known ||
                  (domain.ends_with(known) && domain[domain.size() - known.size() - 1] == '.');
         });
}

std::size_t size_of(const Node& node) { return node.entries.size() + node.items.size(); }

// Of the annotations those that change runs: the others are people's.
bool is_simulated(std::string_view annotation) {
  return annotation == kDoNotDisrupt || annotation == kSafeToEvict || annotation == kKaiFraction ||
         annotation == kKaiMemory || annotation == kKaiDevices;
}

bool is_in_name(char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; }

// The hash of names that random streams hang on: sim/cluster/entity_streams.hpp.
constexpr std::uint32_t kHashStart = 2166136261U;
constexpr std::uint32_t kHashFactor = 16777619U;
constexpr std::uint32_t kHashInverse = 899433627U;  // kHashFactor * kHashInverse = 1
static_assert(kHashFactor * kHashInverse == 1);

std::uint32_t name_hash(std::string_view name, std::uint32_t hash = kHashStart) {
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * kHashFactor;
  return hash;
}

// The nth text of `length` letters and digits.
std::string nth_text(std::uint32_t nth, std::size_t length) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::uint32_t kCount = kLetters.size();
  std::string text(length, 'a');
  for (char& c : text) {
    c = kLetters[nth % kCount];
    nth /= kCount;
  }
  return text;
}

// A name with the same hash, so that all that is random stays: from the start three letters on,
// from the end five back, until both meet.
std::string name_like(std::string_view name, const std::string& start) {
  constexpr std::uint32_t kThree = 36 * 36 * 36;
  constexpr std::uint32_t kMostTries = kThree * 36 * 36;
  std::unordered_map<std::uint32_t, std::uint32_t> after_three;
  for (std::uint32_t n = 0; n < kThree; ++n) {
    after_three.emplace(name_hash(nth_text(n, 3), name_hash(start)), n);
  }
  for (std::uint32_t n = 0; n < kMostTries; ++n) {
    const std::string end = nth_text(n, 5);
    std::uint32_t hash = name_hash(name);
    for (std::size_t at = end.size(); at-- > 0;) {
      hash = (hash * kHashInverse) ^ static_cast<unsigned char>(end[at]);
    }
    const auto met = after_three.find(hash);
    if (met != after_three.end())
      return fmt::format("{}{}{}", start, nth_text(met->second, 3), end);
  }
  return start;
}

class Renaming {
 public:
  explicit Renaming(const Node& document) {
    WordSet format;
    std::set<const Field*> seen;
    add_format_words(scenario_field(), seen, format);
    collect(document, format);
    // Labels are looked at in their order: other names keep it.
    int count = 0;
    for (auto& [name, other] : names_) other = name_like(name, fmt::format("n{:04}", ++count));
  }

  // Each word of a path or an expression by itself. None are "g5" of g5.xlarge and what stands in
  // nvidia.com/gpu.shared.
  std::string in_text(std::string_view text) const {
    if (const auto whole = names_.find(text); whole != names_.end()) return whole->second;
    std::string out;
    while (!text.empty()) {
      const auto with_domain = std::ranges::find_if(names_, [&](const auto& name) {
        return name.first.find('/') != std::string::npos && text.starts_with(name.first);
      });
      if (with_domain != names_.end()) {
        out += with_domain->second;
        text.remove_prefix(with_domain->first.size());
        continue;
      }
      std::size_t length = 0;
      while (length < text.size() && is_in_name(text[length])) ++length;
      const auto known = names_.find(text.substr(0, length));
      const bool leads = length < text.size() && text[length] == '.' && !out.ends_with('.');
      const bool in_domain = out.find('/', out.find_last_of(" =") + 1) != std::string::npos;
      const bool kept = known == names_.end() || leads || in_domain;
      out += kept ? std::string(text.substr(0, length)) : known->second;
      if (length < text.size()) out += text[length++];
      text.remove_prefix(length);
    }
    return out;
  }

  NodePtr in_document(const Node& node, std::string_view key = {}) const {
    auto changed = std::make_shared<Node>(node);
    if (node.kind == Node::Kind::Text && key != "file") changed->text = in_text(node.text);
    changed->entries.clear();
    for (const Entry& entry : node.entries) {
      if (entry.key == "description" || entry.key == "manifest") continue;
      if (key == "annotations") {
        if (is_simulated(entry.key)) changed->entries.push_back(entry);
        continue;
      }
      if (key == "env" && !changes_runs(entry.key)) continue;
      NodePtr value = in_document(*entry.value, entry.key);
      const bool may_go = entry.key == "env" || entry.key == "annotations";
      if (may_go && size_of(*value) == 0 && size_of(*entry.value) > 0) continue;
      changed->entries.push_back({in_text(entry.key), entry.key_where, std::move(value)});
    }
    changed->items.clear();
    for (const NodePtr& item : node.items) {
      const Node* const variable = key == "env" ? item->find("name") : nullptr;
      if (variable != nullptr && !changes_runs(variable->text)) continue;
      changed->items.push_back(in_document(*item, key == "env" ? std::string_view() : key));
    }
    return changed;
  }

  std::vector<std::string> kept() const { return {kept_.begin(), kept_.end()}; }

 private:
  void add(const std::string& name, const WordSet& format) {
    const bool is_ours = !name.empty() && !is_public(name);
    // `gpu: "true"` gives nothing away, and other fields have the same words.
    const bool is_value = name == "true" || name == "false" ||
                          name.find_first_not_of("0123456789.") == std::string::npos;
    if (is_ours && !is_value && !format.contains(name)) names_[name];
  }

  void add_label(const std::string& key, const Node* value, const WordSet& format) {
    add(key, format);
    const bool ours = value != nullptr && value->kind == Node::Kind::Text && !is_public(key);
    if (ours) add(value->text, format);
  }

  void collect(const Node& node, const WordSet& format) {
    for (const Entry& entry : node.entries) {
      if (entry.key == "env" || entry.key == "manifest") continue;
      if (is_of_trace(entry.key) && !entry.value->items.empty()) kept_.insert(entry.key);
      if (is_named_by(entry.key) && entry.value->kind == Node::Kind::Text) {
        add(entry.value->text, format);
      }
      if (is_free(entry.key)) {
        for (const Entry& label : entry.value->entries) {
          add_label(label.key, label.value.get(), format);
        }
      }
      if (is_of_taints(entry.key)) {
        for (const NodePtr& taint : entry.value->items) {
          const Node* const key = taint->find("key");
          if (key != nullptr) add_label(key->text, taint->find("value"), format);
        }
      }
      collect(*entry.value, format);
    }
    for (const NodePtr& item : node.items) collect(*item, format);
  }

  std::map<std::string, std::string, std::less<>> names_;
  WordSet kept_;
};

}  // namespace

Expected<WithoutNames> without_names(const SourceText& source, const std::string& command) {
  Diagnostics syntax;
  const NodePtr document = read_document(source, syntax);
  if (document == nullptr) return tl::unexpected(std::move(syntax));
  const Renaming renaming(*document);
  return WithoutNames{block_text(*renaming.in_document(*document)), renaming.in_text(command),
                      renaming.kept()};
}

}  // namespace slicewise::scenarios
