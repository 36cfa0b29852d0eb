#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "slicewise/models/least_squares.hpp"
#include "slicewise/models/llm_step.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "benchmark_steps.hpp"
#include "law_fit.hpp"
#include "profile_parts.hpp"

namespace slicewise::sim::profile_fit {
namespace {

using models::LlmStep;
using models::ServedRequests;

// How long a prompt waits for others hangs on when they come, and so on the lengths of all.
bool knows_waits(const ServedRequests& asked) { return asked.listed || asked.at_once == 1; }

struct BenchmarkRun {
  const Measurement* measured;
  BenchmarkSteps steps;
};

constexpr std::size_t kParts = models::kStepTimes.size();
// In scenarios, by kStepTimes.
constexpr std::array<const char*, kParts> kNamesOfParts{"weightsTime", "tokenTime", "cacheReadTime",
                                                        "overhead"};

// What is believed of the logarithm of a part before anything was measured.
struct Belief {
  double mean = 0;
  double deviation = 0;
};

struct Beliefs {
  std::array<Belief, kParts> parts;
  bool is_of_shape = false;  // config.json says the size
  double experts = 0;        // of a mixture, reading all of them: so many times T_w
  double expert_part = 0;    // ... of which a token asks for this part
};

// Hosts take 0.3 to 1 ms of a step; a token's keys and values are 32 KiB to 512 KiB in models of 7
// to 70 billion parameters. Of the rest nothing is believed.
std::array<Belief, kParts> beliefs(const std::vector<const Measurement*>& runs,
                                   const models::GpuModel& gpu) {
  constexpr double kNothing = 10;
  constexpr double kHost = 0.6e-3;
  constexpr std::int64_t kCacheOfToken = std::int64_t{128} * 1024;
  double least = to_seconds(runs.front()->time);
  double token = least;
  for (const Measurement* run : runs) {
    const ServedRequests& asked = *run->served;
    const double tokens = std::accumulate(asked.inputs.begin(), asked.inputs.end(), 0.0) /
                          static_cast<double>(asked.inputs.size());
    least = std::min(least, to_seconds(run->time));
    token = std::min(token, to_seconds(asked.first_token) / tokens);
  }
  return {{{portable_log(least), kNothing},
           {portable_log(token), kNothing},
           {portable_log(models::cache_read_seconds(Bytes{kCacheOfToken}, gpu)), 1.5},
           {portable_log(kHost), 0.6}}};
}

// Of a model whose config.json is there: T_w and r follow from bytes and bandwidth, t from what
// other models reach of the GPU's rate, each by a model that was measured. nullopt where none can
// be carried over.
std::optional<Beliefs> beliefs_of_shape(const models::LlmShape& shape, const models::GpuModel& gpu,
                                        const models::Catalogue& catalogue) {
  constexpr std::array<double, kParts> kDeviations = {0.15, 0.4, 0.5, 0.6};
  models::LlmModel model = models::model_of(shape, shape.name, gpu);
  if (!models::derive_step(shape, gpu, catalogue.llm_models, catalogue.gpus, model)) return {};
  Beliefs out{.parts = {},
              .is_of_shape = true,
              .experts = model.step.experts_s / model.step.weights_s,
              .expert_part = model.step.expert_part};
  for (std::size_t part = 0; part < kParts; ++part) {
    const double seconds = model.step.*models::kStepTimes[part].seconds;
    if (seconds <= 0) return {};
    out.parts[part] = {portable_log(seconds), kDeviations[part]};
  }
  return out;
}

LlmStep step_at(std::span<const double> logs) {
  LlmStep step;
  for (std::size_t part = 0; part < kParts; ++part) {
    step.*models::kStepTimes[part].seconds = portable_exp(logs[part]);
  }
  return step;
}

// The time to the first token and that of each later one, of every run; then how far the parts are
// from what was believed.
class StepSearch {
 public:
  StepSearch(std::vector<BenchmarkRun> runs, const Beliefs& believed)
      : runs_(std::move(runs)), believed_(believed) {
    std::vector<double> start;
    std::vector<models::Bound> bounds;
    for (const Belief& belief : believed_.parts) {
      start.push_back(belief.mean);
      bounds.push_back({belief.mean - kReach, belief.mean + kReach});
    }
    const auto residuals = [this](std::span<const double> at, std::span<double> out) {
      weigh(at, out);
    };
    found_ = models::levenberg_marquardt(residuals, observations() + kParts, start, bounds);
    cost_ = found_.cost;
    // What the size says counts more than runs that no law of this form follows.
    if (believed_.is_of_shape) {
      noise_ = std::sqrt(noise_squared());
      found_ = models::levenberg_marquardt(residuals, observations() + kParts, start, bounds);
    }
    const models::Design slopes =
        models::jacobian(residuals, observations() + kParts, found_.at, bounds);
    spread(slopes);
  }

  LlmStep step() const { return law_at(found_.at); }
  const std::vector<BenchmarkRun>& runs() const { return runs_; }
  // Squares of how far off runs and what was believed are, in the noise of a benchmark.
  double cost() const { return cost_; }
  // Of the runs, that much more is no chance: three deviations.
  double told_apart() const {
    constexpr double kThree = 9;
    return kThree * std::max(1.0, cost_ / spare());
  }
  double half_width_95(std::size_t part) const {
    return quantile_ * std::sqrt(covariance_[part * kParts + part]);
  }
  // Of the logarithms of two parts.
  double correlation(std::size_t a, std::size_t b) const {
    const double variances = covariance_[a * kParts + a] * covariance_[b * kParts + b];
    return variances > 0 ? covariance_[a * kParts + b] / std::sqrt(variances) : 0;
  }
  // The scheme of the other figures: what the measurements hardly narrow is not determined.
  bool knows(std::size_t part) const {
    constexpr double kNarrower = 0.6;
    return std::sqrt(covariance_[part * kParts + part]) <
           kNarrower * believed_.parts[part].deviation;
  }

 private:
  static constexpr double kReach = 7;     // a thousandth to a thousand times
  static constexpr double kNoise = 0.02;  // of a benchmark that is run twice
  static constexpr double kNoiseOfUnknownWaits = 0.2;

  static double first_token_noise(const ServedRequests& asked) {
    return knows_waits(asked) ? kNoise : kNoiseOfUnknownWaits;
  }

  std::size_t observations() const { return 2 * runs_.size(); }

  LlmStep law_at(std::span<const double> logs) const {
    LlmStep law = step_at(logs);
    law.experts_s = believed_.experts * law.weights_s;
    law.expert_part = believed_.expert_part;
    return law;
  }

  void weigh(std::span<const double> at, std::span<double> out) const {
    const LlmStep law = law_at(at);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const Measurement& measured = *runs_[r].measured;
      const ServedRequests& asked = *measured.served;
      const Seen seen = runs_[r].steps.under(law);
      out[2 * r] = portable_log(seen.first_token / to_seconds(asked.first_token)) /
                   first_token_noise(asked) / noise_;
      out[2 * r + 1] = portable_log(seen.per_token / to_seconds(measured.time)) / kNoise / noise_;
    }
    for (std::size_t part = 0; part < kParts; ++part) {
      out[observations() + part] =
          (at[part] - believed_.parts[part].mean) / believed_.parts[part].deviation;
    }
  }

  double spare() const {
    return std::max(1.0, static_cast<double>(observations()) - static_cast<double>(kParts));
  }

  // Of what is taken for noise; 1 where the runs are no further off.
  double noise_squared() const {
    std::vector<double> residuals(observations() + kParts);
    weigh(found_.at, residuals);
    double squares = 0;
    for (std::size_t r = 0; r < observations(); ++r) squares += residuals[r] * residuals[r];
    return std::max(1.0, squares / spare());
  }

  // Where the runs are further off than their noise, that is the noise.
  void spread(const models::Design& slopes) {
    const double noise = noise_squared();
    if (noise * noise_ > 1) quantile_ = student_t_975(spare());
    models::Design information{kParts, std::vector<double>(kParts * kParts)};
    for (std::size_t r = 0; r < slopes.rows(); ++r) {
      const double weight = r < observations() ? 1 / noise : 1;
      for (std::size_t i = 0; i < kParts; ++i) {
        for (std::size_t j = 0; j < kParts; ++j) {
          information.values[i * kParts + j] += weight * slopes.row(r)[i] * slopes.row(r)[j];
        }
      }
    }
    covariance_ = models::inverse_of(information);
  }

  std::vector<BenchmarkRun> runs_;
  Beliefs believed_;
  models::LeastSquares found_;
  std::vector<double> covariance_;
  double quantile_ = kNormal95;
  double cost_ = 0;
  double noise_ = 1;  // times that of a benchmark that is run twice
};

ServedPoint point_of(const BenchmarkRun& run, const LlmStep& law) {
  const ServedRequests& asked = *run.measured->served;
  const auto mean = [](const std::vector<std::int32_t>& tokens) {
    return std::accumulate(tokens.begin(), tokens.end(), 0.0) / static_cast<double>(tokens.size());
  };
  const Seen seen = run.steps.under(law);
  constexpr double kMs = 1e3;
  return {asked.at_once,       mean(asked.inputs),
          mean(asked.outputs), {in_ms(asked.first_token), kMs * seen.first_token},
          knows_waits(asked),  {in_ms(run.measured->time), kMs * seen.per_token}};
}

double percent_off(const ServedPoint& point) {
  const auto off = [](const ServedPoint::Time& time) {
    return 100 * std::abs(time.predicted_ms / time.measured_ms - 1);
  };
  if (!point.first_token_counts) return off(point.per_token);
  return (off(point.first_token) + off(point.per_token)) / 2;
}

// Each run in turn, by a fit of the others.
std::optional<double> left_out_error(const std::vector<BenchmarkRun>& runs,
                                     const Beliefs& believed) {
  if (runs.size() < 3) return std::nullopt;
  double sum = 0;
  for (std::size_t out = 0; out < runs.size(); ++out) {
    std::vector<BenchmarkRun> rest = runs;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
    sum += percent_off(point_of(runs[out], StepSearch(rest, believed).step()));
  }
  return sum / static_cast<double>(runs.size());
}

// Of weights and tokens nothing is usual.
bool is_believed(std::size_t part) { return part >= 2; }

// The least of the usual budgets of a step under which the runs are about as likely as under any:
// those of which it is known how long prompts wait for each other.
struct BudgetSearch {
  int most_tokens = 0;
  bool told = true;
  StepSearch search;
};

BudgetSearch search_budget(const std::vector<const Measurement*>& measured,
                           const Beliefs& believed) {
  const bool listed = std::ranges::all_of(
      measured, [](const Measurement* run) { return knows_waits(*run->served); });
  std::vector<BudgetSearch> all;
  for (const int most_tokens : kUsualMostTokens) {
    std::vector<BenchmarkRun> runs;
    runs.reserve(measured.size());
    for (const Measurement* run : measured) {
      runs.push_back({run, BenchmarkSteps(*run->served, most_tokens)});
    }
    all.push_back({most_tokens, listed, StepSearch(std::move(runs), believed)});
    if (!listed) return all.front();
  }
  const auto cost = [](const BudgetSearch& one) { return one.search.cost(); };
  const StepSearch& best = std::ranges::min_element(all, {}, cost)->search;
  const double most = best.cost() + best.told_apart();
  // Not <=: of costs that are no numbers the first is as good as any.
  const auto as_likely = [&](const BudgetSearch& one) { return !(cost(one) > most); };
  BudgetSearch out = *std::ranges::find_if(all, as_likely);
  out.told = std::ranges::count_if(all, as_likely) == 1;
  return out;
}

FittedStep fit_step(const std::vector<const Measurement*>& measured, const models::GpuModel& gpu,
                    const std::optional<Beliefs>& of_shape) {
  const Beliefs believed = of_shape.value_or(Beliefs{.parts = beliefs(measured, gpu)});
  const BudgetSearch budget = search_budget(measured, believed);
  const StepSearch& search = budget.search;
  const std::vector<BenchmarkRun>& runs = search.runs();
  FittedStep out;
  out.workload = measured.front()->workload;
  out.most_tokens = budget.most_tokens;
  out.tokens_told = budget.told;
  out.gpu = gpu.name;
  out.step = search.step();
  out.size_known = believed.is_of_shape;
  for (std::size_t part = 0; part < kParts; ++part) {
    constexpr double kMs = 1e3;
    const double value = kMs * out.step.*models::kStepTimes[part].seconds;
    const bool known = search.knows(part);
    out.figures.push_back({kNamesOfParts[part], value, value * search.half_width_95(part),
                           known               ? "fitted"
                           : out.size_known    ? "by config.json"
                           : is_believed(part) ? "usual"
                                               : "unknown"});
    models::FigureUncertainty& unknown = out.uncertainty.emplace_back();
    unknown.figure = models::kStepTimes[part].figure;
    unknown.half_width_95 = value * search.half_width_95(part);
    for (std::size_t other = 0; other < part; ++other) {
      unknown.correlations[std::string(models::kStepTimes[other].figure)] =
          search.correlation(part, other);
    }
    if (!known) out.undetermined.emplace_back(kNamesOfParts[part]);
  }
  for (const BenchmarkRun& run : runs) {
    out.points.push_back(point_of(run, out.step));
    out.mean_error_percent += percent_off(out.points.back()) / static_cast<double>(runs.size());
  }
  out.left_out_error_percent = left_out_error(runs, believed);
  return out;
}

bool tells_parts_apart(const std::vector<const Measurement*>& runs) {
  return std::ranges::any_of(runs, [&](const Measurement* run) {
    return run->served->at_once != runs.front()->served->at_once ||
           run->served->inputs != runs.front()->served->inputs;
  });
}

}  // namespace

std::vector<FittedStep> fit_steps(std::span<const Measurement> measurements,
                                  std::span<const models::LlmShape> shapes,
                                  const models::Catalogue& catalogue, Diagnostics& notes) {
  std::map<std::pair<std::string, std::string>, std::vector<const Measurement*>> servers;
  for (const Measurement& m : measurements) {
    if (m.served) servers[{m.workload, m.gpu}].push_back(&m);
  }
  std::vector<FittedStep> steps;
  for (const auto& [name, runs] : servers) {
    if (tells_parts_apart(runs)) {
      const models::GpuModel& gpu = *catalogue.find_gpu(name.second);
      const auto shape = std::ranges::find(shapes, name.first, &models::LlmShape::name);
      steps.push_back(fit_step(
          runs, gpu,
          shape == shapes.end() ? std::nullopt : beliefs_of_shape(*shape, gpu, catalogue)));
      continue;
    }
    add_note(notes, Code::InputMissing, runs.front()->where,
             fmt::format("one benchmark of {} on {} does not tell what a step is made of",
                         name.first, name.second),
             "run it with other --max-concurrency too, 1, 8 and 64 say, and give all the files");
  }
  return steps;
}

}  // namespace slicewise::sim::profile_fit
