#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "slicewise/models/calibration.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/portable_math.hpp"
#include "slicewise/sim/calibration.hpp"

// Profiles from what a user measured.
namespace slicewise::sim {
namespace profile_fit {
namespace {

using models::Calibration;
using models::MeasuredSharing;
using models::MeasuredTime;
using models::Measurement;

constexpr double kNormal95 = 1.96;
// Nobody measures the same twice more exactly than this.
constexpr double kLeastNoise = 0.01;
// What is believed before anything was measured, as standard deviations: of log T1, u, log p, beta.
constexpr std::array<double, 4> kPriors = {10, 0.5, 0.8, 0.3};
// A figure whose standard deviation is still that part of what was believed before is not known.
constexpr double kUnknown = 0.6;

bool follows_law(const Measurement& m) {
  return m.sharing != MeasuredSharing::TimeSlicing && m.beside.empty();
}

auto place_of(const Measurement& m) {
  const int clients = m.sharing == MeasuredSharing::Alone ? 1 : m.clients;
  return std::tuple(m.slice, m.active_threads, clients, m.sharing == MeasuredSharing::TimeSlicing);
}

// One workload on one GPU: its measurements by batch.
struct Company {
  std::vector<int> batches;
  std::vector<Measurement> law;    // alone and under MPS
  std::vector<Measurement> turns;  // time-slicing

  int size_of(const Measurement& m) const {
    return static_cast<int>(std::ranges::find(batches, m.batch) - batches.begin());
  }
  MeasuredTime point(const Measurement& m) const {
    return {m.share, m.active_threads, m.clients, size_of(m), m.time};
  }
  std::size_t settings_of(int batch) const {
    std::set<decltype(place_of(law.front()))> places;
    for (const Measurement& m : law) {
      if (m.batch == batch) places.insert(place_of(m));
    }
    return places.size();
  }
};

// What is fitted beside T1 and u of each batch.
struct Freedom {
  bool norm = false;
  bool beta = false;
};

// Batches with one setting only take the fixed part of the nearest batch with several.
struct Fit {
  Calibration calibration;
  Freedom freedom;
  std::map<int, int> borrowed;  // size -> size
};

// `held`: p and beta are its, whatever is free.
Fit fit_law(const Company& company, Freedom freedom, const Calibration* held = nullptr) {
  Fit fit;
  fit.freedom = freedom;
  std::vector<int> whole;  // sizes with several settings
  std::vector<MeasuredTime> points;
  for (int size = 0; size < static_cast<int>(company.batches.size()); ++size) {
    if (company.settings_of(company.batches[static_cast<std::size_t>(size)]) > 1)
      whole.push_back(size);
  }
  for (const Measurement& m : company.law) {
    MeasuredTime point = company.point(m);
    const auto at = std::ranges::find(whole, point.size);
    if (at == whole.end()) continue;
    point.size = static_cast<int>(at - whole.begin());
    points.push_back(point);
  }
  Calibration some;
  some.norm_p = held != nullptr ? held->norm_p : models::kInferenceNorm;
  some.bandwidth_share = held != nullptr ? held->bandwidth_share : models::kDefaultBandwidthShare;
  models::CalibrationOptions options;
  const std::array<double, 1> usual = {some.norm_p};
  options.norms = usual;
  if (freedom.norm) options.norms = models::kUsualNorms;
  if (!freedom.beta) options.bandwidth_share = some.bandwidth_share;
  if (!points.empty()) some = models::calibrate(points, options);

  fit.calibration.norm_p = some.norm_p;
  fit.calibration.bandwidth_share = some.bandwidth_share;
  for (int size = 0; size < static_cast<int>(company.batches.size()); ++size) {
    if (const auto at = std::ranges::find(whole, size); at != whole.end()) {
      fit.calibration.sizes.push_back(some.sizes[static_cast<std::size_t>(at - whole.begin())]);
      continue;
    }
    Calibration::Size parts;
    if (!whole.empty()) {
      const auto nearest =
          std::ranges::min_element(whole, {}, [&](int other) { return std::abs(other - size); });
      fit.borrowed[size] = *nearest;
      parts.fixed_part = some.sizes[static_cast<std::size_t>(nearest - whole.begin())].fixed_part;
    }
    // W so that the one setting comes out, its repeats in geometric mean: T grows with W.
    std::vector<const Measurement*> repeats;
    double logs = 0;
    for (const Measurement& m : company.law) {
      if (company.size_of(m) != size) continue;
      repeats.push_back(&m);
      logs += portable_log(to_seconds(m.time));
    }
    fit.calibration.sizes.push_back(parts);
    if (repeats.empty()) continue;  // refused before
    const double seconds = portable_exp(logs / static_cast<double>(repeats.size()));
    const Duration measured = from_seconds(seconds);
    double low = 0;
    double high = seconds;
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (low + high) / 2;
      fit.calibration.sizes.back().gpu_work = from_seconds(middle);
      const Duration predicted =
          models::predicted_time(fit.calibration, company.point(*repeats.front()));
      (predicted < measured ? low : high) = middle;
    }
    if (fit.calibration.sizes.back().fixed_part > measured) {
      fit.calibration.sizes.back().fixed_part = {};
      fit.calibration.sizes.back().gpu_work = measured;
    }
  }
  return fit;
}

// The parameters of a fit as figures of profiles: log T1 and u of each size, log p, beta.
class Parameters {
 public:
  explicit Parameters(const Fit& fit) {
    const auto sizes = static_cast<int>(fit.calibration.sizes.size());
    for (int size = 0; size < sizes; ++size) {
      values_.push_back(portable_log(to_seconds(models::solo_time(fit.calibration, size))));
      values_.push_back(models::law_of(fit.calibration, size).capacity_share);
    }
    values_.push_back(portable_log(fit.calibration.norm_p));
    values_.push_back(fit.calibration.bandwidth_share);
  }

  std::size_t count() const { return values_.size(); }
  double prior(std::size_t parameter) const {
    const std::size_t from_end = count() - parameter;
    return from_end == 1 ? kPriors[3] : from_end == 2 ? kPriors[2] : kPriors[parameter % 2];
  }

  double log_time(const MeasuredTime& point) const {
    const auto size = static_cast<std::size_t>(point.size);
    models::ClientLaw law;
    law.capacity_share = std::clamp(values_[2 * size + 1], 0.0, 1.0);
    law.norm_p = std::max(1.0, portable_exp(values_[count() - 2]));
    law.bandwidth_share = std::clamp(values_[count() - 1], 0.0, 1.0);
    return values_[2 * size] +
           portable_log(models::stretch_of(law, point.share, point.active_threads, point.clients));
  }

  // How the logarithm of the predicted time changes with each parameter.
  std::vector<double> gradient(const MeasuredTime& point) const {
    constexpr double kStep = 1e-3;
    std::vector<double> out(count());
    for (std::size_t k = 0; k < count(); ++k) {
      Parameters more = *this;
      Parameters less = *this;
      more.values_[k] += kStep;
      less.values_[k] -= kStep;
      // Where one side is out of bounds the other tells.
      const double here = log_time(point);
      const double up = more.log_time(point) - here;
      const double down = here - less.log_time(point);
      out[k] = (std::abs(up) > std::abs(down) ? up : down) / kStep;
    }
    return out;
  }

 private:
  std::vector<double> values_;
};

using Matrix = std::vector<std::vector<double>>;

// Of a symmetric positive definite matrix, by Gauss and Jordan.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix out(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    const double pivot = a[column][column];
    for (std::size_t k = 0; k < n; ++k) {
      a[column][k] /= pivot;
      out[column][k] /= pivot;
    }
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column];
      for (std::size_t k = 0; k < n; ++k) {
        a[row][k] -= factor * a[column][k];
        out[row][k] -= factor * out[column][k];
      }
    }
  }
  return out;
}

// What is not known after the measurements: the covariance of the parameters of the linearised fit.
class Ignorance {
 public:
  Ignorance(const Company& company, const Fit& fit) : parameters_(fit) {
    const std::size_t n = parameters_.count();
    double squares = 0;
    Matrix information(n, std::vector<double>(n, 0));
    for (const Measurement& m : company.law) {
      const MeasuredTime point = company.point(m);
      const double residual = parameters_.log_time(point) - portable_log(to_seconds(m.time));
      squares += residual * residual;
      add(parameters_.gradient(point), information);
    }
    const double spare = static_cast<double>(company.law.size()) - static_cast<double>(n);
    noise_ = std::max(
        {kLeastNoise * kLeastNoise, spare > 0 ? squares / spare : 0, variance_of_repeats(company)});
    for (std::size_t i = 0; i < n; ++i) {
      for (double& cell : information[i]) cell /= noise_;
      information[i][i] += 1 / (parameters_.prior(i) * parameters_.prior(i));
    }
    covariance_ = inverse(std::move(information));
  }

  double deviation(std::size_t parameter) const {
    return std::sqrt(std::max(0.0, covariance_[parameter][parameter]));
  }
  bool knows(std::size_t parameter) const {
    return deviation(parameter) < kUnknown * parameters_.prior(parameter);
  }
  std::size_t norm() const { return parameters_.count() - 2; }
  std::size_t beta() const { return parameters_.count() - 1; }

  // Of the logarithm of a time that was not measured.
  double deviation_of(const MeasuredTime& point) const {
    const std::vector<double> g = parameters_.gradient(point);
    double variance = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      for (std::size_t k = 0; k < g.size(); ++k) variance += g[i] * covariance_[i][k] * g[k];
    }
    return std::sqrt(std::max(0.0, variance));
  }

 private:
  // Of the logarithms of times that were measured in the same setting; 0 where none was repeated.
  static double variance_of_repeats(const Company& company) {
    struct Sums {
      double count = 0;
      double sum = 0;
      double squares = 0;
    };
    std::map<std::pair<int, decltype(place_of(company.law.front()))>, Sums> settings;
    for (const Measurement& m : company.law) {
      const double log_time = portable_log(to_seconds(m.time));
      Sums& sums = settings[{m.batch, place_of(m)}];
      sums.count += 1;
      sums.sum += log_time;
      sums.squares += log_time * log_time;
    }
    double squares = 0;
    double spare = 0;
    for (const auto& [setting, sums] : settings) {
      squares += std::max(0.0, sums.squares - sums.sum * sums.sum / sums.count);
      spare += sums.count - 1;
    }
    return spare > 0 ? squares / spare : 0;
  }

  static void add(const std::vector<double>& g, Matrix& information) {
    for (std::size_t i = 0; i < g.size(); ++i) {
      for (std::size_t k = 0; k < g.size(); ++k) information[i][k] += g[i] * g[k];
    }
  }

  Parameters parameters_;
  Matrix covariance_;
  double noise_ = 0;
};

// As free as the data determine.
Fit best_law(const Company& company) {
  std::size_t points = 0;
  std::size_t unknown = 0;
  for (const int batch : company.batches) {
    const std::size_t settings = company.settings_of(batch);
    if (settings < 2) continue;
    points += settings;
    unknown += 2;
  }
  Freedom freedom{points > unknown, points > unknown + 1};
  Fit fit = fit_law(company, freedom);
  const Ignorance left(company, fit);
  const Freedom known{freedom.norm && left.knows(left.norm()),
                      freedom.beta && left.knows(left.beta())};
  return known.norm == freedom.norm && known.beta == freedom.beta ? fit : fit_law(company, known);
}

double overhead_on(const models::GpuModel& gpu) {
  const Duration cost = models::switch_cost(gpu, models::usual_cold_cache(gpu));
  return to_seconds(cost) / to_seconds(gpu.time_slice);
}

double turns_stretch(double duty, int clients, double overhead) {
  return models::overlapped_slowdown(duty, duty * clients, clients > 1 ? overhead : 0);
}

// The duty at which the mean of log(predicted / measured) is 0; the slowdown grows with it.
std::optional<double> duty_of(const std::vector<Measurement>& turns, Duration alone,
                              double overhead) {
  const auto excess = [&](double duty) {
    double sum = 0;
    for (const Measurement& m : turns) {
      sum += portable_log(turns_stretch(duty, m.clients, overhead) * to_seconds(alone) /
                          to_seconds(m.time));
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

double in_ms(Duration time) { return static_cast<double>(time.ns) * 1e-6; }

double percent_off(double predicted, double measured) {
  return 100 * std::abs(predicted / measured - 1);
}

class CompanyFitter {
 public:
  CompanyFitter(const Company& company, const models::Catalogue& catalogue)
      : company_(company),
        catalogue_(catalogue),
        fit_(best_law(company)),
        ignorance_(company, fit_) {}

  FittedProfile profile(int size) const {
    FittedProfile out;
    const int batch = company_.batches[static_cast<std::size_t>(size)];
    const auto of_size = [&](const Measurement& m) { return m.batch == batch; };
    const Measurement& first = *std::ranges::find_if(company_.law, of_size);
    models::WorkloadProfile& p = out.profile;
    std::string gpu = first.gpu;
    std::ranges::transform(gpu, gpu.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    p.name = fmt::format("{}/{}/b{}", first.workload, gpu, batch);
    p.title = first.workload;
    p.kind = "inference";
    p.gpu_model = first.gpu;
    p.batch = batch;
    p.items_per_step = batch;
    add_law(size, first, out);
    add_turns(batch, first.gpu, out);
    for (const Measurement& m : company_.law) {
      if (!of_size(m)) continue;
      FittedPoint point{m, in_ms(m.time),
                        in_ms(models::predicted_time(fit_.calibration, company_.point(m))),
                        left_out(m)};
      out.points.push_back(std::move(point));
    }
    summarize(out);
    out.next = next_of(size, first, out);
    return out;
  }

 private:
  static std::string origin_of(const Measurement& m) {
    std::string text = "measured";
    if (!m.date.empty()) text += " " + m.date;
    text += " on " + m.gpu;
    if (!m.driver.empty()) text += ", driver " + m.driver;
    return text;
  }

  static std::string percent_text(double half_width) {
    return fmt::format("{:.2g} %", 100 * half_width);
  }

  void add_law(int size, const Measurement& first, FittedProfile& out) const {
    models::WorkloadProfile& p = out.profile;
    const auto log_time = static_cast<std::size_t>(2 * size);
    const models::ClientLaw law = models::law_of(fit_.calibration, size);
    const double solo_width = kNormal95 * ignorance_.deviation(log_time);
    p.solo_step = models::solo_time(fit_.calibration, size);
    out.figures.push_back(
        {"soloMs", in_ms(*p.solo_step), in_ms(*p.solo_step) * solo_width, "measured"});
    p.provenance["soloMs"] =
        fmt::format("{}, 95 % within {}", origin_of(first), percent_text(solo_width));
    const auto borrowed = fit_.borrowed.find(size);
    const bool alone = company_.settings_of(*p.batch) < 2;
    if (alone && borrowed == fit_.borrowed.end()) {
      out.undetermined = {"capacityShare", "normP", "bandwidthShare"};
      return;
    }
    const Calibration::Size& parts = fit_.calibration.sizes[static_cast<std::size_t>(size)];
    const std::string basis =
        alone ? fmt::format("borrowed from batch {}",
                            company_.batches[static_cast<std::size_t>(borrowed->second)])
              : std::string("fitted");
    p.fixed_part = parts.fixed_part;
    p.gpu_work = parts.gpu_work;
    p.capacity_share = law.capacity_share;
    const double width = kNormal95 * ignorance_.deviation(log_time + 1);
    out.figures.push_back(
        {"capacityShare", law.capacity_share, alone ? std::nullopt : std::optional(width), basis});
    p.provenance["capacityShare"] =
        alone ? basis : fmt::format("{}, 95 % within {:.2g}", basis, width);
    add_shared("normP", law.norm_p, fit_.freedom.norm,
               law.norm_p * kNormal95 * ignorance_.deviation(ignorance_.norm()), p.norm_p, out);
    add_shared("bandwidthShare", law.bandwidth_share, fit_.freedom.beta,
               kNormal95 * ignorance_.deviation(ignorance_.beta()), p.bandwidth_share, out);
  }

  // A figure that all batches of the workload have alike.
  static void add_shared(const char* name, double value, bool fitted, double width,
                         std::optional<double>& figure, FittedProfile& out) {
    figure = value;
    out.figures.push_back(
        {name, value, fitted ? std::optional(width) : std::nullopt, fitted ? "fitted" : "default"});
    out.profile.provenance[name] =
        fitted ? fmt::format("fitted, 95 % within {:.2g}", width) : "default: not determined";
    if (!fitted) out.undetermined.emplace_back(name);
  }

  void add_turns(int batch, const std::string& gpu_name, FittedProfile& out) const {
    const models::GpuModel& gpu = *catalogue_.find_gpu(gpu_name);
    std::vector<Measurement> turns;
    std::ranges::copy_if(company_.turns, std::back_inserter(turns),
                         [&](const Measurement& m) { return m.batch == batch; });
    const double overhead = overhead_on(gpu);
    const Duration alone = *out.profile.solo_step;
    out.profile.duty = duty_of(turns, alone, overhead);
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
    // A slowdown grows about as the duty does.
    const double deviation =
        std::max(kLeastNoise,
                 std::sqrt(squares / std::max<double>(1, static_cast<double>(turns.size()) - 1)));
    const double width = kNormal95 * deviation * *out.profile.duty;
    out.figures.push_back({"duty", *out.profile.duty, width, "fitted"});
    out.profile.provenance["duty"] = fmt::format("fitted, 95 % within {:.2g}", width);
  }

  // What a fit says of a setting that it has not seen; nothing when too little is left of the
  // batch.
  std::optional<double> left_out(const Measurement& measured) const {
    if (company_.settings_of(measured.batch) < 3) return std::nullopt;
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

  static void summarize(FittedProfile& out) {
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

  // Of what could be measured next, that of which least is known.
  std::optional<NextMeasurement> next_of(int size, const Measurement& like,
                                         const FittedProfile& fitted) const {
    std::optional<NextMeasurement> best;
    const auto offer = [&](const Measurement& setting, double deviation, double predicted_ms) {
      const double width = 100 * (portable_exp(kNormal95 * deviation) - 1);
      if (best && width <= best->half_width_percent) return;
      best = NextMeasurement{setting, predicted_ms, width};
    };
    Measurement setting = like;
    setting.slice = "full";
    setting.share = {};
    setting.active_threads = 1;
    std::vector<Measurement> settings;
    setting.sharing = MeasuredSharing::Mps;
    for (const int clients : {2, 4}) {
      setting.clients = clients;
      settings.push_back(setting);
    }
    setting.sharing = MeasuredSharing::Alone;
    setting.clients = 1;
    if (const models::MigGeometry* geometry = catalogue_.find_mig(like.gpu)) {
      const auto smallest = std::ranges::min_element(
          geometry->profiles, {}, [](const models::MigProfile& p) { return p.compute_slices; });
      if (smallest != geometry->profiles.end()) {
        setting.slice = smallest->name;
        setting.share = models::mig_share(*geometry, *smallest).share;
        settings.push_back(setting);
        setting.slice = "full";
        setting.share = {};
      }
    }
    for (const Measurement& candidate : settings) {
      MeasuredTime point = company_.point(candidate);
      point.size = size;
      offer(candidate, ignorance_.deviation_of(point),
            in_ms(models::predicted_time(fit_.calibration, point)));
    }
    if (!fitted.profile.duty) {
      // Two processes in turns take from once to twice as long, whatever the duty is.
      constexpr double kDutyDeviation = 0.2;
      setting.sharing = MeasuredSharing::TimeSlicing;
      setting.clients = 2;
      offer(setting, kDutyDeviation, 1.5 * in_ms(*fitted.profile.solo_step));
    }
    return best;
  }

  const Company& company_;
  const models::Catalogue& catalogue_;
  Fit fit_;
  Ignorance ignorance_;
};

// The fitted profile that has what was measured beside a neighbour alone.
FittedProfile* alone_of(FittedProfiles& fitted, const Measurement& m) {
  const auto found = std::ranges::find_if(fitted.profiles, [&](const FittedProfile& fit) {
    return fit.profile.title == m.workload && fit.profile.gpu_model == m.gpu &&
           fit.profile.batch == m.batch;
  });
  return found == fitted.profiles.end() ? nullptr : &*found;
}

// Sensitivity and pressure of the workloads that were measured beside each other on one GPU.
void add_neighbours(const std::vector<Measurement>& pairs, const std::string& gpu,
                    FittedProfiles& fitted) {
  std::vector<std::string> workloads;
  const auto number_of = [&](const std::string& workload) {
    const auto found = std::ranges::find(workloads, workload);
    const auto number = static_cast<std::size_t>(found - workloads.begin());
    if (found == workloads.end()) workloads.push_back(workload);
    return number;
  };
  std::vector<models::PairObservation> seen;
  for (const Measurement& m : pairs) {
    if (m.gpu != gpu) continue;
    const double alone = to_seconds(*alone_of(fitted, m)->profile.solo_step);
    const std::size_t client = number_of(m.workload);
    seen.push_back({client, number_of(m.beside), std::max(1.0, to_seconds(m.time) / alone)});
  }
  const models::PairCalibration found = models::calibrate_pairs(seen, workloads.size());
  const auto add = [](const char* name, const std::optional<double>& value,
                      std::optional<double>& figure, FittedProfile& fit) {
    if (!value) return;
    figure = value;
    fit.figures.push_back({name, *value, {}, "fitted"});
    fit.profile.provenance[name] = "fitted beside others; only products are determined";
  };
  for (FittedProfile& fit : fitted.profiles) {
    const auto at = std::ranges::find(workloads, fit.profile.title);
    if (fit.profile.gpu_model != gpu || at == workloads.end()) continue;
    const auto number = static_cast<std::size_t>(at - workloads.begin());
    add("sensitivity", found.sensitivity[number], fit.profile.sensitivity, fit);
    add("pressure", found.pressure[number], fit.profile.pressure, fit);
  }
  for (const Measurement& m : pairs) {
    if (m.gpu != gpu) continue;
    FittedProfile& fit = *alone_of(fitted, m);
    const double slowdown = 1 + found.sensitivity[number_of(m.workload)].value_or(0) *
                                    found.pressure[number_of(m.beside)].value_or(0);
    fit.points.push_back({m, in_ms(m.time), in_ms(*fit.profile.solo_step) * slowdown, {}});
  }
}

// What was measured beside a neighbour says how much slower that is only where the time alone is
// known.
Diagnostics without_time_alone(FittedProfiles& fitted, const std::vector<Measurement>& pairs) {
  Diagnostics problems;
  for (const Measurement& m : pairs) {
    if (alone_of(fitted, m) != nullptr) continue;
    problems.push_back(make_diagnostic(
        Code::InputMissing, m.where,
        fmt::format("{} with batch {} was measured beside {} only", m.workload, m.batch, m.beside),
        "measure it alone as well: neighbours are held against that"));
  }
  return problems;
}

}  // namespace
}  // namespace profile_fit

Expected<FittedProfiles> fit_profiles(std::span<const models::Measurement> measurements,
                                      const models::Catalogue& catalogue) {
  std::map<std::pair<std::string, std::string>, profile_fit::Company> companies;
  FittedProfiles out;
  std::vector<models::Measurement> pairs;
  std::set<std::string> gpus;
  for (const models::Measurement& m : measurements) {
    if (!m.beside.empty()) {
      pairs.push_back(m);
      gpus.insert(m.gpu);
      continue;
    }
    profile_fit::Company& company = companies[{m.workload, m.gpu}];
    (profile_fit::follows_law(m) ? company.law : company.turns).push_back(m);
    out.date = std::max(out.date, m.date);
  }
  Diagnostics problems;
  for (auto& [name, company] : companies) {
    for (const models::Measurement& m : company.law) company.batches.push_back(m.batch);
    std::ranges::sort(company.batches);
    // std::ranges::unique is beyond clang 14 with libstdc++ 12.
    company.batches.erase(std::unique(company.batches.begin(), company.batches.end()),
                          company.batches.end());
    for (const models::Measurement& m : company.turns) {
      if (std::ranges::find(company.batches, m.batch) != company.batches.end()) continue;
      problems.push_back(make_diagnostic(
          Code::InputMissing, m.where,
          fmt::format("{} with batch {} was measured in turns only", m.workload, m.batch),
          "measure it alone as well: turns are held against that"));
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  for (const auto& [name, company] : companies) {
    const profile_fit::CompanyFitter fitter(company, catalogue);
    for (int size = 0; size < static_cast<int>(company.batches.size()); ++size) {
      out.profiles.push_back(fitter.profile(size));
    }
  }
  problems = profile_fit::without_time_alone(out, pairs);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  for (const std::string& gpu : gpus) profile_fit::add_neighbours(pairs, gpu, out);
  return out;
}

}  // namespace slicewise::sim
