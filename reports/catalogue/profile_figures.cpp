#include "profile_figures.hpp"

#include <fmt/format.h>

#include "slicewise/models/execution_law.hpp"

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
  return "as published";
}

class Figures {
 public:
  explicit Figures(const WorkloadProfile& profile) : profile_(profile) {}

  void add(const char* name, const std::optional<std::string>& value, const char* unit,
           const char* key, const std::string& otherwise) {
    const std::string absent = otherwise.empty() ? "not published" : otherwise;
    rows_.push_back(
        {name, value.value_or("-"), unit, value ? provenance_of(profile_, key) : absent});
  }

  void add_assumed(const char* name, const std::string& value, const std::string& why) {
    rows_.push_back({name, value, "", "Assumed: " + why});
  }

  std::vector<std::vector<std::string>> take() { return std::move(rows_); }

 private:
  const WorkloadProfile& profile_;
  std::vector<std::vector<std::string>> rows_;
};

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

double default_norm(const WorkloadProfile& profile) {
  return profile.kind == "inference" ? models::kInferenceNorm : models::kTrainingNorm;
}

}  // namespace

std::string milliseconds_cell(Duration time) {
  const double milliseconds = static_cast<double>(time.ns) * 1e-6;
  constexpr double kFiveDigits = 1e4;  // from here on four digits would need an exponent
  return milliseconds < kFiveDigits ? fmt::format("{:.4g}", milliseconds)
                                    : fmt::format("{:.0f}", milliseconds);
}

models::ClientLaw law_of_profile(const WorkloadProfile& profile) {
  models::ClientLaw law;
  law.capacity_share = profile.capacity_share.value_or(1);
  law.bandwidth_share = profile.bandwidth_share.value_or(models::kDefaultBandwidthShare);
  law.norm_p = profile.norm_p.value_or(default_norm(profile));
  law.sensitivity = profile.sensitivity;
  law.pressure = profile.pressure;
  return law;
}

std::vector<std::vector<std::string>> profile_figures(const WorkloadProfile& profile) {
  Figures figures(profile);
  figures.add("step alone, T1", text_of(profile.solo_step), "ms", "soloMs", "");
  figures.add("part that does not shrink, T0", text_of(profile.fixed_part), "ms", "fixedMs", "");
  figures.add("GPU work, W", text_of(profile.gpu_work), "ms", "workMs", "");
  if (profile.sensitivity) {
    figures.add("sensitivity under MPS, alpha", text_of(profile.sensitivity), "", "sensitivity",
                "");
  }
  if (profile.pressure) {
    figures.add("pressure under MPS, c", text_of(profile.pressure), "", "pressure", "");
  }
  if (profile.norm_p) {
    figures.add("overlap of both, p", text_of(profile.norm_p), "", "normP", "");
  } else {
    figures.add_assumed("overlap of both, p", fmt::format("{:.4g}", default_norm(profile)),
                        "default of its kind");
  }
  if (profile.capacity_share) {
    figures.add("share of the capacity, u", text_of(profile.capacity_share), "", "capacityShare",
                "");
  } else {
    figures.add_assumed("share of the capacity, u", "1", "not published, the most it can be");
  }
  if (profile.bandwidth_share) {
    figures.add("memory-limited part of W, beta", text_of(profile.bandwidth_share), "",
                "bandwidthShare", "");
  } else {
    figures.add_assumed("memory-limited part of W, beta",
                        fmt::format("{:.4g}", models::kDefaultBandwidthShare), "default");
  }
  if (profile.duty) {
    figures.add("share of time on the GPU, d", text_of(profile.duty), "", "duty", "");
  } else {
    figures.add_assumed("share of time on the GPU, d", "1", "not published, the most it can be");
  }
  figures.add("GPU memory",
              profile.memory ? std::optional(memory_cell(*profile.memory)) : std::nullopt, "",
              "memoryMib", "");
  figures.add("items per step", text_of(profile.items_per_step), "", "itemsPerStep", "");
  figures.add("throughput alone", text_of(profile.throughput_per_second), "items/s",
              "throughputPerSecond", "");
  if (profile.burst) figures.add("busy for", seconds_of(profile.burst), "s", "burstSeconds", "");
  if (profile.idle) figures.add("then idle for", seconds_of(profile.idle), "s", "idleSeconds", "");
  return figures.take();
}

}  // namespace slicewise::reports
