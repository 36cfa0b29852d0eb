#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/calibration.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/scenarios/job_trace.hpp"
#include "slicewise/scenarios/scenario.hpp"
#include "slicewise/sim/calibration.hpp"
#include "slicewise/sim/device/closed_network.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "law_fit.hpp"
#include "neighbour_fit.hpp"
#include "profile_parts.hpp"

// Profiles from what a user measured.
namespace slicewise::sim {
namespace profile_fit {
namespace {

constexpr const char* kAtMost = "at most: bound by launches";

bool follows_law(const Measurement& m) {
  return m.sharing != MeasuredSharing::TimeSlicing && m.beside.empty();
}

double turns_stretch(double duty, int clients, double overhead) {
  return models::overlapped_slowdown(duty, duty * clients, clients > 1 ? overhead : 0);
}

// Of requests, whose host work is before and after.
double request_stretch(double duty, int clients, double overhead) {
  const std::vector<LoopingClient> loops(static_cast<std::size_t>(clients), {1 - duty, duty});
  return 1 / solve_closed_network(loops, overhead).cycles_per_second.front();
}

// The duty at which the mean of log(predicted / measured) is 0; the slowdown grows with it.
std::optional<double> duty_of(const std::vector<Measurement>& turns, Duration alone,
                              double overhead,
                              double (*stretch)(double duty, int clients, double overhead)) {
  const auto excess = [&](double duty) {
    double sum = 0;
    for (const Measurement& m : turns) {
      sum +=
          portable_log(stretch(duty, m.clients, overhead) * to_seconds(alone) / to_seconds(m.time));
    }
    return sum;
  };
  if (std::ranges::none_of(turns, [](const Measurement& m) { return m.clients > 1; })) {
    return std::nullopt;
  }
  double low = 0;
  double high = 1;
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = (low + high) / 2;
    (excess(middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Of 95 %: a slowdown grows about as the duty does, and before anything was measured any duty is as
// likely as another.
double duty_width(double duty, double squares, double rows) {
  constexpr double kBelieved = 0.29;  // standard deviation between 0 and 1
  const double spare = std::max(1.0, rows - 1);
  const double off = std::sqrt(squares / spare);
  const double deviation =
      duty * (off > kLeastNoise ? off * student_t_975(spare) / kNormal95 : kLeastNoise);
  const double both = std::sqrt(deviation * deviation + kBelieved * kBelieved);
  return kNormal95 * deviation * kBelieved / both;
}

double percent_off(double predicted, double measured) {
  return 100 * std::abs(predicted / measured - 1);
}

class CompanyFitter {
 public:
  CompanyFitter(const Company& company, const models::Catalogue& catalogue, bool leave_out)
      : company_(company),
        catalogue_(catalogue),
        leave_out_(leave_out),
        fit_(best_law(company)),
        ignorance_(company, fit_),
        line_(batch_line(company)) {}

  FittedProfile profile(int size) const {
    FittedProfile out;
    const int batch = company_.batches[static_cast<std::size_t>(size)];
    const auto of_size = [&](const Measurement& m) { return m.batch == batch; };
    const Measurement& first = *std::ranges::find_if(company_.law, of_size);
    models::WorkloadProfile& p = out.profile;
    p.name = fmt::format("{}/{}/b{}", first.workload, lower_case(first.gpu), batch);
    p.title = first.workload;
    p.kind = "inference";
    p.gpu_model = first.gpu;
    p.batch = batch;
    p.items_per_step = batch;
    add_law(size, first, out);
    add_batch_line(out);
    add_means(batch, out);
    add_turns(batch, first.gpu, out);
    add_activity(batch, out);
    add_figures_of_class(out);
    for (const Measurement& m : company_.law) {
      if (!of_size(m)) continue;
      FittedPoint point{m, in_ms(m.time),
                        in_ms(models::predicted_time(fit_.calibration, company_.point(m))),
                        left_out(m)};
      out.points.push_back(std::move(point));
    }
    out.next = next_measurement(company_, ignorance_, catalogue_, first, out);
    return out;
  }

  static std::string origin_of(const Measurement& m, std::string text = "measured") {
    if (!m.date.empty()) text += " " + m.date;
    text += " on " + m.gpu;
    if (!m.driver.empty()) text += ", driver " + m.driver;
    return text;
  }

 private:
  static std::string percent_text(double half_width) {
    return fmt::format("{:.2g} %", 100 * half_width);
  }

  void add_law(int size, const Measurement& first, FittedProfile& out) const {
    models::WorkloadProfile& p = out.profile;
    const auto log_time = 2 * static_cast<std::size_t>(size);
    const models::ClientLaw law = models::law_of(fit_.calibration, size);
    const double solo_width = ignorance_.half_width_95(log_time);
    p.solo_step = models::solo_time(fit_.calibration, size);
    const char* solo_basis = company_.has_time_alone(*p.batch) ? "measured" : "fitted";
    out.figures.push_back(
        {"soloMs", in_ms(*p.solo_step), in_ms(*p.solo_step) * solo_width, solo_basis});
    p.provenance["soloMs"] =
        fmt::format("{}, 95 % within {}", origin_of(first, solo_basis), percent_text(solo_width));
    add_uncertainty("soloMs", in_ms(*p.solo_step) * solo_width, log_time, {}, p);
    const auto borrowed = fit_.borrowed.find(size);
    const bool alone = company_.settings_of(*p.batch) < 2;
    // No work takes nothing of a GPU: at that end the law does not hold.
    constexpr double kLeastShare = 0.005;
    const bool unlike = law.capacity_share < kLeastShare;
    if (unlike || (alone && borrowed == fit_.borrowed.end())) {
      out.undetermined = {"capacityShare", "normP", "bandwidthShare"};
      return;
    }
    const Calibration::Size& parts = fit_.calibration.sizes[static_cast<std::size_t>(size)];
    const std::string basis =
        alone ? fmt::format("borrowed from batch {}",
                            company_.batches[static_cast<std::size_t>(borrowed->second)])
              : std::string(parts.launch_bound ? kAtMost : "fitted");
    p.fixed_part = parts.fixed_part;
    p.gpu_work = parts.gpu_work;
    p.capacity_share = law.capacity_share;
    // From nothing to the widest that fits: the linearised fit knows no such end.
    const double width =
        parts.launch_bound ? law.capacity_share : ignorance_.half_width_95(log_time + 1);
    std::optional<models::Between> between;
    if (alone) between = bounds_by_donor(*p.batch, borrowed->second, law.capacity_share);
    out.figures.push_back({"capacityShare", law.capacity_share,
                           alone ? std::nullopt : std::optional(width), basis, between});
    p.provenance["fixedMs"] = p.provenance["workMs"] = basis;
    p.provenance["capacityShare"] =
        between ? fmt::format("{}, {:.2f} to {:.2f}", basis, between->least, between->most)
                : fmt::format("{}, 95 % within {:.2g}", basis, width);
    if (parts.launch_bound) {
      out.launch_bound = true;
      out.undetermined.emplace_back("capacityShare");
      p.provenance["capacityShare"] = kAtMost;
    }
    add_shared("normP", law.norm_p, fit_.freedom.norm,
               law.norm_p * ignorance_.half_width_95(ignorance_.norm()), p.norm_p, out);
    add_shared("bandwidthShare", law.bandwidth_share, fit_.freedom.beta,
               ignorance_.half_width_95(ignorance_.beta()), p.bandwidth_share, out);
    add_uncertainty("capacityShare", width, log_time + 1, {{"soloMs", log_time}}, p);
    p.uncertainty.back().between = between;
    add_uncertainty("normP", law.norm_p * ignorance_.half_width_95(ignorance_.norm()),
                    ignorance_.norm(), {{"soloMs", log_time}, {"capacityShare", log_time + 1}}, p);
    add_uncertainty(
        "bandwidthShare", ignorance_.half_width_95(ignorance_.beta()), ignorance_.beta(),
        {{"soloMs", log_time}, {"capacityShare", log_time + 1}, {"normP", ignorance_.norm()}}, p);
  }

  // More items fill no less of the GPU than those of the donor may do, fewer no more: as
  // fit_law() has it.
  models::Between bounds_by_donor(int batch, int donor, double value) const {
    const double lent = models::law_of(fit_.calibration, donor).capacity_share;
    const double width = ignorance_.half_width_95(2 * static_cast<std::size_t>(donor) + 1);
    if (batch > company_.batches[static_cast<std::size_t>(donor)]) {
      return {std::max(0.0, lent - width), 1};
    }
    return {0, std::min(1.0, std::max(value, lent + width))};
  }

  // What the measurements leave open, figures that they do not determine included: of those, what
  // is believed before.
  void add_uncertainty(const char* name, double half_width, std::size_t parameter,
                       const std::vector<std::pair<std::string, std::size_t>>& before,
                       models::WorkloadProfile& profile) const {
    constexpr double kNone = 0.005;
    models::FigureUncertainty one{name, half_width, {}};
    for (const auto& [figure, other] : before) {
      const double correlation = ignorance_.correlation(parameter, other);
      if (std::abs(correlation) > kNone) one.correlations[figure] = correlation;
    }
    profile.uncertainty.push_back(std::move(one));
  }

  // What one more step of this size adds to it in one go.
  void add_batch_line(FittedProfile& out) const {
    if (!line_) return;
    const int batch = *out.profile.batch;
    const double extra = batch * line_->per_item_ms;
    const double width = batch * line_->half_width_95;
    out.profile.extra_per_item = from_seconds(extra * 1e-3);
    out.figures.push_back({"extraPerItemMs", extra, width, "fitted"});
    out.profile.uncertainty.push_back({"extraPerItemMs", width, {}});
    out.profile.provenance["extraPerItemMs"] =
        fmt::format("fitted over batches {}, 95 % within {:.2g}", line_->batches, width);
  }

  // What rows say of themselves, and no law is fitted to: the mean over those that do.
  template <class Value>
  std::optional<double> add_mean(const char* name, int batch, const char* how, Value value,
                                 FittedProfile& out) const {
    const Measurement* first = nullptr;
    std::vector<double> repeats;
    for (const Measurement& m : company_.law) {
      const std::optional<double> one = m.batch == batch ? value(m) : std::nullopt;
      if (!one) continue;
      if (first == nullptr) first = &m;
      repeats.push_back(*one);
    }
    if (first == nullptr) return std::nullopt;
    const double mean =
        std::accumulate(repeats.begin(), repeats.end(), 0.0) / static_cast<double>(repeats.size());
    const std::optional<double> width = half_width_95(repeats);
    out.figures.push_back({name, mean, width, width ? "measured" : "measured once"});
    out.profile.provenance[name] = origin_of(*first, how);
    if (width.value_or(0) > 0) {
      out.profile.provenance[name] += fmt::format(", 95 % within {:.2g}", *width);
      // Drawn from a normal law, which few repeats would make as wide as they say little.
      const double spare = static_cast<double>(repeats.size()) - 1;
      out.profile.uncertainty.push_back({name, *width * kNormal95 / student_t_975(spare), {}});
    }
    return mean;
  }

  void add_means(int batch, FittedProfile& out) const {
    constexpr double kSeconds = 1e-3;
    const auto add_time = [&](const char* name, Duration Measurement::*of,
                              std::optional<Duration>& figure) {
      const auto value = [of](const Measurement& m) {
        return (m.*of).ns > 0 ? std::optional(in_ms(m.*of)) : std::nullopt;
      };
      if (const auto ms = add_mean(name, batch, "measured", value, out)) {
        figure = from_seconds(*ms * kSeconds);
      }
    };
    const auto sigma = [](const Measurement& m) { return m.time_sigma; };
    out.profile.time_sigma = add_mean("timeSigma", batch, "from its quantiles", sigma, out);
    add_time("kernelMs", &Measurement::kernel_time, out.profile.kernel_time);
    add_time("hostMs", &Measurement::host_time, out.profile.host_time);
  }

  // Bounds of what no time says: capacityShare and bandwidthShare by what SMs and memory did, the
  // duty by that and the utilisation.
  void add_activity(int batch, FittedProfile& out) const {
    const auto found = std::ranges::find_if(company_.law, [&](const Measurement& m) {
      const models::Activity& a = m.activity;
      return m.batch == batch && (a.gpu_util || a.sm_active || a.dram_active);
    });
    if (found == company_.law.end()) return;
    const models::Activity& activity = found->activity;
    models::WorkloadProfile& p = out.profile;
    const auto bound = [&](const char* name, double value, models::Between between,
                           const std::string& basis, std::optional<double>& figure) {
      figure = value;
      // In place of what was believed before.
      std::erase_if(out.figures, [&](const FittedFigure& other) { return other.name == name; });
      std::erase_if(p.uncertainty, [&](const auto& other) { return other.figure == name; });
      out.figures.push_back({name, value, std::nullopt, basis, between});
      p.provenance[name] = basis;
      p.uncertainty.push_back(
          {name, std::max({0.0, between.most - value, value - between.least}), {}, between});
    };
    scenarios::Measured counted;
    counted.gpu_util = activity.gpu_util;
    counted.sm_active = activity.sm_active;
    counted.dram_active = activity.dram_active;
    if (!p.capacity_share && activity.sm_active.value_or(0) > 0) {
      const double least = *activity.sm_active;
      const double most = std::max(
          least, activity.gpu_util.value_or(std::min(1.0, scenarios::kMostOfSmActive * least)));
      bound("capacityShare", activity.gpu_util ? std::sqrt(least * most) : least, {least, most},
            activity.gpu_util ? "between SM_ACTIVE and GPU_UTIL" : "at least: SM_ACTIVE",
            p.capacity_share);
    }
    const bool fitted = !contains(out.undetermined, "bandwidthShare");
    if (!fitted && activity.dram_active && p.capacity_share.value_or(0) > 0) {
      const double most = *activity.dram_active / *p.capacity_share;
      if (most < models::kDefaultBandwidthShare) {
        bound("bandwidthShare", most, {0, most}, "at most: DRAM_ACTIVE", p.bandwidth_share);
      }
    }
    if (p.duty || activity.gpu_util.value_or(0) <= 0) return;
    const scenarios::BusyRange range = scenarios::busy_range(counted);
    // Kernels run for as long as the capacity that they take.
    const double duty = std::max(scenarios::busy_share(counted), p.capacity_share.value_or(0));
    bound(
        "duty", duty, {range.least, range.most},
        fmt::format("{:.2f} to {:.2f}: GPU_UTIL, SM_ACTIVE, DRAM_ACTIVE", range.least, range.most),
        p.duty);
  }

  // Of a time alone, and nothing else, follows no share of the GPU: that of profiles like it.
  void add_figures_of_class(FittedProfile& out) const {
    models::WorkloadProfile& p = out.profile;
    if (p.capacity_share || company_.settings_of(*p.batch) > 1) return;
    const auto of_class = capacity_of_class(p, catalogue_);
    if (!of_class) return;
    const std::string basis =
        fmt::format("{} {} of the catalogue", kBorrowedOfClass, of_class->profiles);
    const models::Between between{of_class->least, of_class->most};
    p.capacity_share = of_class->value;
    p.provenance["capacityShare"] =
        fmt::format("{}, which have {:.2f} to {:.2f}", basis, between.least, between.most);
    p.uncertainty.push_back(
        {"capacityShare",
         std::max(between.most - of_class->value, of_class->value - between.least),
         {},
         between});
    out.figures.push_back({"capacityShare", of_class->value, std::nullopt, basis, between});
  }

  // A figure that all batches of the workload have alike.
  static void add_shared(const char* name, double value, bool fitted, double width,
                         std::optional<double>& figure, FittedProfile& out) {
    figure = value;
    out.figures.push_back(
        {name, value, fitted ? std::optional(width) : std::nullopt, fitted ? "fitted" : "default"});
    out.profile.provenance[name] = fitted ? fmt::format("{}, 95 % within {:.2g}", kFitted, width)
                                          : fmt::format("{}: not determined", kByDefault);
    if (!fitted) out.undetermined.emplace_back(name);
  }

  void add_turns(int batch, const std::string& gpu_name, FittedProfile& out) const {
    const models::GpuModel& gpu = *catalogue_.find_gpu(gpu_name);
    std::vector<Measurement> turns;
    std::ranges::copy_if(company_.turns, std::back_inserter(turns),
                         [&](const Measurement& m) { return m.batch == batch; });
    const double overhead = overhead_on(gpu);
    const Duration alone = *out.profile.solo_step;
    // Alone what DCGM counted bounds it (add_activity).
    const bool is_busy =
        !turns.empty() && std::ranges::any_of(company_.law, [&](const Measurement& m) {
          return m.batch == batch && m.is_busy;
        });
    out.profile.duty = is_busy ? 1.0 : duty_of(turns, alone, overhead, turns_stretch);
    if (!out.profile.duty) {
      out.undetermined.emplace_back("duty");
      return;
    }
    double squares = 0;
    for (const Measurement& m : turns) {
      const double predicted = in_ms(alone) * turns_stretch(*out.profile.duty, m.clients, overhead);
      const double off = predicted / in_ms(m.time) - 1;
      squares += off * off;
      out.points.push_back({m, in_ms(m.time), predicted, {}});
    }
    if (is_busy) {
      out.profile.request_duty = 1;
      const std::string basis = "1: the times are the GPU's, without what the host does";
      for (const char* name : {"duty", "requestDuty"}) {
        out.figures.push_back({name, 1, std::nullopt, basis});
        out.profile.provenance[name] = basis;
      }
      return;
    }
    const double width = duty_width(*out.profile.duty, squares, static_cast<double>(turns.size()));
    out.figures.push_back({"duty", *out.profile.duty, width, "fitted"});
    out.profile.uncertainty.push_back({"duty", width, {}});
    out.profile.request_duty = duty_of(turns, alone, overhead, request_stretch);
    out.figures.push_back({"requestDuty", *out.profile.request_duty, width, "fitted"});
    out.profile.uncertainty.push_back({"requestDuty", width, {}});
    out.profile.provenance["duty"] = out.profile.provenance["requestDuty"] =
        fmt::format("fitted, 95 % within {:.2g}", width);
  }

  // What a fit says of a setting that it has not seen; nothing when too little is left of the
  // batch.
  std::optional<double> left_out(const Measurement& measured) const {
    if (!leave_out_ || company_.settings_of(measured.batch) < 3) return std::nullopt;
    Company rest = company_;
    // What all batches share hangs on no single setting of many: then its batch alone is fitted
    // anew.
    constexpr std::size_t kMany = 24;
    const bool many = company_.law.size() > kMany;
    if (many) rest.batches = {measured.batch};
    std::erase_if(rest.law, [&](const Measurement& m) {
      return m.batch == measured.batch ? place_of(m) == place_of(measured) : many;
    });
    const Fit fit = many ? fit_law(rest, {}, &fit_.calibration) : best_law(rest);
    return in_ms(models::predicted_time(fit.calibration, rest.point(measured)));
  }

  const Company& company_;
  const models::Catalogue& catalogue_;
  bool leave_out_;
  Fit fit_;
  Ignorance ignorance_;
  std::optional<BatchLine> line_;
};

// Where and when what was fitted was measured: the newest of its rows.
void add_origin(FittedProfile& out) {
  const auto newest = std::ranges::max_element(
      out.points, {}, [](const FittedPoint& point) { return point.measured.date; });
  if (newest == out.points.end()) return;
  const std::string origin = CompanyFitter::origin_of(newest->measured, "");
  const std::string on_gpu = " on " + newest->measured.gpu;
  for (auto& [figure, text] : out.profile.provenance) {
    if (!text.starts_with("fitted") || text.find(on_gpu) != std::string::npos) continue;
    text.insert(std::min(text.find(", 95 %"), text.size()), origin);
  }
}

// Requests at once are no batch, and the time of a token is no step of a profile.
bool has_step(const std::vector<FittedStep>& steps, const Measurement& m) {
  return std::ranges::any_of(steps, [&](const FittedStep& step) {
    return step.workload == m.workload && step.gpu == m.gpu;
  });
}

// Rows beside others as well.
void summarize(FittedProfile& out) {
  double left_out_sum = 0;
  int left_out_count = 0;
  for (const FittedPoint& point : out.points) {
    out.mean_error_percent += percent_off(point.predicted_ms, point.measured_ms);
    if (!point.left_out_ms) continue;
    left_out_sum += percent_off(*point.left_out_ms, point.measured_ms);
    ++left_out_count;
  }
  if (!out.points.empty()) out.mean_error_percent /= static_cast<double>(out.points.size());
  if (left_out_count > 0) out.left_out_error_percent = left_out_sum / left_out_count;
}

}  // namespace

Expected<FittedProfiles> fit_all(std::span<const models::Measurement> measurements,
                                 const models::Catalogue& catalogue,
                                 std::span<const models::LlmShape> shapes, bool leave_out) {
  if (measurements.size() > kMostMeasurements) {
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::ValueRange, measurements[kMostMeasurements].where,
        fmt::format("more than {} measurements: each is left out once, and the rest fitted anew",
                    kMostMeasurements),
        "calibrate one workload at a time, or give the median of repeats")});
  }
  std::map<std::pair<std::string, std::string>, Company> companies;
  FittedProfiles out;
  out.steps = fit_steps(measurements, shapes, catalogue, out.notes);
  models::note_unused_quantiles({measurements.begin(), measurements.end()}, out.notes);
  std::vector<models::Measurement> pairs;
  for (const models::Measurement& m : measurements) {
    out.date = std::max(out.date, m.date);
    if (m.served && has_step(out.steps, m)) continue;
    if (m.requests_per_second > 0) continue;  // its time is that of a queue
    if (!m.beside.empty()) {
      pairs.push_back(m);
      continue;
    }
    Company& company = companies[{m.workload, m.gpu}];
    (follows_law(m) ? company.law : company.turns).push_back(m);
  }
  Diagnostics problems;
  for (auto& [name, company] : companies) {
    refuse_other_units(company, problems);
    for (const models::Measurement& m : company.law) company.batches.push_back(m.batch);
    std::ranges::sort(company.batches);
    // std::ranges::unique is beyond clang 14 with libstdc++ 12.
    company.batches.erase(std::unique(company.batches.begin(), company.batches.end()),
                          company.batches.end());
    for (const models::Measurement& m : company.turns) {
      if (contains(company.batches, m.batch)) continue;
      add_diagnostic(
          problems, Code::InputMissing, m.where,
          fmt::format("{} with batch {} was measured in turns only", m.workload, m.batch),
          "measure it alone as well: turns are held against that");
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  for (const auto& [name, company] : companies) {
    note_other_units(company, out.notes);
    const CompanyFitter fitter(company, catalogue, leave_out);
    for (int size = 0; size < static_cast<int>(company.batches.size()); ++size) {
      out.profiles.push_back(fitter.profile(size));
    }
  }
  problems = unclear_pairs(out, pairs);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  const auto in_turns =
      std::stable_partition(pairs.begin(), pairs.end(), [](const models::Measurement& m) {
        return m.sharing != models::MeasuredSharing::TimeSlicing;
      });
  const std::vector<models::Measurement> turns(in_turns, pairs.end());
  pairs.erase(in_turns, pairs.end());
  add_neighbours(pairs, leave_out, out);
  add_turn_uses(turns, catalogue, out);
  for (FittedProfile& profile : out.profiles) {
    add_origin(profile);
    summarize(profile);
  }
  return out;
}

}  // namespace profile_fit

Expected<FittedProfiles> fit_profiles(std::span<const models::Measurement> measurements,
                                      const models::Catalogue& catalogue,
                                      std::span<const models::LlmShape> shapes) {
  return profile_fit::fit_all(measurements, catalogue, shapes, true);
}

}  // namespace slicewise::sim
