
#include <fmt/format.h>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/reports/reference.hpp"

#include "../text/text_table.hpp"
#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::WorkloadProfile;

// Where a figure comes from; "*" stands for all figures of a profile.
std::string provenance_of(const WorkloadProfile& profile, const char* figure) {
  for (const char* key : {figure, "*"}) {
    const auto found = profile.provenance.find(key);
    if (found != profile.provenance.end()) return found->second;
  }
  return profile.is_users ? "as your file has it" : "as published";
}

std::optional<std::string> text_of(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return fmt::format("{:.4g}", *value);
}

std::optional<std::string> text_of(const std::optional<Duration>& value) {
  if (!value) return std::nullopt;
  return milliseconds_cell(*value);
}

std::optional<std::string> seconds_of(const std::optional<Duration>& value) {
  if (!value) return std::nullopt;
  return fmt::format("{:.4g}", to_seconds(*value));
}

class Figures {
 public:
  explicit Figures(const WorkloadProfile& profile) : profile_(profile) {}

  void add(const char* name, const std::optional<std::string>& value, const char* unit,
           const char* key) {
    const std::string absent = profile_.is_users ? "not in your file" : "not published";
    rows_.push_back(
        {name, value.value_or("-"), unit, value ? provenance_of(profile_, key) : absent});
  }

  void add_if_known(const char* name, const std::optional<std::string>& value, const char* unit,
                    const char* key) {
    if (value) add(name, value, unit, key);
  }

  void add_or_assume(const char* name, const std::optional<double>& value, const char* key,
                     double assumed, const char* why) {
    if (value) return add(name, text_of(value), "", key);
    rows_.push_back({name, *text_of(std::optional(assumed)), "", std::string("Assumed: ") + why});
  }

  std::vector<std::vector<std::string>> take() { return std::move(rows_); }

 private:
  const WorkloadProfile& profile_;
  std::vector<std::vector<std::string>> rows_;
};

// What the simulation computes with: the figures above, defaults included.
models::ClientLaw law_of_profile(const WorkloadProfile& profile) {
  models::ClientLaw law;
  law.capacity_share = profile.capacity_share.value_or(1);
  law.bandwidth_share = profile.bandwidth_share.value_or(models::kDefaultBandwidthShare);
  law.norm_p = profile.norm_p.value_or(models::kDefaultNorm);
  law.sensitivity = profile.sensitivity;
  law.pressure = profile.pressure;
  law.copies_by_law = profile.capacity_share.has_value();
  return law;
}

// Rows of figure, value, unit and provenance. What nobody published stands there with the default
// that the simulation takes, marked Assumed.
std::vector<std::vector<std::string>> profile_figures(const WorkloadProfile& profile) {
  Figures figures(profile);
  figures.add("step alone, T1", text_of(profile.solo_step), "ms", "soloMs");
  figures.add("part that does not shrink, T0", text_of(profile.fixed_part), "ms", "fixedMs");
  figures.add("GPU work, W", text_of(profile.gpu_work), "ms", "workMs");
  figures.add_if_known("sensitivity under MPS, alpha", text_of(profile.sensitivity), "",
                       "sensitivity");
  figures.add_if_known("pressure under MPS, c", text_of(profile.pressure), "", "pressure");
  figures.add_or_assume("overlap of both, p", profile.norm_p, "normP", models::kDefaultNorm,
                        "default of its kind");
  figures.add_or_assume("share of the capacity, u", profile.capacity_share, "capacityShare", 1,
                        "not published, the most it can be");
  figures.add_or_assume("memory-limited part of W, beta", profile.bandwidth_share, "bandwidthShare",
                        models::kDefaultBandwidthShare, "default");
  figures.add_or_assume("share of time on the GPU, d", profile.duty, "duty", 1,
                        "not published, the most it can be");
  figures.add("GPU memory",
              profile.memory ? std::optional(memory_cell(*profile.memory)) : std::nullopt, "",
              "memoryMib");
  figures.add("items per step", text_of(profile.items_per_step), "", "itemsPerStep");
  figures.add("throughput alone", text_of(profile.throughput_per_second), "items/s",
              "throughputPerSecond");
  if (profile.kernel_time) {
    figures.add("kernels, mean length, K", number_cell(1e3 * to_seconds(*profile.kernel_time), 4),
                "ms", "kernelMs");
  }
  figures.add_if_known("busy for", seconds_of(profile.burst), "s", "burstSeconds");
  figures.add_if_known("then idle for", seconds_of(profile.idle), "s", "idleSeconds");
  return figures.take();
}

}  // namespace

std::string milliseconds_cell(Duration time) {
  const double milliseconds = static_cast<double>(time.ns) * 1e-6;
  constexpr double kFiveDigits = 1e4;  // from here on four digits would need an exponent
  return milliseconds < kFiveDigits ? fmt::format("{:.4g}", milliseconds)
                                    : fmt::format("{:.0f}", milliseconds);
}

namespace {

using models::Catalogue;

using FigureRows = std::vector<std::vector<std::string>>;

constexpr int kMostNeighbours = 7;

std::string stretched_cell(Duration solo, double stretch) {
  return milliseconds_cell(from_seconds(to_seconds(solo) * stretch));
}

std::string titled_table(const std::string& title, const std::vector<Column>& columns,
                         const FigureRows& rows, const TextStyle& style) {
  if (rows.empty()) return "";
  return "\n" + wrapped_text(title, style.width, "", 0) +
         text_table(columns, rows, style.width, nullptr);
}

std::string fits(const WorkloadProfile& profile, const std::optional<Bytes>& memory) {
  if (!profile.memory || !memory) return "-";
  return *profile.memory <= *memory ? "yes" : "no";
}

std::string mig_table(const WorkloadProfile& profile, const models::MigGeometry& geometry,
                      const TextStyle& style) {
  const models::ClientLaw law = law_of_profile(profile);
  FigureRows rows;
  for (const models::MigProfile& slice : geometry.profiles) {
    if (slice.media_extensions) continue;  // the same slice with decoders
    const models::DomainShare part = models::mig_share(geometry, slice);
    const double stretch = models::stretch_of(law, part, 1, 1);
    rows.push_back({slice.name, fmt::format("{:.3f}", part.compute),
                    fmt::format("{:.3f}", part.bandwidth),
                    stretched_cell(*profile.solo_step, stretch), fmt::format("{:.2f}", stretch),
                    fits(profile, slice.memory)});
  }
  return titled_table("Alone on a MIG slice of its GPU (law E1):",
                      {{"SLICE", false, 0},
                       {"F_C", true, 1},
                       {"F_M", true, 1},
                       {"STEP-MS", true, 0},
                       {"SLOWDOWN", true, 0},
                       {"MEMORY FITS", false, 2}},
                      rows, style);
}

// Each of n copies on one GPU: under MPS with the threads that the stock device plugin leaves
// (100/n percent), under MPS without that limit, and taking turns.
std::string copies_table(const WorkloadProfile& profile, const models::GpuModel& gpu,
                         const TextStyle& style) {
  const models::ClientLaw law = law_of_profile(profile);
  const double duty = profile.duty.value_or(1);
  const double overhead = to_seconds(models::usual_switch_cost(gpu)) / to_seconds(gpu.time_slice);
  FigureRows rows;
  for (int n = 2; n <= kMostNeighbours; ++n) {
    constexpr int kPercent = 100;
    const int percent = kPercent / n;  // rounded down, as the plugin does
    const double threads = static_cast<double>(percent) / kPercent;
    const double uncapped = models::stretch_of(law, {}, 1, n);
    const double capped = models::stretch_of(law, {}, threads, n);
    const double turns = models::overlapped_slowdown(duty, n * duty, overhead);
    rows.push_back({std::to_string(n), stretched_cell(*profile.solo_step, capped),
                    fmt::format("{:.2f}", capped), stretched_cell(*profile.solo_step, uncapped),
                    fmt::format("{:.2f}", uncapped), stretched_cell(*profile.solo_step, turns),
                    fmt::format("{:.2f}", turns)});
  }
  return titled_table(
      "Beside copies of itself on its GPU (laws E1 and E2): under MPS as the stock device plugin "
      "limits it to 100/n % of the threads, under MPS without that limit, and taking turns:",
      {{"COPIES", true, 0},
       {"MPS-MS", true, 0},
       {"SLOWDOWN", true, 1},
       {"UNCAPPED-MS", true, 0},
       {"SLOWDOWN", true, 1},
       {"TURNS-MS", true, 0},
       {"SLOWDOWN", true, 1}},
      rows, style);
}

std::string other_gpus_table(const WorkloadProfile& profile, const models::GpuModel& from,
                             const Catalogue& catalogue, const TextStyle& style) {
  const models::ClientLaw law = law_of_profile(profile);
  FigureRows rows;
  for (const models::GpuModel& gpu : catalogue.gpus) {
    if (gpu.name == from.name || !gpu.fp32_tflops || !from.fp32_tflops) continue;
    const double scale = models::roofline_scale(from, gpu, law.bandwidth_share);
    const double stretch = models::client_in(law, {1 / scale, 1 / scale}, 1).stretch;
    rows.push_back({gpu.name, fmt::format("{:.3f}", scale),
                    stretched_cell(*profile.solo_step, stretch),
                    fits(profile, models::usable_memory(gpu)), "Assumed"});
  }
  return titled_table(
      "Alone on other GPUs by the roofline rule: the GPU work takes (1 - beta) F_from/F_to + beta "
      "B_from/B_to times as long (F: FP32 peak, B: memory bandwidth), the rest stays:",
      {{"GPU", false, 0},
       {"WORK X", true, 1},
       {"STEP-MS", true, 0},
       {"MEMORY FITS", false, 2},
       {"PROVENANCE", false, 1}},
      rows, style);
}

std::string predictions(const WorkloadProfile& published, const Catalogue& catalogue,
                        const TextStyle& style) {
  if (!published.unusable.empty()) {
    return "\n" +
           wrapped_text("No scenario can run it: " + published.unusable + ".", style.width, "", 0);
  }
  const WorkloadProfile profile = models::on_whole_gpu(published, catalogue);
  const models::GpuModel& gpu = *catalogue.find_gpu(profile.gpu_model);
  const models::MigGeometry* geometry = catalogue.find_mig(gpu.name);
  std::string out;
  if (!published.solo_slice.empty()) {
    out = "\n" + wrapped_text(
                     fmt::format("Its figures were measured on a {} MIG instance. The whole GPU "
                                 "without MIG takes {} ms by law E1, from which the rest follows.",
                                 published.solo_slice, milliseconds_cell(*profile.solo_step)),
                     style.width, "", 0);
  }
  if (geometry != nullptr) out += mig_table(profile, *geometry, style);
  return out + copies_table(profile, gpu, style) + other_gpus_table(profile, gpu, catalogue, style);
}

std::string profile_heading(const WorkloadProfile& profile, const TextStyle& style) {
  std::string title = profile.name + ": " + profile.title;
  if (title.find(profile.kind) == std::string::npos) title += ", " + profile.kind;
  if (profile.batch) title += fmt::format(", batch {}", *profile.batch);
  if (!profile.precision.empty()) title += ", " + profile.precision;
  title += profile.gpu_model.empty() ? ", any GPU" : ", " + profile.gpu_model;
  std::string out = wrapped_text(title, style.width, "", 2);
  out += wrapped_text("Source: " + profile.source + "; read " + profile.date, style.width, "", 2);
  const auto fit = profile.provenance.find("fit");
  if (fit != profile.provenance.end()) {
    out += wrapped_text("Fit: " + fit->second, style.width, "", 2);
  }
  if (!profile.note.empty()) out += wrapped_text("Note: " + profile.note, style.width, "", 2);
  return out;
}

Diagnostic neither_profile_nor_model(const Catalogue& catalogue, std::string_view name) {
  std::vector<std::string> names;
  for (const WorkloadProfile& profile : catalogue.profiles) names.push_back(profile.name);
  for (const models::LlmModel& model : catalogue.llm_models) names.push_back(model.name);
  return unknown_profile(names, name);
}

}  // namespace

Expected<std::string> explain_profile(const Catalogue& catalogue, std::string_view name,
                                      const TextStyle& style) {
  const models::LlmModel* llm = catalogue.find_llm_model(name);
  if (llm != nullptr) return explain_llm(*llm, catalogue, style);
  const WorkloadProfile* profile = catalogue.find_profile(name);
  if (profile == nullptr)
    return tl::unexpected(Diagnostics{neither_profile_nor_model(catalogue, name)});
  return profile_heading(*profile, style) + "\n" +
         text_table({{"FIGURE", false, 0},
                     {"VALUE", true, 0},
                     {"UNIT", false, 0},
                     {"PROVENANCE", false, 0}},
                    profile_figures(*profile), 0, nullptr) +
         predictions(*profile, catalogue, style);
}

}  // namespace slicewise::reports
