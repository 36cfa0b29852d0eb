#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

std::vector<MigProfile::Placement> read_placements(CatalogFields fields) {
  const int size = fields.small_integer("size");
  std::vector<MigProfile::Placement> placements;
  for (const int start : fields.integers("starts")) placements.push_back({start, size});
  fields.done();
  return placements;
}

MigProfile read_mig_profile(CatalogFields fields) {
  MigProfile profile;
  profile.name = fields.text("name");
  profile.resource_mixed = fields.text("resourceMixed");
  profile.gi_profile_id = fields.small_integer("giProfileId");
  profile.compute_slices = fields.small_integer("computeSlices");
  profile.memory_slices = fields.small_integer("memorySlices");
  profile.sm_count = fields.maybe_integer("smCount");
  profile.memory = fields.maybe_mebibytes("memoryMib");
  profile.max_count = fields.small_integer("maxCount");
  profile.copy_engines = fields.maybe_integer("copyEngines");
  profile.nvdec = fields.maybe_integer("nvdec");
  profile.media_extensions = fields.flag("mediaExtensions");
  profile.confidence = fields.text("confidence");
  profile.note = fields.text_or_empty("note");
  profile.placements = read_placements(fields.object("placements"));
  fields.done();
  return profile;
}

MigGeometry read_geometry(CatalogFields fields) {
  MigGeometry geometry;
  geometry.gpu_model = fields.text("gpu");
  geometry.memory_slices = fields.small_integer("memorySlices");
  geometry.compute_slices = fields.small_integer("computeSlices");
  geometry.sm_total = fields.small_integer("smTotal");
  geometry.sm_usable = fields.small_integer("smUsable");
  geometry.mode_change_needs_reset = fields.flag("modeChangeNeedsReset");
  geometry.sources = fields.texts("sources");
  geometry.note = fields.text_or_empty("note");
  for (CatalogFields& profile : fields.objects("profiles")) {
    geometry.profiles.push_back(read_mig_profile(profile));
  }
  fields.done();
  return geometry;
}

}  // namespace

std::vector<MigGeometry> read_mig(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "mig.json");
  const std::string date = file.text("date");
  std::vector<MigGeometry> geometries;
  for (CatalogFields& fields : file.objects("geometries")) {
    geometries.push_back(read_geometry(fields));
    geometries.back().date = date;
  }
  file.done();
  return geometries;
}

}  // namespace slicewise::models
