#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/validation.hpp"

#include "../catalog_fields.hpp"
#include "../catalog_readers.hpp"
#include "csv_table.hpp"
#include "embedded/validation_files.hpp"

namespace slicewise::models {
namespace {

enum class Unit : std::uint8_t { Seconds, Milliseconds, PerSecond, Speed };

Unit read_unit(CatalogFields& fields) {
  const std::string name = fields.text("unit");
  if (name == "s") return Unit::Seconds;
  if (name == "ms") return Unit::Milliseconds;
  if (name == "per-second") return Unit::PerSecond;
  if (name == "speed") return Unit::Speed;
  fields.fail("unit", "is not a unit");
}

double positive(const CsvField& field, const std::string& file) {
  const auto value = number_in(field.text);
  if (!value || *value <= 0) {
    throw std::runtime_error(file + ":" + std::to_string(field.line) + ": not a positive number");
  }
  return *value;
}

void require_columns(const CsvTable& table, std::size_t columns, const std::string& file) {
  for (const CsvRow& row : table.rows) {
    if (row.size() != columns) {
      throw std::runtime_error(file + ":" + std::to_string(row.front().line) + ": " +
                               std::to_string(columns) + " columns needed");
    }
  }
}

Duration time_of(double value, Unit unit) {
  constexpr double kSecondsPerMillisecond = 1e-3;
  if (unit == Unit::PerSecond) return from_seconds(1 / value);
  return from_seconds(unit == Unit::Milliseconds ? value * kSecondsPerMillisecond : value);
}

// workload, size, slice, threads (percent), clients, value
std::vector<MeasuredRow> read_rows(const CsvTable& table, Unit unit, const std::string& file) {
  constexpr std::size_t kColumns = 6;
  constexpr double kPercent = 0.01;
  require_columns(table, kColumns, file);
  std::vector<MeasuredRow> rows;
  rows.reserve(table.rows.size());
  for (const CsvRow& row : table.rows) {
    rows.push_back({row[0].text, row[1].text, row[2].text, positive(row[3], file) * kPercent,
                    static_cast<int>(std::lround(positive(row[4], file))),
                    time_of(positive(row[5], file), unit)});
  }
  return rows;
}

// first, second, speed1, speed2
std::vector<MeasuredPair> read_pair_rows(const CsvTable& table, const std::string& file) {
  constexpr std::size_t kColumns = 4;
  require_columns(table, kColumns, file);
  std::vector<MeasuredPair> pairs;
  pairs.reserve(table.rows.size());
  for (const CsvRow& row : table.rows) {
    pairs.push_back(
        {row[0].text, row[1].text, positive(row[2], file), positive(row[3], file), {}, {}});
  }
  return pairs;
}

std::string_view validation_text(std::string_view name) {
  const auto files = validation_files::all();
  const auto* found = std::ranges::find(files, name, &validation_files::File::name);
  return found == files.end() ? std::string_view() : found->text;
}

MeasurementSource read_source(CatalogFields& fields) {
  MeasurementSource source;
  source.id = fields.text("id");
  source.title = fields.text("title");
  source.url = fields.text("url");
  source.licence = fields.text("licence");
  source.date = fields.text("date");
  source.read = fields.text("read");
  source.gpu = fields.text("gpu");
  source.note = fields.text("note");
  const Unit unit = read_unit(fields);
  const std::string file = source.id + ".csv";
  const CsvTable table = parse_csv(validation_text(file));
  if (table.rows.empty()) throw std::runtime_error(file + " has no rows");
  if (unit == Unit::Speed) {
    source.pairs = read_pair_rows(table, file);
  } else {
    source.rows = read_rows(table, unit, file);
  }
  fields.done();
  return source;
}

StudyEngine read_engine(CatalogFields& fields) {
  struct Named {
    std::string_view name;
    StudyEngine engine;
  };
  constexpr std::array kEngines = {
      Named{"law", StudyEngine::Law},
      Named{"turns", StudyEngine::Turns},
      Named{"bursts", StudyEngine::Bursts},
      Named{"pairs", StudyEngine::Pairs},
      Named{"calibrated-pairs", StudyEngine::CalibratedPairs},
      Named{"pairs-from-utilisation", StudyEngine::PairsFromUtilisation},
      Named{"pairs-refitted", StudyEngine::PairsRefitted},
      Named{"pairs-serial", StudyEngine::PairsSerial}};
  const std::string name = fields.text("engine");
  for (const Named& known : kEngines) {
    if (known.name == name) return known.engine;
  }
  fields.fail("engine", "is not an engine");
}

std::vector<std::string> maybe_texts(CatalogFields& fields, const std::string& name) {
  return fields.has(name) ? fields.texts(name) : std::vector<std::string>{};
}

std::vector<int> maybe_integers(CatalogFields& fields, const std::string& name) {
  return fields.has(name) ? fields.integers(name) : std::vector<int>{};
}

RowFilter read_filter(CatalogFields& study, const std::string& name) {
  RowFilter filter;
  if (!study.has(name)) return filter;
  CatalogFields fields = study.object(name);
  filter.workloads = maybe_texts(fields, "workloads");
  filter.sizes = maybe_texts(fields, "sizes");
  filter.slices = maybe_texts(fields, "slices");
  for (const int percent : maybe_integers(fields, "threads")) filter.threads.push_back(percent);
  filter.clients = maybe_integers(fields, "clients");
  fields.done();
  return filter;
}

std::map<std::string, double> read_duty(CatalogFields& study) {
  std::map<std::string, double> duty;
  if (!study.has("duty")) return duty;
  CatalogFields fields = study.object("duty");
  for (const std::string& workload : fields.names()) duty[workload] = fields.number(workload);
  return duty;
}

std::vector<double> read_norms(CatalogFields& fields) {
  if (!fields.has("norms")) return {std::begin(kUsualNorms), std::end(kUsualNorms)};
  std::vector<double> norms;
  for (const int norm : fields.integers("norms")) norms.push_back(norm);
  return norms;
}

bool maybe_flag(CatalogFields& fields, const std::string& name) {
  return fields.has(name) && fields.flag(name);
}

Study read_study(CatalogFields& fields) {
  Study study;
  study.id = fields.text("id");
  study.source = fields.text("source");
  study.mode = fields.text("mode");
  study.engine = read_engine(fields);
  study.title = fields.text("title");
  study.split = fields.text("split");
  study.parameters = fields.text("parameters");
  study.rows = read_filter(fields, "rows");
  study.fit = read_filter(fields, "fit");
  study.norms = read_norms(fields);
  study.bandwidth_share = fields.maybe_number("bandwidthShare");
  study.capacity_share = fields.maybe_number("capacityShare");
  study.one_fixed_part = maybe_flag(fields, "oneFixedPart");
  study.own_norm = maybe_flag(fields, "ownNorm");
  study.cold_cache = fields.maybe_number("coldCache").value_or(1);
  study.duty = read_duty(fields);
  study.target_percent = fields.maybe_number("targetPercent");
  study.bound_percent = fields.number("boundPercent");
  fields.done();
  return study;
}

}  // namespace

ValidationSet load_validation_set() {
  ValidationSet set;
  set.gpus = read_gpus(validation_files::gpus_json());
  const auto sources = nlohmann::json::parse(validation_files::sources_json());
  CatalogFields source_file(sources, "sources.json");
  for (CatalogFields& fields : source_file.objects("sources")) {
    set.sources.push_back(read_source(fields));
  }
  source_file.done();
  const auto studies = nlohmann::json::parse(validation_files::studies_json());
  CatalogFields study_file(studies, "studies.json");
  for (CatalogFields& fields : study_file.objects("studies")) {
    set.studies.push_back(read_study(fields));
  }
  study_file.done();
  return set;
}

}  // namespace slicewise::models
