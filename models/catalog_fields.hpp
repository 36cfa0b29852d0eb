#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

#include "catalog_value.hpp"
#include "located_json.hpp"

namespace slicewise::models {

// How the files of a catalogue are read. The files that ship throw std::runtime_error at the first
// mistake; of a user's file every problem is kept with its place; and from the same readers comes
// the schema, when they read nothing and say what they would take.
struct CatalogReading {
  const LocatedJson* file = nullptr;  // the user's; nullptr: a file that ships, or the schema
  Source usual_source;                // of what a user's file gives without one
  Diagnostics problems{};             // in the user's file

  // Records a problem of the value, or the key, that stands at `path`.
  void add(Code code, const std::string& path, std::string message, std::string help = {});
};

// The fields of one object in a catalogue file, read strictly: a field that is missing, of the
// wrong type or out of range, and (by done()) one that nobody asked for, is a mistake. After one,
// a user's file is read on with an empty value. Refers to the parsed file, which must outlive it.
class CatalogFields {
 public:
  CatalogFields(const CatalogValue& object, std::string where, CatalogReading* reading = nullptr);
  // Writes into `schema` what is asked for.
  CatalogFields(nlohmann::json& schema, CatalogReading& reading);

  bool has(std::string_view name);                                 // whoever asks can do without
  std::vector<std::string> names() const;                          // of all fields
  std::string text(std::string_view name);                         // not empty
  std::string word(std::string_view name, std::string_view only);  // no other
  // Sizes in MiB are multiplied later.
  std::int64_t integer(std::string_view name, std::int64_t least = 0,
                       std::int64_t most = std::int64_t{1} << 40U);
  double number(std::string_view name, double least = 0, double most = kMost);
  double positive(std::string_view name);
  bool flag(std::string_view name);
  CatalogFields object(std::string_view name);
  void leave(std::string_view name);  // a list that somebody else reads
  std::vector<CatalogFields> objects(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  std::vector<int> integers(std::string_view name);
  std::vector<std::vector<int>> integer_rows(std::string_view name);
  // The members of an object whose keys are names.
  std::vector<std::pair<std::string, CatalogFields>> named_objects(std::string_view name);
  std::map<std::string, std::string> named_texts(std::string_view name);
  std::map<std::string, double> named_numbers(std::string_view name, double least, double most);

  const std::string& where() const { return where_; }   // "gpus.json.gpus[3]"
  CatalogReading* reading() const { return reading_; }  // nullptr: a file that ships
  // A mistake for each field that was never read.
  void done() const;
  void fail(std::string_view field, const std::string& problem, Code code = Code::ValueRange,
            const std::string& help = {}) const;

  static constexpr double kMost = 1e15;  // of a number

 private:
  struct Form;
  const CatalogValue* take(std::string_view name, const Form& form);
  nlohmann::json* describe(std::string_view name, const Form& form);

  const CatalogValue* object_;
  std::string where_;
  CatalogReading* reading_;
  nlohmann::json* schema_ = nullptr;
  std::vector<const CatalogValue*> taken_;  // members
  // What was asked for; not of a file that ships.
  std::set<std::string, std::less<>> needed_;
  std::set<std::string, std::less<>> optional_;
};

inline bool is_users(const CatalogFields& fields) { return fields.reading() != nullptr; }

// A whole number that fits an int.
int small_integer(CatalogFields& fields, std::string_view name, int least = 0);

// nullopt ("" for texts, false for flags) when the field is absent.
std::string text_or_empty(CatalogFields& fields, std::string_view name);
bool flag_or_false(CatalogFields& fields, std::string_view name);
std::vector<std::string> texts_or_none(CatalogFields& fields, std::string_view name);
std::optional<int> maybe_integer(CatalogFields& fields, std::string_view name, int least = 0);
std::optional<double> maybe_number(CatalogFields& fields, std::string_view name, double least = 0,
                                   double most = CatalogFields::kMost);
std::optional<double> maybe_share(CatalogFields& fields, std::string_view name);  // in [0, 1]
std::optional<Bytes> maybe_mebibytes(CatalogFields& fields, std::string_view name);
std::optional<Duration> maybe_milliseconds(CatalogFields& fields, std::string_view name);

// A file's `sources` table: id -> text and date.
class SourceTable {
 public:
  explicit SourceTable(CatalogFields& file);
  // Throws when the table has no such id; in a user's file it is the source itself.
  Source find(const std::string& id) const;
  // What the field `source` of the object names; in a user's file the file itself without one.
  Source of(CatalogFields& fields) const;

 private:
  std::string where_;
  std::optional<Source> usual_;  // of a user's file
  std::map<std::string, Source> sources_;
};

// One reader for each kind of thing: the sections of a user's file and the files that ship.
GpuModel read_gpu(CatalogFields fields, const SourceTable& sources);
InstanceType read_instance(CatalogFields fields, const SourceTable& sources,
                           const std::string& usual_source);
Interconnect read_interconnect(CatalogFields fields, const SourceTable& sources);
MigGeometry read_geometry(CatalogFields fields);
WorkloadProfile read_workload_profile(CatalogFields fields);
// One for each of its regions.
std::vector<Commitment> read_commitment(CatalogFields fields, const SourceTable& sources);
LlmModel read_llm_model(CatalogFields fields);
// Its list `uncertainty`, which may name `figures`: those that a run can draw.
std::vector<FigureUncertainty> read_uncertainty(CatalogFields& object,
                                                std::span<const std::string_view> figures);

// One per file that ships. All throw std::runtime_error that names file and field.
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
void add_block_prices(PriceBook& book, const std::vector<Commitment>& sold);

// The catalogue's prices with the list `prices` of a user's file laid over them; `regions` are
// names that are none of AWS's.
Expected<PriceBook> with_listed_prices(const Catalogue& catalogue, const SourceText& file,
                                       const YAML::Node& prices, const std::string& date,
                                       const std::vector<std::string>& regions);

// What the section `prices` of a user's file holds, in the words of JSON Schema.
nlohmann::json price_schema();

// Names of things that do not go together: the GPU of an instance type, links of another node
// size. Says the name of the field that is wrong and what is wrong with it; "" when all is well.
struct Misfit {
  std::string field;
  std::string problem;
};
Misfit misfit_of(const InstanceType& type, const Catalogue& catalogue);

// Says which profiles and language models no scenario can run, and why.
void mark_unusable(Catalogue& catalogue);

}  // namespace slicewise::models
