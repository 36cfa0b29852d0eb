#include "slicewise/models/mig.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

namespace slicewise::models {
namespace {

using SliceSet = unsigned;  // bit k: memory slice k

SliceSet slices_of(const MigProfile::Placement& placement) {
  return ((1U << placement.size) - 1U) << placement.start;
}

// How many of each profile of the geometry.
using Wanted = std::vector<int>;

// Backtracking over placements. Instances of one profile are interchangeable, so each starts
// behind the one before it.
class Search {
 public:
  explicit Search(const MigGeometry& geometry) : geometry_(geometry) {
    order_.resize(geometry.profiles.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, std::greater<>(), [&](std::size_t profile) {
      return geometry_.profiles[profile].memory_slices;
    });
  }

  std::optional<std::vector<MigInstance>> place(const Wanted& wanted) {
    placed_.clear();
    if (!place_rest(wanted, 0, wanted[order_[0]], 0, -1)) return {};
    std::ranges::sort(placed_, {}, &MigInstance::start);
    return placed_;
  }

 private:
  // `left` instances of the profile at `rank`, then those of the ranks after it.
  bool place_rest(const Wanted& wanted, std::size_t rank, int left, SliceSet taken, int last) {
    while (left == 0) {
      if (++rank == order_.size()) return true;
      left = wanted[order_[rank]];
      last = -1;
    }
    const MigProfile& profile = geometry_.profiles[order_[rank]];
    for (const MigProfile::Placement& placement : profile.placements) {
      const SliceSet slices = slices_of(placement);
      if (placement.start <= last || (slices & taken) != 0) continue;
      placed_.push_back({&profile, placement.start});
      if (place_rest(wanted, rank, left - 1, taken | slices, placement.start)) return true;
      placed_.pop_back();
    }
    return false;
  }

  const MigGeometry& geometry_;
  std::vector<std::size_t> order_;  // profiles, largest first
  std::vector<MigInstance> placed_;
};

std::vector<std::string> profile_names(const MigGeometry& geometry) {
  std::vector<std::string> names;
  names.reserve(geometry.profiles.size());
  for (const MigProfile& profile : geometry.profiles) names.push_back(profile.name);
  return names;
}

// Another board's name of a profile differs in its memory: one of the same compute slices is meant.
std::optional<std::string> profile_meant(std::string_view wrong, const MigGeometry& geometry) {
  const std::string_view compute = wrong.substr(0, wrong.find('.') + 1);
  std::vector<std::string> alike;
  for (const std::string& name : profile_names(geometry)) {
    if (!compute.empty() && name.starts_with(compute)) alike.push_back(name);
  }
  auto meant = nearest_name(wrong, alike);
  return meant ? meant : nearest_name(wrong, profile_names(geometry));
}

MigRefusal unknown_profile(const MigGeometry& geometry, const std::string& wrong,
                           std::size_t entry) {
  const auto meant = profile_meant(wrong, geometry);
  return {Code::MigConfigUnknown, entry,
          fmt::format("{} has no MIG profile {}", geometry.gpu_model, wrong),
          fmt::format("{}it has {}", meant ? fmt::format("did you mean {}? ", *meant) : "",
                      fmt::join(profile_names(geometry), ", "))};
}

// "memory slices 0-3 or 4-7", "one of memory slices 0 to 6".
std::string places_of(const MigProfile& profile) {
  const auto& places = profile.placements;
  if (places.size() > 2 && places.front().size == 1) {
    return fmt::format("one of memory slices {} to {}", places.front().start, places.back().start);
  }
  std::string text = "memory slices ";
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0) text += i + 1 == places.size() ? " or " : ", ";
    text += fmt::format("{}-{}", places[i].start, places[i].start + places[i].size - 1);
  }
  return text;
}

// The fewest instances that still do not fit: without any one of them the others would.
Wanted smallest_conflict(Search& search, Wanted wanted) {
  for (int& count : wanted) {
    while (count > 0) {
      --count;
      if (!search.place(wanted)) continue;
      ++count;
      break;
    }
  }
  return wanted;
}

MigRefusal no_placement(const MigGeometry& geometry, Search& search, const Wanted& wanted) {
  const Wanted conflict = smallest_conflict(search, wanted);
  std::vector<std::string> counts;
  std::vector<std::string> needs;
  std::vector<std::string> fewer;
  for (std::size_t p = 0; p < conflict.size(); ++p) {
    if (conflict[p] == 0) continue;
    const MigProfile& profile = geometry.profiles[p];
    counts.push_back(fmt::format("{} x {}", conflict[p], profile.name));
    needs.push_back(fmt::format("{} needs {}", profile.name, places_of(profile)));
    Wanted without_one = wanted;
    --without_one[p];
    if (search.place(without_one)) fewer.push_back(profile.name);
  }
  return {Code::MigLayoutImpossible,
          {},
          fmt::format("no placement for {} on one {}: {}", fmt::join(counts, " and "),
                      geometry.gpu_model, fmt::join(needs, ", ")),
          fewer.empty() ? "take fewer or smaller instances"
                        : fmt::format("it fits with one {} less", fmt::join(fewer, " or one "))};
}

std::optional<MigRefusal> too_many(const MigGeometry& geometry, const MigProfile& profile,
                                   int count, std::size_t entry) {
  if (count <= profile.max_count) return {};
  return MigRefusal{Code::MigLayoutImpossible,
                    entry,
                    fmt::format("{} x {} on one {}: at most {} of them exist at a time", count,
                                profile.name, geometry.gpu_model, profile.max_count),
                    {}};
}

// The media engines (JPEG, OFA) go to one instance as a whole.
std::optional<MigRefusal> media_twice(const MigGeometry& geometry, const Wanted& wanted,
                                      const std::vector<MigCount>& counts) {
  int with_media = 0;
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    if (geometry.profiles[p].media_extensions) with_media += wanted[p];
  }
  if (with_media <= 1) return {};
  std::vector<std::string> names;
  for (const MigCount& line : counts) {
    const auto profile = std::ranges::find(geometry.profiles, line.profile, &MigProfile::name);
    if (line.count > 0 && profile->media_extensions) names.push_back(line.profile);
  }
  return MigRefusal{Code::MigLayoutImpossible,
                    {},
                    fmt::format("{} instances with media extensions on one {}: one may have them",
                                with_media, geometry.gpu_model),
                    fmt::format("keep one of {}", fmt::join(names, ", "))};
}

}  // namespace

tl::expected<std::vector<MigInstance>, MigRefusal> place_instances(
    const MigGeometry& geometry, const std::vector<MigCount>& counts) {
  Wanted wanted(geometry.profiles.size(), 0);
  for (std::size_t entry = 0; entry < counts.size(); ++entry) {
    assert(counts[entry].count >= 0);
    const auto found =
        std::ranges::find(geometry.profiles, counts[entry].profile, &MigProfile::name);
    if (found == geometry.profiles.end()) {
      return tl::unexpected(unknown_profile(geometry, counts[entry].profile, entry));
    }
    int& count = wanted[static_cast<std::size_t>(found - geometry.profiles.begin())];
    count += counts[entry].count;
    if (auto refusal = too_many(geometry, *found, count, entry)) {
      return tl::unexpected(*std::move(refusal));
    }
  }
  if (auto refusal = media_twice(geometry, wanted, counts)) {
    return tl::unexpected(*std::move(refusal));
  }
  Search search(geometry);
  if (auto placed = search.place(wanted)) return *std::move(placed);
  return tl::unexpected(no_placement(geometry, search, wanted));
}

DomainShare mig_share(const MigGeometry& geometry, const MigProfile& profile) {
  const double memory =
      static_cast<double>(profile.memory_slices) / static_cast<double>(geometry.memory_slices);
  if (!profile.sm_count) return {memory, memory};
  return {static_cast<double>(*profile.sm_count) / static_cast<double>(geometry.sm_total), memory};
}

namespace {

constexpr std::string_view kDisabled = "all-disabled";
constexpr std::string_view kEnabled = "all-enabled";
constexpr std::string_view kBalanced = "all-balanced";

std::string config_name(const MigProfile& profile) {
  std::string name = "all-" + profile.name;
  std::ranges::replace(name, '+', '.');
  return name;
}

// Neither media engines, graphics nor their absence in the name, nor twice the memory.
bool is_plain(const MigProfile& profile, int compute_slices) {
  return profile.compute_slices == compute_slices &&
         profile.name.find_first_of("+-") == std::string::npos &&
         (compute_slices != 1 || profile.memory_slices == 1);
}

std::vector<MigCount> balanced(const MigGeometry& geometry) {
  std::vector<MigCount> counts;
  for (const int compute_slices : {1, 2, 3}) {
    const auto profile = std::ranges::find_if(
        geometry.profiles, [&](const MigProfile& p) { return is_plain(p, compute_slices); });
    if (profile == geometry.profiles.end()) continue;
    counts.push_back({profile->name, compute_slices == 1 ? 2 : 1});
  }
  return counts;
}

// Of two slices there is nothing to balance: mig-parted has no such config for them.
bool has_balanced(const MigGeometry& geometry) {
  return place_instances(geometry, balanced(geometry)).has_value();
}

}  // namespace

std::vector<std::string> shipped_mig_config_names(const MigGeometry& geometry) {
  std::vector<std::string> names{std::string(kDisabled), std::string(kEnabled)};
  if (has_balanced(geometry)) names.emplace_back(kBalanced);
  for (const MigProfile& profile : geometry.profiles) names.push_back(config_name(profile));
  return names;
}

tl::expected<MigConfig, MigRefusal> shipped_mig_config(std::string_view name,
                                                       const MigGeometry& geometry) {
  if (name == kDisabled) return MigConfig{false, {}};
  if (name == kEnabled) return MigConfig{true, {}};
  if (name == kBalanced && has_balanced(geometry)) return MigConfig{true, balanced(geometry)};
  const auto profile = std::ranges::find(geometry.profiles, name, config_name);
  if (profile != geometry.profiles.end()) {
    return MigConfig{true, {{profile->name, profile->max_count}}};
  }
  const std::vector<std::string> names = shipped_mig_config_names(geometry);
  auto meant = nearest_name(name, names);
  if (!meant) meant = nearest_name("all-" + std::string(name), names);
  return tl::unexpected(
      MigRefusal{Code::MigConfigUnknown,
                 {},
                 fmt::format("mig-manager has no config {} for {}", name, geometry.gpu_model),
                 fmt::format("{}it has {}", meant ? fmt::format("did you mean {}? ", *meant) : "",
                             fmt::join(names, ", "))});
}

}  // namespace slicewise::models
