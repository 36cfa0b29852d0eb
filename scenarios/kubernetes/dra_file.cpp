#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../blocks/blocks.hpp"
#include "../fields/bind.hpp"
#include "../text/findings.hpp"
#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// Claims on GPUs by DRA, and metrics that objects ask for. Source of the fields:
// github.com/kubernetes-sigs/dra-driver-nvidia-gpu api/nvidia.com/resource/v1beta1.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::array<std::string_view, 3> kParameters = {"apiVersion", "kind", "sharing"};
void refuse_unknown(Context& context, const Node* mapping,
                    std::span<const std::string_view> known) {
  for (const Entry& entry : entries_of(mapping)) {
    if (std::ranges::find(known, std::string_view(entry.key)) != known.end()) continue;
    report(context, Code::DraParameterUnknown, entry.key_where,
           fmt::format("strict decoding error: unknown field \"{}\"", entry.key.substr(0, 60)),
           "the driver refuses the claim when the pod is already placed");
  }
}

FieldList sharing_fields() { return kResourceClaim.find("sharing")->children(); }

std::optional<ClaimSharing> sharing_of(const Node* sharing) {
  const FieldList fields = sharing_fields();
  if (fields.find("strategy")->words.find(text_below(sharing, {"strategy"})) == nullptr) {
    return std::nullopt;
  }
  ClaimSharing read;
  Findings told_by_schema;
  Reading reading{told_by_schema};
  read_block(fields, *sharing, sharing->where, read, reading);
  return read;
}

// Of a claim or class, and what is wrong with them by themselves.
void read_selectors(Context& context, const Node* list, ClaimFile& file) {
  for (const Node* item : items_of(list)) {
    const Located<std::string> expression = located_below(item, {"cel", "expression"});
    if (expression.value.empty()) continue;
    file.claim.selectors.push_back(expression);
    const auto problem = selector_problem(expression.value);
    if (!problem) continue;
    if (file.refused.value.empty()) file.refused = {problem->message, expression.where};
    Diagnostic told =
        make_diagnostic(Code::DraSelector, expression.where, problem->message, problem->help);
    if (!problem->is_wrong) told.severity = Severity::Note;
    report(context, std::move(told));
  }
}

// The one request of a claim: as resource.k8s.io/v1 has it, or v1beta1, without `exactly`.
void read_request(Context& context, const Node* devices, ClaimFile& file) {
  const auto refuse = [&](const Node* node, std::string what) {
    if (file.refused.value.empty()) file.refused = {std::move(what), node->where};
  };
  const Node* requests = node_below(devices, {"requests"});
  if (!is_list(requests) || requests->items.empty()) return;
  if (requests->items.size() > 1) refuse(requests, "claims with several requests");
  const Node* request = requests->items.front().get();
  if (request->find("firstAvailable") != nullptr) {
    return refuse(request, "claims that take the first available of several requests");
  }
  const Node* exactly = request->find("exactly") == nullptr ? request : request->find("exactly");
  file.device_class = located_below(exactly, {"deviceClassName"});
  const auto count = whole_of(text_below(exactly, {"count"}));
  file.claim.count = static_cast<int>(std::clamp<std::int64_t>(count.value_or(1), 1, 64));
  if (text_below(exactly, {"allocationMode"}) == "All") refuse(exactly, "claims of all devices");
  if (is_true(node_below(exactly, {"adminAccess"}))) refuse(exactly, "claims with adminAccess");
  if (exactly->find("capacity") != nullptr) refuse(exactly, "claims of parts of a device");
  if (file.claim.count > 1 && node_below(devices, {"constraints"}) != nullptr) {
    refuse(devices, "claims with constraints between their devices");
  }
  read_selectors(context, node_below(exactly, {"selectors"}), file);
}

void read_parameters(Context& context, const Node& parameters, const std::string& claim,
                     std::string_view kind) {
  const std::string type = text_below(&parameters, {"kind"});
  if (type != "GpuConfig" && type != "MigDeviceConfig") return;
  const std::size_t known = context.files.problems.size();
  refuse_unknown(context, &parameters, kParameters);
  const Node* sharing = parameters.find("sharing");
  refuse_unknown(context, sharing, names_of(sharing_fields()));
  for (const std::string_view settings : {"timeSlicingConfig", "mpsConfig"}) {
    refuse_unknown(context, node_below(sharing, {settings}),
                   names_of(sharing_fields().find(settings)->children()));
  }
  check_by_schema(context, parameters, known);
  const Located<std::string> strategy = located_below(sharing, {"strategy"});
  if (strategy.value.empty()) return;
  context.files.dra.push_back(
      {claim, kind == "ResourceClaimTemplate", strategy.value, strategy.where});
}

bool is_name_character(char c) { return is_letter_or_digit(c) || c == '_' || c == ':'; }

// Where `word` stands by itself; npos when it does not.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_name_character(text[at - 1]);
    if (starts && (end == text.size() || !is_name_character(text[end]))) return at;
  }
  return text.npos;
}

// "sum by (pod) (...)" and "sum(...) by (namespace, pod)".
bool sums_by_pod(std::string_view text) {
  if (find_word(text, "sum") == text.npos) return false;
  for (std::size_t at = find_word(text, "by"); at != text.npos;
       at = find_word(text, "by", at + 2)) {
    const std::size_t open = text.find_first_not_of(" \t", at + 2);
    if (open == text.npos || text[open] != '(') continue;
    const std::string_view labels = text.substr(open, text.find(')', open) - open);
    if (find_word(labels, "pod") != labels.npos ||
        find_word(labels, "exported_pod") != labels.npos) {
      return true;
    }
  }
  return false;
}

// The metrics of a text that nobody exports by default, or not on MIG. A line of an exporter's own
// list of counters is "NAME, gauge, help".
void note_metrics(Context& context, const Node& text) {
  constexpr std::array<std::string_view, 3> kMetrics = {
      "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_DEV_GPU_UTIL"};
  if (text.kind != Node::Kind::Text || text.text.find("DCGM_FI_") == std::string::npos) return;
  const bool by_pod = sums_by_pod(text.text);
  std::array<bool, kMetrics.size()> used{};
  std::string_view rest = text.text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('#')) continue;
    for (std::size_t m = 0; m < kMetrics.size(); ++m) {
      const std::size_t at = find_word(line, kMetrics[m]);
      if (at == line.npos) continue;
      const std::size_t next = line.find_first_not_of(" \t", kMetrics[m].size());
      if (at == 0 && next != line.npos && line[next] == ',') {
        context.files.counters.emplace_back(kMetrics[m]);
      } else {
        used[m] = true;
      }
    }
  }
  for (std::size_t m = 0; m < kMetrics.size(); ++m) {
    if (used[m]) context.files.metrics.push_back({std::string(kMetrics[m]), by_pod, text.where});
  }
}

void add_names(const Node* list, std::vector<Located<std::string>>& names) {
  for (const Node* item : items_of(list)) names.push_back(located_below(item, {"name"}));
}

}  // namespace

void read_dra(Context& context, const Node& object, std::string_view kind) {
  const std::string name = text_below(&object, {"metadata", "name"});
  const Node* spec = object.find("spec");
  if (kind == "ResourceClaimTemplate") spec = node_below(spec, {"spec"});
  const bool is_class = kind == "DeviceClass";
  const Node* devices = is_class ? spec : node_below(spec, {"devices"});
  ClaimFile file;
  file.kind = kind;
  file.space = text_below(&object, {"metadata", "namespace"});
  file.claim.name = located_below(&object, {"metadata", "name"});
  file.claim.is_template = kind == "ResourceClaimTemplate";
  file.claim.where = object.where;
  if (is_class) {
    read_selectors(context, node_below(devices, {"selectors"}), file);
  } else {
    read_request(context, devices, file);
  }
  const Node* configs = node_below(devices, {"config"});
  for (const Node* config : items_of(configs)) {
    const Node* opaque = node_below(config, {"opaque"});
    const Node* parameters = node_below(opaque, {"parameters"});
    if (text_below(opaque, {"driver"}) != kDraDriver || !is_map(parameters)) continue;
    read_parameters(context, *parameters, name, kind);
    if (auto sharing = sharing_of(parameters->find("sharing"))) file.claim.sharing = *sharing;
  }
  context.files.claims.push_back(std::move(file));
}

// The API server refuses a container's claim that the pod does not have.
void judge_claims_of(Context& context, const Node& pod_spec) {
  if (!is_list(pod_spec.find("containers"))) return;  // of an operator, which makes them
  std::vector<Located<std::string>> used;
  for (const std::string_view key : {"initContainers", "containers"}) {
    for (const Node* container : items_of(pod_spec.find(key))) {
      add_names(node_below(container, {"resources", "claims"}), used);
    }
  }
  std::vector<Located<std::string>> there;
  add_names(pod_spec.find("resourceClaims"), there);
  std::vector<std::string> names;
  for (const Located<std::string>& claim : there) {
    const std::string name = names.emplace_back(claim.value).substr(0, 60);
    if (std::ranges::find(used, claim.value, &Located<std::string>::value) != used.end()) continue;
    report(context,
           make_diagnostic(
               Code::DraClaimUnused, claim.where,
               fmt::format("no container uses the claim \"{}\": the pod has its device, and no "
                           "container sees it",
                           name),
               fmt::format("resources: {{claims: [{{name: {}}}]}} in the container", name)));
  }
  for (const Located<std::string>& claim : used) {
    if (std::ranges::find(names, claim.value) != names.end()) continue;
    const auto near = nearest_name(claim.value, names);
    report(
        context,
        make_diagnostic(
            Code::DraClaimUnknown, claim.where,
            fmt::format("the pod has no claim \"{}\" in resourceClaims: the API server refuses it",
                        claim.value.substr(0, 60)),
            near ? fmt::format("did you mean {}?", *near) : "name it under spec.resourceClaims"));
  }
}

void read_slice(Context& context, const Node& object) {
  const Node* spec = object.find("spec");
  if (text_below(spec, {"driver"}) != kDraDriver) return;
  for (const Node* device : items_of(node_below(spec, {"devices"}))) {
    // Up to v1beta1 what a device has is below `basic`.
    if (const Node* basic = node_below(device, {"basic"}); is_map(basic)) device = basic;
    const Node* has = node_below(device, {"attributes"});
    if (text_below(has, {"type", "string"}) == "vfio") continue;
    const auto memory = parse_bytes(text_below(device, {"capacity", "memory", "value"}));
    const std::string parent = text_below(has, {"parentUUID", "string"});
    context.files.devices.push_back(
        {text_below(spec, {"nodeName"}),
         {text_below(has, {"productName", "string"}), text_below(has, {"architecture", "string"}),
          text_below(has, {"cudaComputeCapability", "version"}),
          text_below(has, {"profile", "string"}), memory.value_or(Bytes{})},
         parent.empty() ? text_below(has, {"uuid", "string"}) : parent});
  }
}

// NOLINTNEXTLINE(misc-no-recursion): the reader bounds the depth
void read_metrics(Context& context, const Node& document) {
  note_metrics(context, document);
  for (const Entry& entry : document.entries) {
    if (entry.value != nullptr) read_metrics(context, *entry.value);
  }
  for (const NodePtr& item : document.items) read_metrics(context, *item);
}

}  // namespace slicewise::scenarios::manifests
