#include "probe_document.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/models/gpu_names.hpp"
#include "slicewise/models/mig.hpp"

#include "catalog_fields.hpp"
#include "located_json.hpp"

namespace slicewise::models {
namespace {

constexpr double kStepSeconds = 0.01;
// Fewer turns than that, or processes that ran side by side, say nothing of a turn.
constexpr int kFewestTurns = 20;
constexpr double kMostTogether = 0.05;

class ProbeReader {
 public:
  ProbeReader(const SourceText& file, const Catalogue& catalogue)
      : file_(file), catalogue_(catalogue) {}

  // False where problems were found: no GPU that the catalogue knows, no date.
  bool open() {
    auto document = read_yaml(file_);
    auto located = document ? located_json(file_, *document)
                            : Expected<LocatedJson>(tl::unexpected(document.error()));
    if (!located) {
      reading_.problems = located.error();
      return false;
    }
    located_ = std::move(*located);
    reading_.file = &located_;
    CatalogFields fields(located_.value, file_.name, &reading_);
    date = fields.text("date");
    if (!date.empty() && !is_date(date)) {
      fields.fail("date", "is no date: " + date, Code::FieldType, "write year-month-day");
    }
    driver = text_or_empty(fields, "driver");
    CatalogFields described = fields.object("gpu");
    const std::string name = described.text("name");
    gpu = name.empty() ? nullptr : gpu_called(catalogue_, name);
    if (gpu == nullptr && !name.empty()) {
      described.fail("name", fmt::format("names a GPU model that the catalogue lacks: {}", name),
                     Code::GpuUnknown,
                     "describe it in `gpus` of a file that --catalogue names first");
    }
    return reading_.problems.empty();
  }

  // The median of a spread at `row`.
  static double median(CatalogFields& row, const std::string& name, double least) {
    return row.object(name).number("median", least);
  }

  std::optional<Bytes> context_memory() {
    CatalogFields fields(located_.value, file_.name, &reading_);
    if (!fields.has("contextMemoryBytes")) return std::nullopt;
    return Bytes{std::llround(median(fields, "contextMemoryBytes", 0))};
  }

  // Of two processes without a working set.
  std::optional<CatalogFields> turns() {
    CatalogFields fields(located_.value, file_.name, &reading_);
    if (fields.has("timeSlicing")) {
      for (CatalogFields& row : fields.objects("timeSlicing")) {
        const bool usual = row.integer("processes", 2) == 2 && row.integer("workingSetBytes") == 0;
        if (!usual) continue;
        const bool seen = row.object("turnMicroseconds").integer("count") >= kFewestTurns &&
                          row.number("together", 0, 1) <= kMostTogether;
        if (seen) return row;
        row.fail("turnMicroseconds", "is of too few turns, or of processes that ran side by side",
                 Code::ValueRange, "measure again, with nothing else on the GPU and --run-ms 1000");
        return std::nullopt;
      }
    }
    fields.fail("timeSlicing", "has no turns of two processes", Code::FieldMissing,
                "`failures` in the file says why; measure again");
    return std::nullopt;
  }

  std::vector<Measurement> kernels() {
    CatalogFields fields(located_.value, file_.name, &reading_);
    std::vector<Measurement> out;
    if (fields.has("mig")) {
      for (CatalogFields& slice : fields.objects("mig")) add_slice(slice, out);
    }
    // On a GPU that is cut, what was measured under MPS is of one slice.
    if (out.empty() && fields.has("mps")) add_mps(fields.object("mps"), out);
    if (out.empty() && reading_.problems.empty()) {
      fields.fail("mps", "has no kernels under MPS, nor were there MIG slices", Code::InputMissing,
                  "its turns are read by --catalogue; for kernels start an MPS daemon first");
    }
    return out;
  }

  Diagnostics take_problems() { return std::move(reading_.problems); }

  std::string date;
  std::string driver;
  const GpuModel* gpu = nullptr;

 private:
  Measurement measured(const CatalogFields& place, const std::string& kernel, double speed) const {
    Measurement out;
    out.workload = "probe/" + kernel;
    out.gpu = gpu->name;
    out.time = from_seconds(kStepSeconds / speed);
    out.driver = driver;
    out.date = date;
    out.where = located_.place_of(place.where());
    return out;
  }

  void add_mps(CatalogFields mps, std::vector<Measurement>& out) {
    if (!mps.flag("running")) return;
    for (CatalogFields& row : mps.objects("interference")) {
      const std::string kernel = row.text("kernel");
      const std::string beside = row.text("beside");
      const double speed = median(row, "speed", 1e-6);
      if (!reading_.problems.empty()) return;
      Measurement m = measured(row, kernel, speed);
      m.sharing = MeasuredSharing::Mps;
      if (kernel == beside) {
        out.push_back(measured(row, kernel, 1));
        m.clients = 2;
      } else {
        m.beside = "probe/" + beside;
      }
      out.push_back(std::move(m));
    }
    for (CatalogFields& row : mps.objects("threadPercentage")) {
      constexpr double kPercent = 0.01;
      const std::string kernel = row.text("kernel");
      const double percent = row.number("percent", 1, 100);
      const double speed = row.number("speed", 1e-6);
      if (!reading_.problems.empty()) return;
      Measurement m = measured(row, kernel, speed);
      m.sharing = MeasuredSharing::Mps;
      m.active_threads = percent * kPercent;
      out.push_back(std::move(m));
    }
  }

  // Speeds are against those of the first slice of the list: the whole GPU was not measured.
  void add_slice(CatalogFields& slice, std::vector<Measurement>& out) {
    const std::string profile = slice.text("profile");
    const MigGeometry* geometry = catalogue_.find_mig(gpu->name);
    const MigProfile* found = nullptr;
    for (std::size_t i = 0; geometry != nullptr && i < geometry->profiles.size(); ++i) {
      if (geometry->profiles[i].name == profile) found = &geometry->profiles[i];
    }
    if (found == nullptr) {
      slice.fail("profile", fmt::format("is no MIG profile of {}: {}", gpu->name, profile),
                 Code::MigConfigUnknown);
      return;
    }
    CatalogFields speeds = slice.object("unitsPerSecond");
    for (const std::string& kernel : speeds.names()) {
      const double speed = speeds.number(kernel, 1e-6);
      if (!reading_.problems.empty()) return;
      const double first = first_speeds_.try_emplace(kernel, speed).first->second;
      Measurement m = measured(slice, kernel, speed / first);
      m.slice = profile;
      m.share = mig_share(*geometry, *found);
      out.push_back(std::move(m));
    }
  }

  const SourceText& file_;
  const Catalogue& catalogue_;
  LocatedJson located_;
  CatalogReading reading_;
  std::map<std::string, double> first_speeds_;
};

}  // namespace

bool is_probe_document(const SourceText& file) {
  return file.text.find("\"GpuProbe\"") != std::string::npos;
}

Expected<Catalogue> with_probe(Catalogue catalogue, const SourceText& file) {
  ProbeReader probe(file, catalogue);
  std::optional<CatalogFields> turns = probe.open() ? probe.turns() : std::nullopt;
  if (!turns) return tl::unexpected(probe.take_problems());
  const double turn = ProbeReader::median(*turns, "turnMicroseconds", 1);
  const double change = ProbeReader::median(*turns, "switchMicroseconds", 0);
  const std::optional<Bytes> context = probe.context_memory();
  if (Diagnostics problems = probe.take_problems(); !problems.empty()) {
    return tl::unexpected(std::move(problems));
  }
  const auto known = std::ranges::find(catalogue.gpus, probe.gpu->name, &GpuModel::name);
  constexpr double kPerMicrosecond = 1e-6;
  known->time_slice = from_seconds(turn * kPerMicrosecond);
  known->switch_cost = from_seconds(change * kPerMicrosecond);
  if (context) known->context_memory = *context;
  known->sources.push_back(
      {fmt::format(
           "Measured: {} by gpu_probe, driver {}: turns of {:.0f} us, switches of {:.0f} us",
           file.name, probe.driver.empty() ? "unknown" : probe.driver, turn, change),
       probe.date, false});
  catalogue.layers.push_back({file.name, ""});
  return catalogue;
}

Expected<std::vector<Measurement>> read_probe(const SourceText& file, const Catalogue& catalogue) {
  ProbeReader probe(file, catalogue);
  std::vector<Measurement> out = probe.open() ? probe.kernels() : std::vector<Measurement>();
  if (Diagnostics problems = probe.take_problems(); !problems.empty()) {
    return tl::unexpected(std::move(problems));
  }
  return out;
}

}  // namespace slicewise::models
