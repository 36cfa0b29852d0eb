#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/measurements.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/portable_math.hpp"

#include "../catalog_fields.hpp"
#include "../catalog_value.hpp"
#include "embedded/validation_files.hpp"
#include "user_table.hpp"

namespace slicewise::models {
namespace {

// The state that Python's random.Random(seed) begins with: init_by_array of the reference
// implementation (Matsumoto and Nishimura, mt19937ar.c) with a key of one word.
class PythonSeed {
 public:
  using result_type = std::uint32_t;

  explicit PythonSeed(std::uint32_t seed) : seed_(seed) {}

  template <class Iterator>
  void generate(Iterator begin, Iterator end) const {
    const auto size = static_cast<std::uint32_t>(end - begin);
    const auto mixed = [&](std::uint32_t i, std::uint32_t factor) {
      const std::uint32_t before = begin[i - 1];
      return begin[i] ^ ((before ^ (before >> 30)) * factor);
    };
    begin[0] = 19650218;
    for (std::uint32_t i = 1; i < size; ++i) {
      const std::uint32_t before = begin[i - 1];
      begin[i] = 1812433253 * (before ^ (before >> 30)) + i;
    }
    std::uint32_t i = 1;
    const auto step = [&] {
      if (++i < size) return;
      begin[0] = begin[size - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < size; ++k, step()) begin[i] = mixed(i, 1664525) + seed_;
    for (std::uint32_t k = 1; k < size; ++k, step()) begin[i] = mixed(i, 1566083941) - i;
    begin[0] = 0x80000000;
  }

 private:
  std::uint32_t seed_;
};

// Sums of random.Random(seed).expovariate(rate) below `seconds`.
std::vector<Duration> arrivals(std::uint32_t seed, double rate, double seconds) {
  PythonSeed state(seed);
  std::mt19937 draw(state);
  std::vector<Duration> due;
  double at = 0;
  while (true) {
    const std::uint64_t high = draw() >> 5;
    const std::uint64_t low = draw() >> 6;
    const auto bits = static_cast<double>(high << 26 | low);  // all 53 of Python's random()
    at -= portable_log(1 - bits / 9007199254740992) / rate;
    if (at >= seconds) return due;
    due.push_back(from_seconds(at));
  }
}

double positive(const CsvField& field, const std::string& file) {
  const auto value = number_in(field.text);
  if (!value || *value <= 0) {
    throw std::runtime_error(file + ":" + std::to_string(field.line) + ": not a positive number");
  }
  return *value;
}

MeasuredProcess alone_of(const std::vector<Measurement>& alone, const std::string& gpu,
                         const std::string& workload, const std::string& file) {
  MeasuredProcess process = process_alone(alone, gpu, workload, 1);
  if (process.alone.ns > 0) return process;
  throw std::runtime_error(file + ": nobody measured " + workload + " alone");
}

// Requests that came at random: sharing, workload, beside, rate_per_s, seconds, seed, requests,
// mean_ms, p50_ms, p99_ms. A process is due to answer at sums of random.Random(seed).expovariate of
// Python. Beside another workload, that sends a request as soon as its last one is answered; beside
// "copies", the rows that follow each other with growing seeds are one company. `alone`: rows of
// the same workloads alone. A row that is wrong throws std::runtime_error.
std::vector<MeasuredCompany> read_random_requests(const CsvTable& table,
                                                  const std::vector<Measurement>& alone,
                                                  const std::string& gpu, const std::string& file) {
  constexpr std::size_t kFields = 10;
  constexpr double kMilliseconds = 1e-3;
  std::vector<MeasuredCompany> companies;
  double last_seed = 0;
  std::string last;
  for (const CsvRow& row : table.rows) {
    if (row.size() != kFields) throw std::runtime_error(file + ": a row of another length");
    const std::string& beside = row[2].text;
    const double seconds = positive(row[4], file);
    const double seed = positive(row[5], file);
    MeasuredProcess process = alone_of(alone, gpu, row[1].text, file);
    process.due = arrivals(static_cast<std::uint32_t>(seed), positive(row[3], file), seconds);
    process.time = from_seconds(positive(row[7], file) * kMilliseconds);
    process.p99 = from_seconds(positive(row[9], file) * kMilliseconds);
    const std::string company = row[0].text + row[1].text;
    const bool is_copy = beside == "copies";
    if (is_copy && company == last && seed > last_seed) {
      companies.back().processes.push_back(std::move(process));
    } else {
      MeasuredCompany with;
      with.in_turns = row[0].text == "time-slicing";
      with.length = from_seconds(seconds);
      with.processes.push_back(std::move(process));
      if (!is_copy) with.processes.push_back(alone_of(alone, gpu, beside, file));
      companies.push_back(std::move(with));
    }
    last = is_copy ? company : "";
    last_seed = seed;
  }
  return companies;
}

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
      : name_(file.name), table_(file, kNeeded, kOptional) {}

  Expected<MeasurementSource> read(std::string_view gpu) {
    MeasurementSource source;
    source.id = kUserPairs;
    source.title = name_.substr(name_.rfind('/') + 1);
    source.url = name_;
    source.read = "the file given";
    source.gpu = gpu;
    for (const CsvRow& row : table_.rows()) {
      if (const auto pair = read_row(row)) source.pairs.push_back(*pair);
    }
    if (!table_.is_sound()) return tl::unexpected(table_.take_problems());
    return source;
  }

 private:
  // "ResNet18/CIFAR-10 b32 amp0": as much of the name as the file has.
  std::string name_of(const CsvRow& row, char side) const {
    std::string name = table_.text(row, std::string("model") + side);
    constexpr std::array<std::array<std::string_view, 2>, 3> kParts = {
        {{"dataset", "/"}, {"batch", " b"}, {"amp", " amp"}}};
    for (const auto& [column, prefix] : kParts) {
      const CsvField* part = table_.field(row, std::string(column) + side);
      if (part == nullptr) continue;
      name += prefix;
      name += part->text;
    }
    return name;
  }

  std::optional<MeasuredPair> read_row(const CsvRow& row) {
    // A job that runs a hundred times slower or faster is a mistake in the file.
    constexpr double kLeastSpeed = 0.01;
    constexpr double kMostSpeed = 100;
    constexpr double kPercent = 0.01;
    const auto first_speed = table_.number(row, "ratio1", kLeastSpeed, kMostSpeed);
    const auto second_speed = table_.number(row, "ratio2", kLeastSpeed, kMostSpeed);
    const auto first_utilisation = table_.number(row, "iso_gpu_util1", 0, 100);
    const auto second_utilisation = table_.number(row, "iso_gpu_util2", 0, 100);
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
  UserTable table_;
};

}  // namespace

Expected<MeasurementSource> read_pairs(const SourceText& file, std::string_view gpu) {
  return PairFileReader(file).read(gpu);
}

namespace {

// Of Measurements, the columns of `slicewise calibrate`; of Requests, of read_random_requests().
enum class Unit : std::uint8_t { Seconds, Milliseconds, PerSecond, Speed, Measurements, Requests };

Unit read_unit(CatalogFields& fields) {
  const std::string name = fields.text("unit");
  if (name == "s") return Unit::Seconds;
  if (name == "ms") return Unit::Milliseconds;
  if (name == "per-second") return Unit::PerSecond;
  if (name == "speed") return Unit::Speed;
  if (name == "measurements") return Unit::Measurements;
  if (name == "requests") return Unit::Requests;
  fields.fail("unit", "is not a unit");
  return Unit::Seconds;
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

MeasurementSource read_source(CatalogFields& fields, const Catalogue& catalogue) {
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
  if (unit == Unit::Measurements) {
    source.companies = companies_of(shipped_measurements(source.id, catalogue), source.gpu);
    fields.done();
    return source;
  }
  if (unit == Unit::Requests) {
    source.alone = fields.text("alone");
    source.companies =
        read_random_requests(parse_csv(validation_text(file)),
                             shipped_measurements(source.alone, catalogue), source.gpu, file);
    fields.done();
    return source;
  }
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
      Named{"pairs-beside-one", StudyEngine::PairsBesideOne},
      Named{"law", StudyEngine::Law},
      Named{"turns", StudyEngine::Turns},
      Named{"bursts", StudyEngine::Bursts},
      Named{"pairs", StudyEngine::Pairs},
      Named{"calibrated-pairs", StudyEngine::CalibratedPairs},
      Named{"pairs-from-utilisation", StudyEngine::PairsFromUtilisation},
      Named{"pairs-refitted", StudyEngine::PairsRefitted},
      Named{"pairs-serial", StudyEngine::PairsSerial},
      Named{"requests", StudyEngine::Requests},
      Named{"arrivals", StudyEngine::Arrivals}};
  const std::string name = fields.text("engine");
  for (const Named& known : kEngines) {
    if (known.name == name) return known.engine;
  }
  fields.fail("engine", "is not an engine");
  return StudyEngine::Law;
}

std::vector<int> maybe_integers(CatalogFields& fields, const std::string& name) {
  return fields.has(name) ? fields.integers(name) : std::vector<int>{};
}

RowFilter read_filter(CatalogFields& study, const std::string& name) {
  RowFilter filter;
  if (!study.has(name)) return filter;
  CatalogFields fields = study.object(name);
  filter.workloads = texts_or_none(fields, "workloads");
  filter.sizes = texts_or_none(fields, "sizes");
  filter.slices = texts_or_none(fields, "slices");
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

Evidence read_evidence(CatalogFields& fields) {
  const std::string name = fields.text("evidence");
  for (const Evidence evidence : {Evidence::TimeAlone, Evidence::Utilisation, Evidence::Settings,
                                  Evidence::CoLocation, Evidence::Neighbour, Evidence::Pairs}) {
    if (evidence_name(evidence) == name) return evidence;
  }
  fields.fail("evidence", "is no kind of evidence");
  return Evidence::Nothing;
}

Study read_study(CatalogFields& fields) {
  Study study;
  study.id = fields.text("id");
  study.source = fields.text("source");
  study.mode = fields.text("mode");
  study.evidence = read_evidence(fields);
  study.engine = read_engine(fields);
  study.title = fields.text("title");
  study.split = fields.text("split");
  study.parameters = fields.text("parameters");
  study.rows = read_filter(fields, "rows");
  study.fit = read_filter(fields, "fit");
  study.norms = read_norms(fields);
  study.bandwidth_share = maybe_number(fields, "bandwidthShare");
  study.capacity_share = maybe_number(fields, "capacityShare");
  study.one_fixed_part = flag_or_false(fields, "oneFixedPart");
  study.own_norm = flag_or_false(fields, "ownNorm");
  study.cold_cache = maybe_number(fields, "coldCache").value_or(1);
  study.duty = read_duty(fields);
  study.target_percent = maybe_number(fields, "targetPercent");
  study.bound_percent = fields.number("boundPercent");
  fields.done();
  return study;
}

}  // namespace

std::vector<Measurement> shipped_measurements(std::string_view source, const Catalogue& catalogue) {
  const std::string file = std::string(source) + ".csv";
  auto read = read_measurements({file, std::string(validation_text(file))}, catalogue);
  if (!read) throw std::runtime_error(file + ": " + read.error().front().message);
  return std::move(*read);
}

ValidationSet load_validation_set() {
  ValidationSet set;
  set.gpus = read_gpus(validation_files::gpus_json());
  const CatalogDocument sources = read_json(validation_files::sources_json());
  CatalogFields source_file(sources.root, "sources.json");
  const Catalogue catalogue = load_catalogue();
  for (CatalogFields& fields : source_file.objects("sources")) {
    set.sources.push_back(read_source(fields, catalogue));
  }
  source_file.done();
  const CatalogDocument studies = read_json(validation_files::studies_json());
  CatalogFields study_file(studies.root, "studies.json");
  for (CatalogFields& fields : study_file.objects("studies")) {
    set.studies.push_back(read_study(fields));
  }
  study_file.done();
  return set;
}

}  // namespace slicewise::models
