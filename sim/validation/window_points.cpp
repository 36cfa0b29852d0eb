#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/calibration.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/gpu_names.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/sim/calibration.hpp"

#include "law_fit.hpp"

// Times of a step from a window of Prometheus.
namespace slicewise::sim {
namespace profile_fit {
namespace {

using scenarios::SharingLevel;

constexpr int kHalvings = 50;

// How a GPU fares that its pods come back to, each after a time away of its own: a finite source of
// a station that all share, of which only the means of both times count. k at a time take
// stretch[k] times as long as alone.
struct SharedStation {
  std::vector<double> stretch;  // by pods at work, from 0 on

  // `unknown`: of MPS the capacity share, in turns what switching adds.
  SharedStation(MeasuredSharing sharing, int pods, double unknown)
      : stretch(static_cast<std::size_t>(pods) + 1, 1) {
    models::ClientLaw law;
    law.norm_p = models::kDefaultNorm;  // has hardly a part in it
    law.capacity_share = unknown;
    for (int k = 2; k <= pods; ++k) {
      stretch[static_cast<std::size_t>(k)] =
          sharing == MeasuredSharing::Mps ? models::stretch_of(law, {}, 1, k) : k * (1 + unknown);
    }
  }

  struct Shares {
    double busy = 0;  // of the time somebody is at work
    double load = 0;  // what one gets done, in its time alone
  };
  // `eager`: how long a pod's work takes alone, in its times away.
  Shares at(double eager) const {
    const std::size_t pods = stretch.size() - 1;
    constexpr double kHuge = 1e100;
    double idle = 1;    // the weight of the state with none at work
    double weight = 1;  // ... with k
    double sum = 1;
    double done = 0;
    for (std::size_t k = 1; k <= pods; ++k) {
      const double away = static_cast<double>(pods - k + 1);
      weight *= away / static_cast<double>(k) * eager * stretch[k];
      sum += weight;
      done += weight * static_cast<double>(k) / stretch[k];
      if (weight < kHuge) continue;
      for (double* scaled : {&idle, &weight, &sum, &done}) *scaled /= kHuge;
    }
    return {1 - idle / sum, done / sum / static_cast<double>(pods)};
  }

  double busy_at(double load) const {
    double low = 0;  // of the share that work takes of work and time away, alone
    double high = 1 - 1e-6;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (low + high) / 2;
      (at(middle / (1 - middle)).load < load ? low : high) = middle;
    }
    return at(high / (1 - high)).busy;
  }
};

// How many times as long as alone a step takes while all pods are at it: so that a GPU of that
// `load` by each pod is `busy`.
double stretch_by_busy(MeasuredSharing sharing, int pods, double load, double busy) {
  double low = 0;
  double high = 1;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double middle = (low + high) / 2;
    (SharedStation(sharing, pods, middle).busy_at(load) < busy ? low : high) = middle;
  }
  return SharedStation(sharing, pods, (low + high) / 2).stretch.back();
}

double busy_by_request(const SharingLevel& level) {
  return level.busy * level.seconds / level.requests;
}

// Deviation of that, relative: requests come by chance.
double noise_of(const SharingLevel& level) {
  const double busy = level.busy_error / level.busy;
  return std::sqrt(busy * busy + 1 / level.requests + models::kLeastNoise * models::kLeastNoise);
}

class WindowReader {
 public:
  WindowReader(std::span<const SharingLevel> levels, const models::MeasuredContext& context,
               const models::Catalogue& catalogue)
      : levels_(levels), context_(context), catalogue_(catalogue) {}

  Expected<std::vector<WindowPoint>> read() {
    for (const SharingLevel& level : levels_) {
      if (level.busy > 0) add(level);
    }
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    return std::move(points_);
  }

 private:
  const models::GpuModel* gpu_of(const SharingLevel& level) {
    const std::string& name = context_.gpu.empty() ? level.gpu : context_.gpu;
    const models::GpuModel* gpu = name.empty() ? nullptr : models::gpu_called(catalogue_, name);
    if (gpu == nullptr) {
      add_diagnostic(problems_, name.empty() ? Code::FieldMissing : Code::GpuUnknown, level.where,
                     name.empty() ? "DCGM does not say on which GPU: its series have no modelName"
                                  : fmt::format("GPU model {} is not in the catalogue", name),
                     name.empty() ? "say it with --gpu" : models::gpus_meant(catalogue_, name));
    }
    return gpu;
  }

  bool read_slice(const SharingLevel& level, WindowPoint& point) {
    if (level.slice.empty()) return true;
    const models::MigGeometry* geometry = catalogue_.find_mig(point.setting.gpu);
    for (std::size_t i = 0; geometry != nullptr && i < geometry->profiles.size(); ++i) {
      const models::MigProfile& profile = geometry->profiles[i];
      if (profile.name != level.slice) continue;
      point.setting.slice = level.slice;
      point.setting.share = models::mig_share(*geometry, profile);
      return true;
    }
    add_diagnostic(problems_, Code::MigConfigUnknown, level.where,
                   fmt::format("{} has no MIG profile {}", point.setting.gpu, level.slice));
    return false;
  }

  bool read_sharing(const SharingLevel& level, WindowPoint& point) {
    if (level.pods == 1) return true;
    if (level.sharing == "mps") point.setting.sharing = MeasuredSharing::Mps;
    if (level.sharing == "time-slicing") {
      point.setting.sharing = MeasuredSharing::TimeSlicing;
    }
    if (point.setting.sharing != MeasuredSharing::Alone) return true;
    if (context_.sharing) {
      point.setting.sharing = *context_.sharing;
      return true;
    }
    add_diagnostic(
        problems_, Code::FieldMissing, level.where,
        fmt::format("how {} pods of {} shared a GPU is not recorded", level.pods, level.workload),
        "say --sharing mps or --sharing time-slicing; kube_node_labels has it as "
        "label_nvidia_com_gpu_sharing_strategy where kube-state-metrics may show it");
    return false;
  }

  const SharingLevel* alone(const SharingLevel& like) const {
    return find_if_or_null(levels_, [&](const SharingLevel& level) {
      return level.pods == 1 && level.busy > 0 && level.workload == like.workload &&
             level.gpu == like.gpu && level.slice == like.slice;
    });
  }

  void add(const SharingLevel& level) {
    WindowPoint point;
    const models::GpuModel* gpu = gpu_of(level);
    if (gpu == nullptr) return;
    models::Measurement& setting = point.setting;
    setting.workload = level.workload;
    setting.gpu = gpu->name;
    setting.batch = context_.batch.value_or(1);
    setting.clients = level.pods;
    setting.date = level.date;
    setting.where = level.where;
    setting.is_busy = true;
    if (!read_slice(level, point) || !read_sharing(level, point)) return;
    point.hours = level.seconds / 3'600;
    point.rate_each = level.requests / level.seconds / level.pods;
    point.busy_percent = 100 * level.busy;
    point.busy_ms = 1'000 * busy_by_request(level);
    point.half_width_percent = 100 * kNormal95 * noise_of(level);
    // While it had work; what of that no kernel ran in GPU_UTIL does not say.
    const auto while_busy = [&](const std::optional<double>& share) {
      return share ? std::optional(std::min(1.0, *share / level.busy)) : std::nullopt;
    };
    setting.activity.sm_active = while_busy(level.sm_active);
    setting.activity.dram_active = while_busy(level.dram_active);
    if (level.sampled && (level.sm_active || level.dram_active)) setting.activity.gpu_util = 1;
    double step_s = busy_by_request(level);
    if (setting.sharing != MeasuredSharing::Alone) {
      const SharingLevel* single = alone(level);
      if (single == nullptr) {
        add_diagnostic(
            problems_, Code::InputMissing, level.where,
            fmt::format("no pod of {} had a GPU to itself in this window", level.workload),
            "record it alone as well: what shares a GPU is held against that");
        return;
      }
      step_s = together(level, *single, point);
    }
    // As many requests as a batch has go through at once. Of what no step takes nothing follows.
    constexpr double kLeastSeconds = 1e-6;
    constexpr double kMostSeconds = 1e5;
    const double taken_s = std::clamp(step_s * setting.batch, kLeastSeconds, kMostSeconds);
    if (taken_s != step_s * setting.batch) point.half_width_percent = 100;
    setting.time = from_seconds(taken_s);
    points_.push_back(std::move(point));
  }

  // Of a step while all pods are at it, and how sure that is: at both ends of what may be.
  static double together(const SharingLevel& level, const SharingLevel& single,
                         WindowPoint& point) {
    const double alone_s = busy_by_request(single);
    const double load = level.requests / level.seconds / level.pods * alone_s;
    const double here = noise_of(level);
    const double there = noise_of(single);
    const double noise = kNormal95 * std::sqrt(here * here + there * there);
    const auto stretch_at = [&](double part) {
      return stretch_by_busy(point.setting.sharing, level.pods, load * (1 - part),
                             level.busy * (1 + part));
    };
    const double most = stretch_at(noise / 2);
    const double least = stretch_at(-noise / 2);
    const double stretch = stretch_at(0);
    point.half_width_percent = 100 * (most - least) / 2 / stretch;
    return alone_s * stretch;
  }

  std::span<const SharingLevel> levels_;
  const models::MeasuredContext& context_;
  const models::Catalogue& catalogue_;
  std::vector<WindowPoint> points_;
  Diagnostics problems_;
};

}  // namespace
}  // namespace profile_fit

Expected<std::vector<WindowPoint>> window_points(std::span<const scenarios::SharingLevel> levels,
                                                 const models::MeasuredContext& context,
                                                 const models::Catalogue& catalogue) {
  return profile_fit::WindowReader(levels, context, catalogue).read();
}

}  // namespace slicewise::sim
