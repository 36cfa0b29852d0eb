#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

// The fields of one object in a catalogue file, read strictly: a field that is missing or of the
// wrong type, and (by done()) one that nobody asked for, throws std::runtime_error naming file and
// field. Refers to the parsed file, which must outlive it.
class CatalogFields {
 public:
  CatalogFields(const nlohmann::json& object, std::string where);

  bool has(const std::string& name) const;
  std::vector<std::string> names() const;  // of all fields, sorted
  std::string text(const std::string& name);
  std::int64_t integer(const std::string& name);
  int small_integer(const std::string& name);  // one that fits an int
  double number(const std::string& name);
  bool flag(const std::string& name);
  CatalogFields object(const std::string& name);
  std::vector<CatalogFields> objects(const std::string& name);
  std::vector<std::string> texts(const std::string& name);
  std::vector<int> integers(const std::string& name);
  std::vector<std::vector<int>> integer_rows(const std::string& name);
  // The members of an object whose keys are names, in the order of the keys.
  std::vector<std::pair<std::string, CatalogFields>> named_objects(const std::string& name);
  std::map<std::string, std::string> named_texts(const std::string& name);

  // nullopt ("" for texts) when the field is absent.
  std::string text_or_empty(const std::string& name);
  std::optional<int> maybe_integer(const std::string& name);
  std::optional<double> maybe_number(const std::string& name);
  std::optional<Bytes> maybe_mebibytes(const std::string& name);
  std::optional<Duration> maybe_milliseconds(const std::string& name);

  const std::string& where() const { return where_; }  // "gpus.json.gpus[3]"
  // Throws when a field was never read.
  void done() const;
  [[noreturn]] void fail(const std::string& field, const std::string& problem) const;

 private:
  const nlohmann::json& take(const std::string& name);
  std::vector<int> integer_list(const std::string& name, const nlohmann::json& list) const;

  const nlohmann::json* object_;
  std::string where_;
  std::set<std::string> taken_;
};

// A file's `sources` table: id -> text and date.
class SourceTable {
 public:
  explicit SourceTable(CatalogFields& file);
  // Throws when the table has no such id.
  const Source& find(const std::string& id) const;

 private:
  std::string where_;
  std::map<std::string, Source> sources_;
};

// One reader per catalogue file. All throw std::runtime_error that names file and field.

std::vector<InstanceType> read_instances(std::string_view json);
std::vector<Interconnect> read_interconnects(std::string_view json);
std::vector<GpuModel> read_gpus(std::string_view json);
std::vector<MigGeometry> read_mig(std::string_view json);
std::vector<WorkloadProfile> read_profiles(std::string_view json);
std::vector<LlmModel> read_llm_models(std::string_view json);
std::vector<SpotMarket> read_spot(std::string_view json);
std::vector<Commitment> read_commitments(std::string_view json);
PriceBook read_prices(std::string_view json);

// Adds a spot price per market: the median over availability zones where there is one, else the
// Spot Advisor's saving off the on-demand price, marked derived.
void add_spot_prices(PriceBook& book, const std::vector<SpotMarket>& markets);

}  // namespace slicewise::models
