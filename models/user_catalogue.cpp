#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/nearest_name.hpp"

#include "catalog_fields.hpp"
#include "probe_document.hpp"

// A catalogue file of the user, laid over what ships: the same readers, the same checks.
namespace slicewise::models {
namespace {

// What a file holds, and where each item of it stands.
struct UserCatalogue {
  template <class Item>
  struct Items {
    std::vector<Item> items{};
    std::vector<CatalogFields> places{};
  };
  std::string date;
  std::vector<std::string> regions;
  Items<GpuModel> gpus;
  Items<InstanceType> instances;
  Items<Interconnect> interconnects;
  Items<MigGeometry> mig;
  Items<WorkloadProfile> profiles;
  Items<LlmModel> llm_models;
  Items<Commitment> commitments;
};

// The items of a section, each name once.
template <class Item, class Read>
void read_section(CatalogFields& file, const std::string& section, std::string Item::*name,
                  const char* name_field, UserCatalogue::Items<Item>& out, Read read) {
  if (!file.has(section)) return;
  for (CatalogFields& fields : file.objects(section)) {
    Item item = read(fields);
    const bool twice = std::ranges::any_of(
        out.items, [&](const Item& other) { return same_name(other.*name, item.*name); });
    if (twice) {
      fields.fail(name_field, fmt::format("{} stands twice in this file", item.*name),
                  Code::NameDuplicate, "remove one of the two");
    }
    out.items.push_back(std::move(item));
    out.places.push_back(std::move(fields));
  }
}

void read_date(CatalogFields& file, UserCatalogue& out) {
  out.date = text_or_empty(file, "date");
  if (out.date.empty() || is_date(out.date)) return;
  file.fail("date", fmt::format("is no date: {}", out.date), Code::FieldType,
            "write year-month-day: 2026-11-01");
}

UserCatalogue read_sections(CatalogFields& file) {
  UserCatalogue out;
  if (file.has("apiVersion")) file.word("apiVersion", "slicewise.dev/v1alpha1");
  if (file.has("kind")) file.word("kind", "Catalogue");
  read_date(file, out);
  file.reading()->usual_source.date = out.date;
  const SourceTable sources(file);
  out.regions = texts_or_none(file, "regions");
  read_section(file, "gpus", &GpuModel::name, "name", out.gpus,
               [&](const CatalogFields& fields) { return read_gpu(fields, sources); });
  read_section(file, "interconnects", &Interconnect::name, "name", out.interconnects,
               [&](const CatalogFields& fields) { return read_interconnect(fields, sources); });
  read_section(file, "instances", &InstanceType::name, "name", out.instances,
               [&](const CatalogFields& fields) { return read_instance(fields, sources, ""); });
  read_section(file, "geometries", &MigGeometry::gpu_model, "gpu", out.mig, &read_geometry);
  read_section(file, "profiles", &WorkloadProfile::name, "name", out.profiles,
               &read_workload_profile);
  read_section(file, "models", &LlmModel::name, "name", out.llm_models, &read_llm_model);
  if (file.has("commitments")) {
    for (const CatalogFields& fields : file.objects("commitments")) {
      for (Commitment& one : read_commitment(fields, sources)) {
        out.commitments.items.push_back(std::move(one));
        out.commitments.places.push_back(fields);
      }
    }
  }
  if (file.has("prices")) file.leave("prices");  // with_listed_prices() reads them
  file.done();
  return out;
}

template <class Item>
void lay_over(std::vector<Item>& known, std::string Item::*name, const std::vector<Item>& items) {
  for (const Item& item : items) {
    const auto found = std::ranges::find_if(
        known, [&](const Item& other) { return same_name(other.*name, item.*name); });
    if (found == known.end()) {
      known.push_back(item);
    } else {
      *found = item;
    }
  }
}

// What is offered for the same type, region and kind takes the place of what was known.
void lay_over(Catalogue& catalogue, const UserCatalogue::Items<Commitment>& offered) {
  for (std::size_t i = 0; i < offered.items.size(); ++i) {
    const Commitment& one = offered.items[i];
    if (!one.instance.empty() && catalogue.find_instance(one.instance) == nullptr) {
      offered.places[i].fail(
          "instance", fmt::format("names no instance type of the catalogue: {}", one.instance),
          Code::InstanceUnknown, "`slicewise get instances` lists them");
    }
    if (!one.months) offered.places[i].fail("months", "is missing", Code::FieldMissing);
    if (!one.discount_percent) {
      offered.places[i].fail("discountPercent", "is missing", Code::FieldMissing,
                             "plans take a term at a part of the on-demand price");
    }
    if (!contains(catalogue.prices.regions(), one.region)) {
      offered.places[i].fail("regions",
                             fmt::format("names no region of the prices: {}", one.region),
                             Code::RegionUnknown, "`slicewise get prices` lists them");
    }
    std::erase_if(catalogue.commitments, [&](const Commitment& known) {
      return known.instance == one.instance && known.region == one.region && known.kind == one.kind;
    });
    catalogue.commitments.push_back(one);
  }
}

// A GPU that the catalogue lacks, at the field `gpu` of an item.
void check_gpu(const Catalogue& catalogue, const CatalogFields& place, std::string& gpu) {
  if (gpu.empty()) return;  // reported
  if (const GpuModel* known = catalogue.find_gpu(gpu)) {
    gpu = known->name;
    return;
  }
  const std::vector<std::string> like = catalogue.gpus_like(gpu);
  place.fail(
      "gpu", fmt::format("names a GPU model that the catalogue lacks: {}", gpu), Code::GpuUnknown,
      like.empty() ? "describe it in `gpus`"
                   : fmt::format("did you mean {}? Else describe it in `gpus`", like.front()));
}

// An instance has no more of anything than its GPU.
void check_mig(const Catalogue& catalogue, const CatalogFields& place, MigGeometry& geometry) {
  check_gpu(catalogue, place, geometry.gpu_model);
  const GpuModel* gpu = catalogue.find_gpu(geometry.gpu_model);
  for (const MigProfile& profile : geometry.profiles) {
    const auto at_most = [&](const char* what, std::int64_t part, std::int64_t whole) {
      if (part <= whole) return;
      place.fail("profiles", fmt::format("{} has {} {} of {}", profile.name, part, what, whole),
                 Code::ValueRange);
    };
    at_most("SMs", profile.sm_count.value_or(0), geometry.sm_total);
    at_most("memory slices", profile.memory_slices, geometry.memory_slices);
    at_most("compute slices", profile.compute_slices, geometry.compute_slices);
    if (gpu == nullptr || !profile.memory) continue;
    at_most("MiB", profile.memory->count >> 20, gpu->memory_total.count >> 20);
  }
}

void check_instance(const Catalogue& catalogue, const CatalogFields& place, InstanceType& type) {
  check_gpu(catalogue, place, type.gpu_model);
  const GpuModel* gpu = catalogue.find_gpu(type.gpu_model);
  if (gpu == nullptr) return;
  if (type.gpu_memory.count == 0) {
    type.gpu_memory = Bytes{static_cast<std::int64_t>(static_cast<double>(gpu->memory_total.count) *
                                                      type.gpu_fraction)};
  }
  if (type.ec2_gpu_memory.count == 0) type.ec2_gpu_memory = type.gpu_memory;
  const Misfit misfit = misfit_of(type, catalogue);
  if (misfit.field.empty()) return;
  std::vector<std::string> known;
  for (const Interconnect& link : catalogue.interconnects) known.push_back(link.name);
  const auto nearest = nearest_name(type.interconnect, known);
  place.fail(misfit.field, misfit.problem, Code::ValueRange,
             nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                     : "leave it out for PCIe, or describe it in `interconnects`");
}

void sort_by_place(Diagnostics& problems) {
  std::ranges::stable_sort(problems, {}, [](const Diagnostic& problem) {
    return std::pair(problem.where.line, problem.where.column);
  });
}

}  // namespace

Expected<Catalogue> with_layer(Catalogue catalogue, const SourceText& file) {
  if (is_probe_document(file)) return with_probe(std::move(catalogue), file);
  const Expected<YAML::Node> document = read_yaml(file);
  if (!document) return tl::unexpected(document.error());
  const Expected<LocatedJson> located = located_json(file, *document);
  if (!located) return tl::unexpected(located.error());
  CatalogReading reading{&*located, {"User: " + file.name, "", false}};
  CatalogFields fields(located->value, file.name, &reading);
  UserCatalogue user = read_sections(fields);

  lay_over(catalogue.gpus, &GpuModel::name, user.gpus.items);
  lay_over(catalogue.interconnects, &Interconnect::name, user.interconnects.items);
  for (std::size_t i = 0; i < user.instances.items.size(); ++i) {
    check_instance(catalogue, user.instances.places[i], user.instances.items[i]);
  }
  for (std::size_t i = 0; i < user.mig.items.size(); ++i) {
    check_mig(catalogue, user.mig.places[i], user.mig.items[i]);
    user.mig.items[i].date = user.date;
  }
  for (WorkloadProfile& profile : user.profiles.items) {
    profile.date = user.date;
    profile.is_users = true;
  }
  for (LlmModel& model : user.llm_models.items) model.date = user.date;
  for (std::size_t i = 0; i < user.profiles.items.size(); ++i) {
    check_gpu(catalogue, user.profiles.places[i], user.profiles.items[i].gpu_model);
  }
  for (std::size_t i = 0; i < user.llm_models.items.size(); ++i) {
    check_gpu(catalogue, user.llm_models.places[i], user.llm_models.items[i].gpu_model);
  }
  lay_over(catalogue.instances, &InstanceType::name, user.instances.items);
  lay_over(catalogue.mig, &MigGeometry::gpu_model, user.mig.items);
  lay_over(catalogue.profiles, &WorkloadProfile::name, user.profiles.items);
  lay_over(catalogue.llm_models, &LlmModel::name, user.llm_models.items);
  mark_unusable(catalogue);

  if (located->root.is_object() && located->root.contains("prices")) {
    auto prices =
        with_listed_prices(catalogue, file, (*document)["prices"], user.date, user.regions);
    if (prices) {
      catalogue.prices = std::move(*prices);
    } else {
      std::ranges::move(prices.error(), std::back_inserter(reading.problems));
    }
  }
  lay_over(catalogue, user.commitments);
  if (!reading.problems.empty()) {
    sort_by_place(reading.problems);
    return tl::unexpected(std::move(reading.problems));
  }
  catalogue.layers.push_back({file.name, ""});
  return catalogue;
}

std::string catalogue_schema_json() {
  nlohmann::json properties;
  CatalogReading reading;
  CatalogFields file(properties, reading);
  read_sections(file);
  nlohmann::ordered_json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                                   {"$id", "https://slicewise.dev/schema/catalogue.v1alpha1.json"},
                                   {"title", "slicewise catalogue"},
                                   {"description",
                                    "GPUs, instance types, prices, commitments, MIG geometries, "
                                    "profiles and language models of your own, laid "
                                    "over those that ship: slicewise VERB --catalogue FILE"}};
  properties["properties"]["prices"]["items"] = price_schema();
  schema.update(nlohmann::ordered_json(properties));
  return schema.dump(2) + "\n";
}

}  // namespace slicewise::models
