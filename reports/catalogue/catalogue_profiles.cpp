#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::Catalogue;
using models::WorkloadProfile;
using nlohmann::json;

json profile_item(const WorkloadProfile& profile) {
  json item = {{"name", profile.name},       {"title", profile.title},
               {"kind", profile.kind},       {"source", profile.source},
               {"sourceDate", profile.date}, {"provenance", profile.provenance}};
  const auto put = [&item](const char* key, const auto& value) {
    if (value) item[key] = *value;
  };
  const auto put_time = [&item](const char* key, const std::optional<Duration>& value) {
    if (value) item[key] = static_cast<double>(value->ns) / 1e9;
  };
  if (!profile.gpu_model.empty()) item["gpuModel"] = profile.gpu_model;
  if (!profile.precision.empty()) item["precision"] = profile.precision;
  if (!profile.note.empty()) item["note"] = profile.note;
  if (!profile.unusable.empty()) item["notRunnable"] = profile.unusable;
  put("batch", profile.batch);
  put("itemsPerStep", profile.items_per_step);
  put("throughputPerSecond", profile.throughput_per_second);
  put_time("soloStepSeconds", profile.solo_step);
  put_time("fixedSeconds", profile.fixed_part);
  put_time("gpuWorkSeconds", profile.gpu_work);
  put("normP", profile.norm_p);
  put("capacityShare", profile.capacity_share);
  put("bandwidthShare", profile.bandwidth_share);
  put("duty", profile.duty);
  put("requestDuty", profile.request_duty);
  put_time("burstSeconds", profile.burst);
  put_time("idleSeconds", profile.idle);
  if (profile.memory) item["memoryBytes"] = profile.memory->count;
  return item;
}

std::string time_cell(const std::optional<Duration>& time) {
  return time ? number_cell(to_seconds(*time) * 1e3, 2) : "-";
}

// "measured", "fitted", "estimate", ...: the first word on where the step time comes from.
std::string basis_cell(const WorkloadProfile& profile) {
  for (const char* figure : {"soloMs", "*"}) {
    const auto found = profile.provenance.find(figure);
    if (found != profile.provenance.end()) {
      return found->second.substr(0, found->second.find_first_of(" ;,:"));
    }
  }
  return "-";
}

// What stands behind the cut, GPU and batch, has columns of its own.
std::string name_cell(const WorkloadProfile& profile, bool wide, const TextStyle& style) {
  constexpr std::size_t kLongestName = 36;  // names are ASCII
  if (wide || style.width == 0 || profile.name.size() <= kLongestName) return profile.name;
  const std::string_view dots = style.unicode ? "…" : "...";
  return profile.name.substr(0, kLongestName - (style.unicode ? 1 : dots.size())) +
         std::string(dots);
}

std::vector<std::string> profile_cells(const WorkloadProfile& profile, bool wide,
                                       const TextStyle& style) {
  return {name_cell(profile, wide, style),
          profile.kind,
          profile.gpu_model.empty() ? "any" : profile.gpu_model,
          profile.batch ? std::to_string(*profile.batch) : "-",
          time_cell(profile.solo_step),
          number_cell(profile.capacity_share, 2),
          profile.memory ? memory_cell(profile.memory) : "-",
          basis_cell(profile),
          time_cell(profile.fixed_part),
          time_cell(profile.gpu_work),
          number_cell(profile.norm_p, 1),
          number_cell(profile.bandwidth_share, 2),
          number_cell(profile.duty, 2),
          number_cell(profile.throughput_per_second, 1),
          profile.precision.empty() ? "-" : profile.precision,
          profile.source};
}

struct ProfileEntry {
  WorkloadProfile profile;
  json item;
};

std::vector<ProfileEntry> profile_entries(const Catalogue& catalogue) {
  std::vector<ProfileEntry> entries;
  for (const WorkloadProfile& profile : catalogue.profiles) {
    entries.push_back({profile, profile_item(profile)});
  }
  for (const models::LlmModel& model : catalogue.llm_models) {
    entries.push_back({llm_as_profile(model), llm_item(model)});
  }
  return entries;
}

Diagnostics check_profiles(const Catalogue& catalogue, const std::vector<ProfileEntry>& entries,
                           const std::string& kind, const std::string& gpu) {
  Diagnostics problems;
  std::set<std::string> kinds;
  bool published = false;  // on a GPU that EC2 does not offer
  for (const ProfileEntry& entry : entries) {
    kinds.insert(entry.profile.kind);
    published = published || lower_case(entry.profile.gpu_model) == lower_case(gpu);
  }
  if (!kind.empty() && !kinds.contains(kind)) {
    problems.push_back(make_diagnostic(Code::EnumUnknown, {},
                                       fmt::format("no workload profile is of kind {}", kind),
                                       fmt::format("one of {}", fmt::join(kinds, ", "))));
  }
  if (!gpu.empty() && !published && catalogue.find_gpu(gpu) == nullptr) {
    problems.push_back(unknown_gpu(catalogue, gpu));
  }
  return problems;
}

Diagnostic unknown_filter(const std::vector<ProfileEntry>& entries, const std::string& name) {
  std::vector<std::string> names;
  for (const ProfileEntry& entry : entries) {
    names.push_back(entry.profile.name.substr(0, entry.profile.name.find('/')));
    names.push_back(entry.profile.name);
  }
  return unknown_profile(names, name);
}

// "Not runnable, no figures for A40: a, b."
std::vector<std::string> not_runnable_notes(const std::vector<json>& items) {
  std::map<std::string, std::vector<std::string>> names;
  for (const json& item : items) {
    if (!item.contains("notRunnable")) continue;
    names[item.at("notRunnable").get<std::string>()].push_back(item.at("name").get<std::string>());
  }
  std::vector<std::string> notes;
  notes.reserve(names.size());
  for (const auto& [reason, profiles] : names) {
    notes.push_back(fmt::format("Not runnable, {}: {}.", reason, fmt::join(profiles, ", ")));
  }
  return notes;
}

}  // namespace

Expected<std::string> list_profiles(const Catalogue& catalogue, const std::string& kind,
                                    const std::string& gpu, const std::string& name_filter,
                                    ListFormat format, const TextStyle& style) {
  const std::vector<ProfileEntry> entries = profile_entries(catalogue);
  const Diagnostics problems = check_profiles(catalogue, entries, kind, gpu);
  if (!problems.empty()) return tl::unexpected(problems);

  const models::GpuModel* model = catalogue.find_gpu(gpu);
  const std::string wanted_gpu = lower_case(model == nullptr ? gpu : model->name);
  const bool wide = format == ListFormat::Wide;
  Listing listing;
  listing.kind = "WorkloadProfileList";
  listing.name_key = "name";
  listing.csv_header =
      "name,title,kind,gpuModel,batch,precision,itemsPerStep,throughputPerSecond,"
      "soloStepSeconds,fixedSeconds,gpuWorkSeconds,normP,capacityShare,bandwidthShare,duty,"
      "memoryBytes,notRunnable,burstSeconds,idleSeconds,source,note,weightsSeconds,"
      "tokenSeconds,kvReadSeconds,overheadSeconds,kvBytesPerToken";
  listing.columns = {
      {"NAME", false, 0},    {"KIND", false, 4},   {"GPU", false, 1},       {"BATCH", true, 1},
      {"STEP-MS", true, 0},  {"U", true, 2},       {"MEMORY", true, 1},     {"BASIS", false, 3},
      {"FIXED-MS", true, 0}, {"WORK-MS", true, 0}, {"P", true, 0},          {"BETA", true, 0},
      {"DUTY", true, 0},     {"ITEMS/S", true, 0}, {"PRECISION", false, 0}, {"SOURCE", false, 0}};
  listing.wide_columns = 8;
  std::set<std::string> measured_on;
  bool name_seen = name_filter.empty();
  for (const auto& [profile, item] : entries) {
    const std::string text = lower_case(profile.name + " " + profile.title);
    if (text.find(lower_case(name_filter)) == std::string::npos) continue;
    name_seen = true;
    if (!kind.empty() && profile.kind != kind) continue;
    measured_on.insert(profile.gpu_model);
    if (!gpu.empty() && lower_case(profile.gpu_model) != wanted_gpu) continue;
    listing.items.push_back(item);
    listing.rows.push_back(profile_cells(profile, wide, style));
  }
  if (!name_seen) return tl::unexpected(Diagnostics{unknown_filter(entries, name_filter)});
  listing.nothing = "No workload profile matches" +
                    (measured_on.empty() ? std::string(": --kind and the name exclude each other.")
                                         : fmt::format("; of these there are some for {}.",
                                                       fmt::join(measured_on, ", ")));
  listing.footnotes = not_runnable_notes(listing.items);
  if (!wide && style.width > 0) {
    listing.footnotes.emplace_back("Names are cut to fit: -o wide and -o name show them in full.");
  }
  listing.footnotes.emplace_back(
      "STEP-MS: one step alone on the whole GPU; U: share of the GPU's capacity that it uses; "
      "BASIS: where the step time comes from (-o json: every figure). Of an llm: one sequence "
      "decoded by itself, and its weights.");
  return render(listing, format, style);
}

}  // namespace slicewise::reports
