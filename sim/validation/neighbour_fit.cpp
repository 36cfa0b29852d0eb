#include "neighbour_fit.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/calibration.hpp"
#include "slicewise/sim/metrics/time_summary.hpp"

#include "law_fit.hpp"

namespace slicewise::sim::profile_fit {
namespace {

// The batches with which m.beside may have been there: of its rows beside `m`, else of all that was
// measured alone.
std::set<int> batches_beside(const Measurement& m, const std::vector<Measurement>& pairs,
                             const FittedProfiles& fitted) {
  if (m.beside_batch) return {*m.beside_batch};
  std::set<int> batches;
  for (const Measurement& other : pairs) {
    if (models::are_a_pair(m, other)) batches.insert(other.batch);
  }
  if (!batches.empty()) return batches;
  for (const FittedProfile& fit : fitted.profiles) {
    const models::WorkloadProfile& p = fit.profile;
    if (p.title == m.beside && p.gpu_model == m.gpu) batches.insert(*p.batch);
  }
  return batches;
}

// A workload with one batch; nullopt where it was never measured alone.
struct Member {
  std::string workload;
  std::optional<int> batch;

  friend bool operator==(const Member&, const Member&) = default;
};

// The workloads that were measured beside each other on one GPU.
class Neighbours {
 public:
  Neighbours(const std::vector<Measurement>& pairs, std::string gpu, FittedProfiles& fitted)
      : gpu_(std::move(gpu)), fitted_(fitted) {
    for (const Measurement& m : pairs) {
      if (m.gpu != gpu_) continue;
      pairs_.push_back(&m);
      const double alone = to_seconds(*alone_of(fitted, m)->profile.solo_step);
      const std::size_t client = number_of({m.workload, m.batch});
      const std::set<int> batches = batches_beside(m, pairs, fitted);
      const auto batch = batches.empty() ? std::nullopt : std::optional(*batches.begin());
      const std::size_t neighbour = number_of({m.beside, batch});
      seen_.push_back({client, neighbour, std::max(1.0, to_seconds(m.time) / alone)});
    }
    found_ = models::calibrate_pairs(seen_, workloads_.size());
    ignorance_ = models::pair_ignorance(seen_, found_, kLeastNoise);
  }

  void add_figures() {
    const double quantile = ignorance_.spare > 0 ? student_t_975(ignorance_.spare) : kNormal95;
    for (FittedProfile& fit : fitted_.profiles) {
      const auto at = fit.profile.gpu_model == gpu_ ? nearest_member(fit) : std::nullopt;
      if (!at) continue;
      const std::size_t n = *at;
      const std::optional<int> of = workloads_[n].batch;
      const std::string basis =
          of == fit.profile.batch ? "fitted" : fmt::format("borrowed from batch {}", *of);
      const std::string beside =
          fmt::format("{} {}", basis, neighbours_of(n) > 1 ? "beside others" : kBesideOne);
      add("sensitivity", found_.sensitivity[n], quantile * ignorance_.sensitivity[n], basis, beside,
          fit.profile.sensitivity, fit);
      add("pressure", found_.pressure[n], quantile * ignorance_.pressure[n], basis, beside,
          fit.profile.pressure, fit);
      add_unknown_neighbours(n, fit);
    }
  }

  void add_points(bool leave_out) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Measurement& m = *pairs_[i];
      FittedProfile& fit = *alone_of(fitted_, m);
      const double alone = in_ms(*fit.profile.solo_step);
      const std::size_t client = seen_[i].client;
      const std::size_t neighbour = seen_[i].neighbour;
      FittedPoint point{m, in_ms(m.time), alone * slowdown_in(found_, client, neighbour), {}};
      const auto unseen = leave_out ? slowdown_without(client, neighbour) : std::nullopt;
      if (unseen) point.left_out_ms = alone * *unseen;
      fit.points.push_back(std::move(point));
    }
  }

  // Neighbours of which no profile comes: how hard they press is lost.
  void note_those_without_profile() {
    std::set<std::size_t> told;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Member& beside = workloads_[seen_[i].neighbour];
      const bool known = std::ranges::any_of(fitted_.profiles, [&](const FittedProfile& fit) {
        return fit.profile.gpu_model == gpu_ && fit.profile.title == beside.workload &&
               fit.profile.batch == beside.batch;
      });
      if (known || !told.insert(seen_[i].neighbour).second) continue;
      add_note(
          fitted_.notes, Code::InputMissing, pairs_[i]->where,
          fmt::format("{} was a neighbour on {}, but was not measured itself: no profile of it",
                      name_of(beside), gpu_),
          "measure it alone as well, then what it does to others is kept");
    }
  }

 private:
  std::size_t number_of(const Member& member) {
    const auto found = std::ranges::find(workloads_, member);
    const auto number = static_cast<std::size_t>(found - workloads_.begin());
    if (found == workloads_.end()) workloads_.push_back(member);
    return number;
  }

  // The batch only where there are several.
  std::string name_of(const Member& member) const {
    const auto alike = std::ranges::count(workloads_, member.workload, &Member::workload);
    return alike > 1 && member.batch ? fmt::format("{} of batch {}", member.workload, *member.batch)
                                     : member.workload;
  }

  // What was measured of this batch, else of the nearest one that was.
  std::optional<std::size_t> nearest_member(const FittedProfile& fit) const {
    std::optional<std::size_t> nearest;
    const auto distance = [&](std::size_t n) {
      return std::abs(*workloads_[n].batch - *fit.profile.batch);
    };
    for (std::size_t n = 0; n < workloads_.size(); ++n) {
      if (workloads_[n].workload != fit.profile.title || !workloads_[n].batch) continue;
      if (!nearest || distance(n) < distance(*nearest)) nearest = n;
    }
    return nearest;
  }

  std::size_t neighbours_of(std::size_t member) const {
    std::set<std::size_t> others;
    for (const models::PairObservation& seen : seen_) {
      if (seen.client == member) others.insert(seen.neighbour);
      if (seen.neighbour == member) others.insert(seen.client);
    }
    return others.size();
  }

  static double slowdown_in(const models::PairCalibration& figures, std::size_t client,
                            std::size_t neighbour) {
    return 1 + figures.sensitivity[client].value_or(0) * figures.pressure[neighbour].value_or(0);
  }

  // What the other pairs say of one; nullopt where they do not tell.
  std::optional<double> slowdown_without(std::size_t client, std::size_t neighbour) const {
    std::vector<models::PairObservation> rest = seen_;
    std::erase_if(rest, [&](const models::PairObservation& seen) {
      return seen.client == client && seen.neighbour == neighbour;
    });
    const models::PairCalibration others = models::calibrate_pairs(rest, workloads_.size());
    if (!others.sensitivity[client] || !others.pressure[neighbour]) return std::nullopt;
    const auto unknown = models::pair_ignorance(rest, others, kLeastNoise).undetermined;
    const bool is_known = !contains(unknown, std::pair(client, neighbour));
    return is_known ? std::optional(slowdown_in(others, client, neighbour)) : std::nullopt;
  }

  static void add(const char* name, const std::optional<double>& value, double width,
                  const std::string& basis, const std::string& beside,
                  std::optional<double>& figure, FittedProfile& fit) {
    if (!value) return;
    figure = value;
    fit.figures.push_back({name, *value, width, basis});
    fit.profile.uncertainty.push_back({name, width, {}});
    fit.profile.provenance[name] =
        fmt::format("{}, 95 % within {:.2g}; only products are determined", beside, width);
  }

  void add_unknown_neighbours(std::size_t client, FittedProfile& fit) const {
    for (const auto& [first, second] : ignorance_.undetermined) {
      if (first == client) fit.undetermined.push_back("beside " + name_of(workloads_[second]));
    }
  }

  std::string gpu_;
  FittedProfiles& fitted_;
  std::vector<const Measurement*> pairs_;
  std::vector<Member> workloads_;
  std::vector<models::PairObservation> seen_;
  models::PairCalibration found_;
  models::PairIgnorance ignorance_;
};

}  // namespace

FittedProfile* alone_of(FittedProfiles& fitted, const Measurement& m) {
  return find_if_or_null(fitted.profiles, [&](const FittedProfile& fit) {
    return fit.profile.title == m.workload && fit.profile.gpu_model == m.gpu &&
           fit.profile.batch == m.batch;
  });
}

Diagnostics unclear_pairs(FittedProfiles& fitted, const std::vector<Measurement>& pairs) {
  Diagnostics problems;
  for (const Measurement& m : pairs) {
    if (const auto batches = batches_beside(m, pairs, fitted); batches.size() > 1) {
      add_diagnostic(problems, Code::FieldMissing, m.where,
                     fmt::format("{} was measured with batches {}, and the row does not say with "
                                 "which of them it was beside {}",
                                 m.beside, fmt::join(batches, ", "), m.workload),
                     "add the column `beside_batch`");
    }
    if (alone_of(fitted, m) != nullptr) continue;
    add_diagnostic(
        problems, Code::InputMissing, m.where,
        fmt::format("{} with batch {} was measured beside {} only", m.workload, m.batch, m.beside),
        "measure it alone as well: neighbours are held against that");
  }
  return problems;
}

void add_neighbours(const std::vector<Measurement>& pairs, bool leave_out, FittedProfiles& fitted) {
  std::set<std::string> gpus;
  for (const Measurement& m : pairs) gpus.insert(m.gpu);
  for (const std::string& gpu : gpus) {
    Neighbours neighbours(pairs, gpu, fitted);
    neighbours.add_figures();
    neighbours.add_points(leave_out);
    neighbours.note_those_without_profile();
  }
}

}  // namespace slicewise::sim::profile_fit
