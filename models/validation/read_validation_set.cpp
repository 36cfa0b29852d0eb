#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/nearest_name.hpp"

#include "../catalog_fields.hpp"
#include "csv_table.hpp"
#include "embedded/validation_files.hpp"

namespace slicewise::models {
namespace {

constexpr std::array<std::string_view, 6> kNeeded = {"model1", "model2",        "ratio1",
                                                     "ratio2", "iso_gpu_util1", "iso_gpu_util2"};
constexpr std::array<std::string_view, 13> kOptional = {
    "dataset1",       "batch1",         "amp1",        "dataset2",     "batch2",
    "amp2",           "sum_ratio",      "co_gpu_util", "co_gmem_util", "co_gmem_mb",
    "iso_gmem_util1", "iso_gmem_util2", "flag"};

// Reads one file of pairs, collecting every mistake on the way.
class PairFileReader {
 public:
  explicit PairFileReader(const SourceText& file)
      : name_(file.name), table_(parse_csv(file.text)) {}

  Expected<MeasurementSource> read(std::string_view gpu) {
    if (table_.open_quote) {
      report(Code::FieldType, *table_.open_quote, "a quoted field never ends");
      return tl::unexpected(problems_);
    }
    read_header();
    if (!problems_.empty()) return tl::unexpected(problems_);
    MeasurementSource source;
    source.id = kUserPairs;
    source.title = name_.substr(name_.rfind('/') + 1);
    source.url = name_;
    source.read = "the file given";
    source.gpu = gpu;
    for (const CsvRow& row : table_.rows) {
      if (const auto pair = read_row(row)) source.pairs.push_back(*pair);
    }
    if (table_.rows.empty()) {
      problems_.push_back(make_diagnostic(Code::FieldMissing, {name_, 1, 1, 1},
                                          fmt::format("{} has no pairs", name_)));
    }
    if (!problems_.empty()) return tl::unexpected(problems_);
    return source;
  }

 private:
  void report(Code code, const CsvField& field, std::string message, std::string help = {}) {
    problems_.push_back(make_diagnostic(code, {name_, field.line, field.column, field.length},
                                        std::move(message), std::move(help)));
  }

  void read_header() {
    std::vector<std::string_view> known(kNeeded.begin(), kNeeded.end());
    known.insert(known.end(), kOptional.begin(), kOptional.end());
    for (std::size_t column = 0; column < table_.header.size(); ++column) {
      const CsvField& field = table_.header[column];
      if (std::find(known.begin(), known.end(), field.text) == known.end()) {
        const auto nearest = nearest_name(field.text, known);
        report(Code::FieldUnknown, field, fmt::format("unknown column `{}`", field.text),
               nearest ? fmt::format("did you mean `{}`?", *nearest)
                       : fmt::format("known columns: {}", fmt::join(known, ", ")));
      } else if (!columns_.emplace(field.text, column).second) {
        report(Code::FieldDuplicate, field, fmt::format("column `{}` is there twice", field.text));
      }
    }
    for (const std::string_view column : kNeeded) {
      if (columns_.contains(column)) continue;
      problems_.push_back(make_diagnostic(Code::FieldMissing, {name_, 1, 1, 1},
                                          fmt::format("there is no column `{}`", column),
                                          fmt::format("needed are {}", fmt::join(kNeeded, ", "))));
    }
  }

  const CsvField& field_of(const CsvRow& row, std::string_view column) const {
    return row[columns_.find(column)->second];
  }

  std::optional<double> read_number(const CsvRow& row, std::string_view column, double least,
                                    double most) {
    const CsvField& field = field_of(row, column);
    const auto value = number_in(field.text);
    if (!value) {
      report(Code::FieldType, field, fmt::format("`{}` must be a number", column),
             "leave out pairs that did not run");
    } else if (*value < least || *value > most) {
      report(Code::ValueRange, field,
             fmt::format("`{}` is {}; it must be from {} to {}", column, field.text, least, most));
      return std::nullopt;
    }
    return value;
  }

  // "ResNet18/CIFAR-10 b32 amp0": as much of the name as the file has.
  std::string name_of(const CsvRow& row, char side) const {
    std::string name = field_of(row, std::string("model") + side).text;
    constexpr std::array<std::array<std::string_view, 2>, 3> kParts = {
        {{"dataset", "/"}, {"batch", " b"}, {"amp", " amp"}}};
    for (const auto& [column, prefix] : kParts) {
      const auto found = columns_.find(std::string(column) + side);
      if (found == columns_.end()) continue;
      name += prefix;
      name += row[found->second].text;
    }
    return name;
  }

  std::optional<MeasuredPair> read_row(const CsvRow& row) {
    // A job that runs a hundred times slower or faster is a mistake in the file.
    constexpr double kLeastSpeed = 0.01;
    constexpr double kMostSpeed = 100;
    constexpr double kPercent = 0.01;
    if (row.size() != table_.header.size()) {
      report(Code::FieldMissing, row.front(),
             fmt::format("{} fields, but the header names {} columns", row.size(),
                         table_.header.size()));
      return std::nullopt;
    }
    const auto first_speed = read_number(row, "ratio1", kLeastSpeed, kMostSpeed);
    const auto second_speed = read_number(row, "ratio2", kLeastSpeed, kMostSpeed);
    const auto first_utilisation = read_number(row, "iso_gpu_util1", 0, 100);
    const auto second_utilisation = read_number(row, "iso_gpu_util2", 0, 100);
    if (!first_speed || !second_speed || !first_utilisation || !second_utilisation) {
      return std::nullopt;
    }
    return MeasuredPair{name_of(row, '1'),
                        name_of(row, '2'),
                        *first_speed,
                        *second_speed,
                        *first_utilisation * kPercent,
                        *second_utilisation * kPercent};
  }

  std::string name_;
  CsvTable table_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  Diagnostics problems_;
};

}  // namespace

Expected<MeasurementSource> read_pairs(const SourceText& file, std::string_view gpu) {
  return PairFileReader(file).read(gpu);
}

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
