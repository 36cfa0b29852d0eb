#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "slicewise/csv_lines.hpp"

#include "../text/scalars.hpp"
#include "../traces/job_trace.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "job_rows.hpp"
#include "table_rows.hpp"

namespace slicewise::scenarios {
namespace {

// Positions in a line: Gavel's msr folder has 7 fields, physical_cluster 10, Shockwave 12.
struct Layout {
  std::size_t fields;
  std::size_t steps;
  std::size_t gpus;
  std::size_t arrival;
  std::optional<std::size_t> priority;
  std::optional<std::size_t> duration;
};
constexpr std::array<Layout, 3> kLayouts = {
    {{7, 4, 6, 5, {}, {}}, {10, 5, 6, 9, 7, {}}, {12, 5, 6, 11, 8, 10}}};

// Steps a second by "('MODEL', GPUS)", alone on a V100: what Gavel takes durations from.
using Throughputs = std::map<std::string, double, std::less<>>;

Expected<Throughputs> read_throughputs(const SourceText& file) {
  const auto json = nlohmann::json::parse(file.text, nullptr, /*allow_exceptions=*/false);
  const SourceLocation where{file.name, 1, 1, 1};
  const auto gpu = json.is_object() ? json.find("v100") : json.end();
  if (!json.is_object() || gpu == json.end() || !gpu->is_object()) {
    return not_the_format(where, "no throughputs on v100 are in it",
                          "Gavel's simulation_throughputs.json is wanted");
  }
  Throughputs rates;
  for (const auto& [name, partners] : gpu->items()) {
    const auto alone = partners.is_object() ? partners.find("null") : partners.end();
    if (!partners.is_object() || alone == partners.end() || !alone->is_number()) continue;
    rates[name] = alone->get<double>();
  }
  return rates;
}

class GavelReader {
 public:
  GavelReader(const SourceText& file, const Throughputs& rates, ImportReport& report, JobRows& rows)
      : rates_(rates),
        report_(report),
        rows_(rows),
        lines_(file, {.separator = '\t', .quotes = false}) {}

  void read() {
    while (lines_.next()) {
      report_.read();
      read_row();
    }
  }

 private:
  bool bad(std::size_t position, std::string_view what) {
    report_.bad_row(lines_.place(position),
                    fmt::format("\"{}\" {}", lines_.value(position).substr(0, 40), what), {},
                    fmt::format("a value that {}", what));
    return false;
  }

  bool read_row() {
    const Layout* layout = nullptr;
    for (const Layout& known : kLayouts) {
      if (known.fields == lines_.size()) layout = &known;
    }
    if (layout == nullptr) {
      report_.bad_row(
          lines_.place(),
          fmt::format(
              "{} fields; Gavel's lines have 7 or 10, Shockwave's 12, with tabs between them",
              lines_.size()));
      return false;
    }
    JobRow row;
    const auto arrival = instant_of(lines_.value(layout->arrival), TimeUnit::Seconds, {});
    if (!arrival) return bad(layout->arrival, "is no time in seconds");
    row.arrival.ns = *arrival;
    const auto gpus = whole_of(lines_.value(layout->gpus));
    if (!gpus || *gpus < 1 || *gpus > kMostGpusOfJob) {
      return bad(layout->gpus, "is no number of GPUs");
    }
    row.gpus = static_cast<std::int32_t>(*gpus);
    row.work = lines_.value(0);
    if (layout->priority) {
      const auto weight = scaled_of(lines_.value(*layout->priority), 0);
      if (!weight || *weight < 0 || *weight > 1'000'000) {
        return bad(*layout->priority, "is no priority");
      }
      row.priority = static_cast<std::int32_t>(*weight);
    }
    if (!read_run(*layout, row)) return false;
    rows_.add(row, [this] { return lines_.place(); });
    return true;
  }

  bool read_run(const Layout& layout, JobRow& row) {
    if (layout.duration) {
      const auto duration = span_of(lines_.value(*layout.duration), TimeUnit::Seconds);
      if (!duration) return bad(*layout.duration, "is no duration in seconds");
      row.run = *duration;
      return true;
    }
    const auto steps = whole_of(lines_.value(layout.steps));
    if (!steps || *steps < 0) return bad(layout.steps, "is no number of steps");
    const auto found = rates_.find(fmt::format("('{}', {})", row.work, row.gpus));
    const double rate = found == rates_.end() ? 0 : found->second;
    constexpr double kLongestRun = 4e9;
    if (!(rate > 0) || static_cast<double>(*steps) / rate > kLongestRun) {
      report_.noted("jobs of which the throughput is not known: kept, their run is not known",
                    [this] { return lines_.place(); });
      return true;
    }
    row.run = from_seconds(static_cast<double>(*steps) / rate);
    return true;
  }

  const Throughputs& rates_;
  ImportReport& report_;
  JobRows& rows_;
  CsvLines lines_;
};

}  // namespace

Expected<Imported> import_gavel(std::span<const SourceText> files, const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  JobRows rows(report);
  Throughputs rates;
  const auto is_json = [](const SourceText& file) {
    const std::size_t first = file.text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && file.text[first] == '{';
  };
  for (const SourceText& file : files) {
    if (!is_json(file)) continue;
    Expected<Throughputs> found = read_throughputs(file);
    if (!found) return tl::unexpected(std::move(found.error()));
    rates.merge(*found);
  }
  for (const SourceText& file : files) {
    if (!is_json(file)) GavelReader(file, rates, report, rows).read();
  }
  if (rates.empty() && options.columns == "gavel") {
    report.note("durations need throughputs: give simulation_throughputs.json with another -f",
                {.file = files.front().name, .line = 0});
  } else if (!rates.empty()) {
    report.note("durations are total_steps / throughput alone on a V100",
                {.file = files.front().name, .line = 0});
  }
  return rows.finish(files.front(), options, /*since_epoch=*/false);
}

}  // namespace slicewise::scenarios
