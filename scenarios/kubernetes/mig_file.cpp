#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "../fields/check_scalar.hpp"
#include "../text/scalars.hpp"
#include "manifest_reader.hpp"

// Files of mig-parted, which are read strictly: one bad entry disables the whole file.
// Source: github.com/NVIDIA/mig-parted api/spec/v1/spec.go, v0.15.0.
namespace slicewise::scenarios::manifests {
namespace {

constexpr std::size_t kMostShown = 40;

void refuse(Context& context, const SourceLocation& where, std::string message,
            const std::string& help = {}) {
  report(context, Code::MigFileInvalid, where, std::move(message),
         help.empty() ? "mig-parted refuses the whole file" : help);
}

void read_counts(Context& context, const Node& counts, MigPartFile& part) {
  std::int64_t total = 0;
  for (const Entry& entry : counts.entries) {
    const std::string shown = entry.key.substr(0, kMostShown);
    if (!is_mig_profile(entry.key)) {
      refuse(context, entry.key_where, fmt::format("invalid format for '{}'", shown),
             "profiles look like 1g.5gb or 1g.5gb+me, with a plus sign; the whole file fails");
      continue;
    }
    if (entry.key.find("c.") < entry.key.find("g.")) {  // 1c.3g.20gb
      report(context, Code::MigComputeInstance, entry.key_where,
             fmt::format("MIG profile '{}' does not match any resource patterns", shown),
             "the device plugin knows GPU instances only: 1g, 2g, 3g, 4g, 7g");
      continue;
    }
    if (entry.key == "7g.79gb" || entry.key == "4g.39gb" || entry.key == "3g.39gb") {
      report(context, Code::MigNameDrift, entry.key_where,
             fmt::format("{} is a name of driver 510; later drivers round the memory up", shown),
             "7g.80gb and 3g.40gb on boards of 80 GB");
    }
    const auto count = entry.value == nullptr || entry.value->kind != Node::Kind::Integer
                           ? std::nullopt
                           : whole_of(entry.value->text);
    if (!count || *count < 0) {
      refuse(context, entry.value == nullptr ? entry.key_where : entry.value->where,
             fmt::format("the count of {} is no whole number", shown));
      continue;
    }
    constexpr std::int64_t kMostInstances = 64;
    if (*count > kMostInstances) {
      report(context, Code::MigLayoutImpossible, entry.value->where,
             fmt::format("no GPU has room for {} x {}", *count, shown),
             "a GPU holds at most 7 instances");
      total += 1;
      continue;
    }
    total += *count;
    part.counts.push_back({entry.key, *count, entry.key_where});
  }
  if (!counts.entries.empty() && total == 0 && !part.counts.empty()) {
    refuse(context, counts.where, "all counts for all MigProfiles are 0");
  }
}

void read_devices(Context& context, const Node& devices, MigPartFile& part) {
  if (is_list(&devices)) {
    part.devices.emplace();
    for (const NodePtr& item : devices.items) {
      const auto index = item->kind == Node::Kind::Integer ? whole_of(item->text) : std::nullopt;
      if (!index || *index < 0) {
        refuse(context, item->where, "devices takes `all` or a list of whole numbers");
      } else {
        part.devices->push_back(*index);
      }
    }
  } else if (devices.text != "all" || devices.kind != Node::Kind::Text) {
    refuse(context, devices.where,
           fmt::format("invalid string input for 'devices': {}", devices.text.substr(0, 40)),
           "devices takes all or a list: [0, 1]; the whole file fails");
  }
}

void read_filter(Context& context, const Node& filter, MigPartFile& part) {
  const auto take = [&](const Node& value) {
    if (value.kind != Node::Kind::Text) {
      refuse(context, value.where, "a device-filter is text: put it in quotes",
             "device-filter: [\"0x20B010DE\"]; YAML reads it as a number without quotes");
    } else {
      part.filters.push_back(value.text);
    }
  };
  if (!is_list(&filter)) return take(filter);
  for (const NodePtr& value : filter.items) take(*value);
}

void read_part(Context& context, const Node& item, MigConfigFile& config) {
  if (!is_map(&item)) return refuse(context, item.where, "an entry is a mapping");
  MigPartFile part;
  part.where = item.where;
  const FieldList fields = pool_fields({"mig", "configs"});
  for (const Field& field : fields) {
    if (field.required && item.entry(field.name) == nullptr) {
      refuse(context, item.where, fmt::format("missing required field: {}", field.name));
    }
  }
  for (const Entry& entry : item.entries) {
    if (fields.find(entry.key) == nullptr) {
      refuse(context, entry.key_where,
             fmt::format("unexpected field: {}", entry.key.substr(0, kMostShown)));
    }
  }
  if (const Node* filter = item.find("device-filter")) read_filter(context, *filter, part);
  if (const Node* devices = item.find("devices")) read_devices(context, *devices, part);
  part.enabled = is_true(item.find("mig-enabled"));
  const Node* counts = item.find("mig-devices");
  if (part.enabled && !is_map(counts)) {
    refuse(context, place_below(item, {"mig-enabled"}),
           "missing required field 'mig-devices' when 'mig-enabled' is true",
           "mig-devices: {} turns MIG on without instances; the whole file fails");
  }
  if (is_map(counts)) {
    if (!part.enabled && !counts->entries.empty()) {
      refuse(context, item.entry("mig-devices")->key_where,
             "MIG devices included when 'mig-enabled' is false");
    }
    read_counts(context, *counts, part);
  }
  config.parts.push_back(std::move(part));
}

// Entries for the same boards alone: a filter may tell them apart.
void judge_twice_listed(Context& context, const MigConfigFile& config) {
  for (auto part = config.parts.begin(); part != config.parts.end(); ++part) {
    for (const std::int64_t index : part->devices.value_or(std::vector<std::int64_t>{})) {
      const auto first = std::find_if(config.parts.begin(), part, [&](const MigPartFile& other) {
        return other.filters == part->filters && other.devices &&
               std::ranges::find(*other.devices, index) != other.devices->end();
      });
      if (first == part) continue;
      return warn(context, Code::SettingConflict, part->where,
                  fmt::format("GPU {} is in two entries of {}: it can have the layout of one",
                              index, config.name.substr(0, kMostShown)),
                  "name each GPU once");
    }
  }
}

// GPUs of the node that no entry names.
void judge_unlisted(Context& context, const MigConfigFile& config) {
  std::vector<std::int64_t> listed;
  for (const MigPartFile& part : config.parts) {
    if (!part.devices) return;
    listed.insert(listed.end(), part.devices->begin(), part.devices->end());
  }
  std::ranges::sort(listed);
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  const auto count = static_cast<std::int64_t>(listed.size());
  if (listed.empty()) return;
  // EC2 has types with 1, 2, 4 and 8 of these GPUs; indexes above them are of none.
  constexpr std::int64_t kMostGpus = 8;
  const bool is_whole_node =
      listed.back() == count - 1 && (count >= kMostGpus || (count & (count - 1)) == 0);
  if (is_whole_node && count > 1) return;
  report(
      context, Code::MigDevicesUnlisted, config.where,
      fmt::format("{} says nothing about some GPUs of a node", config.name.substr(0, kMostShown)),
      "add the rest with mig-enabled: false");
}

}  // namespace

bool is_mig_file(const Node& document) {
  return document.kind == Node::Kind::Map && document.entry("mig-configs") != nullptr;
}

void read_mig_file(Context& context, const Node& document) {
  const Node* version = document.find("version");
  if (version == nullptr) {
    refuse(context, document.where, "unable to parse with missing 'version' field",
           "add version: v1; without it the whole file fails");
  } else if (version->text != "v1") {
    refuse(context, version->where,
           fmt::format("unknown version: {}", version->text.substr(0, kMostShown)));
  }
  for (const Entry& entry : document.entries) {
    if (entry.key == "version" || entry.key == "mig-configs") continue;
    refuse(context, entry.key_where,
           fmt::format("unexpected field: {}", entry.key.substr(0, kMostShown)));
  }
  const Node* configs = document.find("mig-configs");
  if (!is_map(configs) || configs->entries.empty()) {
    return refuse(context, place_below(document, {"mig-configs"}),
                  "at least one entry in 'mig-configs' is required");
  }
  for (const Entry& entry : configs->entries) {
    MigConfigFile config{entry.key, entry.key_where, {}, entry.value};
    if (!is_list(entry.value.get()) || entry.value->items.empty()) {
      refuse(
          context, entry.key_where,
          fmt::format("at least one entry in '{}' is required", entry.key.substr(0, kMostShown)));
      continue;
    }
    for (const NodePtr& item : entry.value->items) read_part(context, *item, config);
    judge_unlisted(context, config);
    judge_twice_listed(context, config);
    context.files.mig_configs.push_back(std::move(config));
  }
}

}  // namespace slicewise::scenarios::manifests
