#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "slicewise/models/mig.hpp"

#include "lint_rules.hpp"

// MIG layouts on the GPUs that they are for. mig-parted checks none of this.
namespace slicewise::sim::lint {
namespace {

using models::MigCount;
using models::MigGeometry;
using scenarios::KeyValue;
using scenarios::MigConfigFile;
using scenarios::MigPartFile;

std::vector<MigCount> counts_of(const MigPartFile& part) {
  std::vector<MigCount> counts;
  for (const auto& count : part.counts) {
    counts.push_back({count.resource, static_cast<int>(count.amount)});
  }
  return counts;
}

bool knows_all(const MigGeometry& geometry, const MigPartFile& part) {
  return std::ranges::all_of(part.counts, [&](const auto& count) {
    return std::ranges::find(geometry.profiles, count.resource, &models::MigProfile::name) !=
           geometry.profiles.end();
  });
}

void judge_on(const LintInput& input, const MigPartFile& part, const MigGeometry& geometry,
              const SourceLocation& fallback) {
  const auto placed = models::place_instances(geometry, counts_of(part));
  if (!placed) {
    const models::MigRefusal& refusal = placed.error();
    const bool has_place = refusal.entry && *refusal.entry < part.counts.size();
    const SourceLocation& where = has_place             ? part.counts[*refusal.entry].where
                                  : part.counts.empty() ? fallback
                                                        : part.counts.front().where;
    return input.tell(refusal.code, where,
                      fmt::format("{}: {}", geometry.gpu_model, refusal.message), refusal.help);
  }
  const int used = std::accumulate(
      placed->begin(), placed->end(), 0,
      [](int sum, const auto& instance) { return sum + instance.profile->compute_slices; });
  if (used > 0 && used < geometry.compute_slices) {
    input.tell(Code::MigSlicesUnused, part.counts.front().where,
               fmt::format("{}: {} of {} compute slices are in use", geometry.gpu_model, used,
                           geometry.compute_slices),
               fmt::format("slicewise get mig-profiles --gpu {}", geometry.gpu_model));
  }
}

// By the filter of the entry, or by any GPU that has profiles of these names.
void judge_part(const LintInput& input, const MigPartFile& part) {
  if (!part.enabled || part.counts.empty()) return;
  if (!part.filters.empty()) {
    for (const std::string& filter : part.filters) {
      const MigGeometry* geometry = input.catalogue.find_mig(gpu_of_filter(filter));
      if (geometry != nullptr) judge_on(input, part, *geometry, part.where);
    }
    return;
  }
  const MigGeometry* first = nullptr;
  for (const MigGeometry& geometry : input.catalogue.mig) {
    if (!knows_all(geometry, part)) continue;
    if (models::place_instances(geometry, counts_of(part))) {
      if (first == nullptr) judge_on(input, part, geometry, part.where);
      return;
    }
    if (first == nullptr) first = &geometry;
  }
  if (first != nullptr) return judge_on(input, part, *first, part.where);
  // Boards that EC2 does not have are none of the catalogue's.
  input.tell_as(Severity::Warning, Code::MigConfigUnknown, part.counts.front().where,
                "no GPU of the catalogue has all these profiles",
                "slicewise get mig-profiles lists the profiles of each GPU");
}

void judge_own_layout(const LintInput& input, const NodeOffer& offer, const MigConfigFile& config) {
  for (const models::InstanceType* type : offer.types) {
    const MigGeometry* geometry = input.catalogue.find_mig(type->gpu_model);
    if (geometry == nullptr) continue;
    for (const MigPartFile& part : config.parts) {
      if (part.enabled && part.filters.empty()) judge_on(input, part, *geometry, part.where);
    }
  }
}

void judge_uniform(const LintInput& input, const NodeOffer& offer) {
  if (offer.strategy != "single") return;
  for (const ChosenLayout& layout : offer.layouts) {
    const bool mixed = std::ranges::any_of(
        layout.counts, [&](const auto& c) { return c.first != layout.counts.front().first; });
    if (!mixed && !layout.is_partial) continue;
    input.tell(Code::MigNotUniform, offer.mig_label->where,
               mixed ? "more than one MIG device type present on node"
                     : "all devices on the node must be configured with the same migEnabled value",
               "migStrategy mixed, or one profile for all GPUs of the node");
  }
}

void judge_chosen(const LintInput& input, const NodeOffer& offer) {
  const KeyValue& label = *offer.mig_label;
  if (label.value == "all-disabled") return;
  input.tell(Code::MigDrainFirst, label.where,
             "changing this label on a node in use fails while pods hold its GPUs",
             "cordon and drain first: mig-manager evicts no pod of yours");
  const auto own = std::ranges::find(input.files.mig_configs, label.value, &MigConfigFile::name);
  const bool has_mig = std::ranges::any_of(offer.types, [&](const auto* type) {
    return input.catalogue.find_mig(type->gpu_model) != nullptr;
  });
  if (!offer.types.empty() && !has_mig) {
    return input.tell(
        Code::MigUnsupported, label.where,
        fmt::format("{} has no MIG: the label changes nothing", offer.types.front()->gpu_model),
        "p4d, p4de, p5, p5e, p5en and p6 have it; else use time-slicing");
  }
  if (own != input.files.mig_configs.end()) {
    judge_own_layout(input, offer, *own);
  } else {
    for (const auto* type : offer.types) {
      const MigGeometry* geometry = input.catalogue.find_mig(type->gpu_model);
      if (geometry == nullptr) continue;
      const auto shipped = models::shipped_mig_config(label.value, *geometry);
      if (shipped) continue;
      // A layout of one's own may be in a file that is not here, but all-... is built in.
      const bool may_be_own = input.files.mig_configs.empty() && !label.value.starts_with("all-");
      input.tell_as(may_be_own ? Severity::Warning : Severity::Error, Code::MigConfigUnknown,
                    label.where, shipped.error().message, shipped.error().help);
    }
  }
  judge_uniform(input, offer);
  if (offer.strategy == "none" && !offer.layouts.empty() && offer.config_is_known) {
    input.tell(Code::MigNotAdvertised, label.where,
               "with migStrategy none the plugin counts GPUs, not MIG devices",
               "set migStrategy: single or mixed");
  }
  for (const scenarios::ChartValues& chart : input.files.charts) {
    const bool is_ampere = std::ranges::any_of(
        offer.types, [](const auto* type) { return type->gpu_model.starts_with("A100"); });
    if (!is_ampere || !chart.manages_mig || chart.reboots) continue;
    input.tell(Code::MigNeedsReboot, chart.where,
               "an A100 in EC2 may refuse the reset that its MIG mode needs",
               "migManager.env: [{name: WITH_REBOOT, value: \"true\"}]");
  }
}

// Bottlerocket's name of a board.
std::string_view bottlerocket_model(std::string_view gpu) {
  if (gpu == "A100-SXM4-40GB") return "a100.40gb";
  if (gpu == "A100-SXM4-80GB") return "a100.80gb";
  if (gpu == "H100-SXM5-80GB") return "h100.80gb";
  if (gpu == "H200-SXM-141GB") return "h200.141gb";
  if (gpu == "B200") return "b200.180gb";
  return gpu == "B300" ? "b300.269gb" : "";
}

void judge_bottlerocket(const LintInput& input, const NodeOffer& offer) {
  const scenarios::NodeGroupFile& group = *offer.group;
  for (const models::InstanceType* type : offer.types) {
    const MigGeometry* geometry = input.catalogue.find_mig(type->gpu_model);
    if (geometry == nullptr) {
      input.tell(Code::MigUnsupported, group.bottlerocket_where,
                 fmt::format("{} has no MIG", type->gpu_model),
                 "remove device-partitioning-strategy, or use p4d, p5 or later");
      continue;
    }
    const auto profile = std::ranges::find(group.bottlerocket_mig,
                                           bottlerocket_model(type->gpu_model), &KeyValue::key);
    if (profile == group.bottlerocket_mig.end()) {
      input.tell(Code::BottlerocketMig, group.bottlerocket_where,
                 fmt::format("no mig.profile for {}: it gets the profile for one instance",
                             bottlerocket_model(type->gpu_model)),
                 "add its key; quote it in TOML");
      continue;
    }
    const bool is_count = profile->value.find_first_not_of("0123456789") == std::string::npos;
    const bool known = std::ranges::find(geometry->profiles, profile->value,
                                         &models::MigProfile::name) != geometry->profiles.end();
    if (is_count || known) continue;
    input.tell(Code::MigConfigUnknown, profile->where,
               fmt::format("{} has no profile {}", type->gpu_model, profile->value.substr(0, 40)),
               fmt::format("slicewise get mig-profiles --gpu {}", type->gpu_model));
  }
}

}  // namespace

void lint_mig_layouts(const LintInput& input) {
  for (const MigConfigFile& config : input.files.mig_configs) {
    for (const MigPartFile& part : config.parts) judge_part(input, part);
  }
  for (const NodeOffer& offer : input.offers) {
    if (offer.mig_label != nullptr) judge_chosen(input, offer);
    if (offer.group != nullptr && offer.group->bottlerocket_partitions) {
      judge_bottlerocket(input, offer);
    }
  }
}

}  // namespace slicewise::sim::lint
