#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::Catalogue;
using models::MigGeometry;
using models::MigProfile;
using nlohmann::json;

// The geometry that a GPU model, an alias or an instance type names.
Expected<const MigGeometry*> geometry_of(const Catalogue& catalogue, const std::string& name) {
  const models::InstanceType* type = catalogue.find_instance(name);
  const std::string gpu = type == nullptr ? name : type->gpu_model;
  if (const MigGeometry* geometry = catalogue.find_mig(gpu)) return geometry;
  const models::GpuModel* model = catalogue.find_gpu(gpu);
  if (model == nullptr) return tl::unexpected(Diagnostics{unknown_gpu(catalogue, gpu)});
  const char* what = model->supports_mig ? "MIG profiles that are known" : "MIG";
  std::vector<std::string> with_mig;
  for (const MigGeometry& geometry : catalogue.mig) {
    if (catalogue.find_gpu(geometry.gpu_model) != nullptr) with_mig.push_back(geometry.gpu_model);
  }
  return failure(Code::MigUnsupported, {},
                 type == nullptr ? fmt::format("{} has no {}", gpu, what)
                                 : fmt::format("{} has {}, which has no {}", name, gpu, what),
                 fmt::format("GPUs with MIG on EC2: {}", fmt::join(with_mig, ", ")));
}

std::vector<int> starts_of(const MigProfile& profile) {
  std::vector<int> starts;
  for (const MigProfile::Placement& placement : profile.placements) {
    starts.push_back(placement.start);
  }
  return starts;
}

json mig_item(const MigGeometry& geometry, const MigProfile& profile) {
  json item = {{"gpuModel", geometry.gpu_model},
               {"name", profile.name},
               {"resource", profile.resource_mixed},
               {"computeSlices", profile.compute_slices},
               {"memorySlices", profile.memory_slices},
               {"maxCount", profile.max_count},
               {"mediaExtensions", profile.media_extensions},
               {"confidence", profile.confidence},
               {"placementStarts", starts_of(profile)},
               {"sources", geometry.sources},
               {"sourceDate", geometry.date}};
  if (profile.gi_profile_id) item["giProfileId"] = *profile.gi_profile_id;
  if (profile.sm_count) item["smCount"] = *profile.sm_count;
  if (profile.memory) item["memoryBytes"] = profile.memory->count;
  if (profile.copy_engines) item["copyEngines"] = *profile.copy_engines;
  if (profile.nvdec) item["nvdec"] = *profile.nvdec;
  if (!profile.note.empty()) item["note"] = profile.note;
  return item;
}

std::string count_cell(const std::optional<int>& count) {
  return count ? std::to_string(*count) : "-";
}

std::vector<std::string> mig_cells(const MigGeometry& geometry, const MigProfile& profile) {
  return {geometry.gpu_model,
          profile.name,
          profile.resource_mixed,
          fmt::format("{}/{}", profile.compute_slices, geometry.compute_slices),
          fmt::format("{}/{}", profile.memory_slices, geometry.memory_slices),
          count_cell(profile.sm_count),
          memory_cell(profile.memory),
          std::to_string(profile.max_count),
          fmt::format("{}", fmt::join(starts_of(profile), ",")),
          count_cell(profile.gi_profile_id),
          count_cell(profile.copy_engines),
          count_cell(profile.nvdec),
          profile.confidence,
          profile.note};
}

}  // namespace

Expected<std::string> list_mig_profiles(const Catalogue& catalogue, const std::string& gpu,
                                        ListFormat format, const TextStyle& style) {
  const MigGeometry* wanted = nullptr;
  if (!gpu.empty()) {
    const auto found = geometry_of(catalogue, gpu);
    if (!found) return tl::unexpected(found.error());
    wanted = *found;
  }
  Listing listing;
  listing.kind = "MigProfileList";
  listing.name_key = "name";
  listing.csv_header =
      "gpuModel,name,resource,giProfileId,computeSlices,memorySlices,smCount,memoryBytes,"
      "maxCount,copyEngines,nvdec,mediaExtensions,placementStarts,confidence,note";
  listing.columns = {{"GPU", false, 0},        {"PROFILE", false, 0},     {"RESOURCE", false, 3},
                     {"COMPUTE", true, 1},     {"MEM-SLICES", true, 2},   {"SMS", true, 1},
                     {"MEMORY", true, 0},      {"MAX", true, 0},          {"STARTS-AT", false, 2},
                     {"GI-ID", true, 0},       {"COPY-ENGINES", true, 0}, {"NVDEC", true, 0},
                     {"CONFIDENCE", false, 0}, {"NOTE", false, 0}};
  listing.wide_columns = 5;
  listing.footnotes = {
      "Instances must sit at one of their STARTS-AT memory slices without overlap, at most MAX of "
      "a profile. 3g takes 4 of the 8 memory slices, so 3g + 3g leaves a compute slice unused."};
  for (const MigGeometry& geometry : catalogue.mig) {
    if (wanted != nullptr && &geometry != wanted) continue;
    for (const MigProfile& profile : geometry.profiles) {
      listing.items.push_back(mig_item(geometry, profile));
      listing.rows.push_back(mig_cells(geometry, profile));
    }
  }
  const bool gaps = std::ranges::any_of(listing.items,
                                        [](const json& item) { return !item.contains("smCount"); });
  if (gaps) listing.footnotes.emplace_back("- not published.");
  return render(listing, format, style);
}

}  // namespace slicewise::reports
