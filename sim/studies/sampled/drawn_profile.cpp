#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "slicewise/portable_math.hpp"
#include "slicewise/sim/calibration.hpp"
#include "slicewise/sim/kernel/far_times.hpp"
#include "slicewise/sim/kernel/random.hpp"
#include "slicewise/sim/sampled_inputs.hpp"

#include "../../cluster/entity_streams.hpp"

namespace slicewise::sim {
namespace {

using Rows = std::vector<std::vector<double>>;

// The lower triangle L with L L' = the correlations, by Cholesky. Where rounding or a hand made
// them contradict each other, what is left of a figure is its own.
Rows factor_of(const std::vector<models::FigureUncertainty>& figures) {
  Rows factor(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    double rest = 1;
    for (std::size_t j = 0; j < i; ++j) {
      const auto found = figures[i].correlations.find(figures[j].figure);
      double value = found == figures[i].correlations.end() ? 0 : found->second;
      for (std::size_t k = 0; k < j; ++k) value -= factor[i][k] * factor[j][k];
      value = factor[j][j] > 0 ? value / factor[j][j] : 0;
      const double most = std::sqrt(rest);
      factor[i].push_back(std::clamp(value, -most, most));
      rest = std::max(0.0, rest - factor[i][j] * factor[i][j]);
    }
    factor[i].push_back(std::sqrt(rest));
  }
  return factor;
}

constexpr double kNormal95 = 1.96;
constexpr double kMost = 1e6;

// How far each figure is drawn from where it was fitted: standard normal, as they are correlated.
std::vector<double> drawn_scores(const std::vector<models::FigureUncertainty>& figures,
                                 RandomStream random) {
  const Rows factor = factor_of(figures);
  std::vector<double> normals;
  std::vector<double> scores;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    normals.push_back(random.normal());
    double together = 0;
    for (std::size_t j = 0; j <= i; ++j) together += factor[i][j] * normals[j];
    scores.push_back(together);
  }
  return scores;
}

// By how much a score moves a value. What lies between bounds is as often below as above, and
// reaches them where others leave their 95 %.
double move_of(double score, double value, const models::FigureUncertainty& known) {
  const double part = score / kNormal95;
  if (!known.between) return part * known.half_width_95;
  return part < 0 ? std::max(part, -1.0) * std::max(0.0, value - known.between->least)
                  : std::min(part, 1.0) * std::max(0.0, known.between->most - value);
}

void shift(std::optional<double>& figure, const models::FigureUncertainty& known, double score,
           double most) {
  if (figure) figure = std::clamp(*figure + move_of(score, *figure, known), 0.0, most);
}

double lognormal(double value, const models::FigureUncertainty& known, double score) {
  constexpr double kFurthest = 20;
  const double by = move_of(score, value, known);
  const double drawn = value * portable_exp(std::clamp(by / value, -kFurthest, kFurthest));
  return known.between ? std::clamp(drawn, known.between->least, known.between->most) : drawn;
}

void move_by(WorkloadProfile& profile, const models::FigureUncertainty& known, double score) {
  const std::string_view figure = known.figure;
  const auto draw_time = [&](std::optional<Duration>& time) {
    if (!time || time->ns <= 0) return;
    const auto ms = static_cast<double>(time->ns) * 1e-6;
    time = std::max(nanoseconds(1), rounded_time(lognormal(ms, known, score) * 1e-3 * 1e9));
  };
  if (figure == "soloMs") {
    draw_time(profile.solo_step);
  } else if (figure == "extraPerItemMs") {
    draw_time(profile.extra_per_item);
  } else if (figure == "kernelMs") {
    draw_time(profile.kernel_time);
  } else if (figure == "hostMs") {
    draw_time(profile.host_time);
  } else if (figure == "timeSigma") {
    shift(profile.time_sigma, known, score, kMost);
  } else if (figure == "normP" && profile.norm_p) {
    profile.norm_p = std::clamp(lognormal(*profile.norm_p, known, score), 1.0, models::kHardNorm);
  } else if (figure == "capacityShare") {
    shift(profile.capacity_share, known, score, 1);
  } else if (figure == "bandwidthShare") {
    shift(profile.bandwidth_share, known, score, 1);
  } else if (figure == "duty") {
    shift(profile.duty, known, score, 1);
  } else if (figure == "requestDuty") {
    shift(profile.request_duty, known, score, 1);
  } else if (figure == "turnUse" && profile.turn_use) {
    profile.turn_use = std::min(1.0, lognormal(*profile.turn_use, known, score));
  } else if (figure == "sensitivity") {
    shift(profile.sensitivity, known, score, kMost);
  } else if (figure == "pressure") {
    shift(profile.pressure, known, score, kMost);
  }
}

}  // namespace

WorkloadProfile drawn_profile(WorkloadProfile profile, std::uint64_t seed,
                              std::uint32_t replication) {
  const std::vector<double> scores = drawn_scores(
      profile.uncertainty, {seed, replication, entity_of(profile.name), Purpose::Input});
  for (std::size_t i = 0; i < scores.size(); ++i) {
    move_by(profile, profile.uncertainty[i], scores[i]);
    // What was drawn is taken, a default too.
    const auto basis = profile.provenance.find(profile.uncertainty[i].figure);
    const bool by_default =
        basis != profile.provenance.end() && basis->second.starts_with(kByDefault);
    if (by_default) profile.provenance.erase(basis);
  }
  return profile;
}

models::LlmModel drawn_model(models::LlmModel model, std::uint64_t seed,
                             std::uint32_t replication) {
  const std::vector<double> scores =
      drawn_scores(model.uncertainty, {seed, replication, entity_of(model.name), Purpose::Input});
  for (std::size_t i = 0; i < scores.size(); ++i) {
    constexpr double kSeconds = 1e-3;
    const auto part = std::ranges::find(models::kStepTimes, model.uncertainty[i].figure,
                                        &models::StepTime::figure);
    if (part == models::kStepTimes.end()) continue;
    double& time = model.step.*part->seconds;
    if (time > 0) time = kSeconds * lognormal(time / kSeconds, model.uncertainty[i], scores[i]);
  }
  return model;
}

}  // namespace slicewise::sim
