#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

struct Catalogue;

enum class PurchaseOption : std::uint8_t { OnDemand, Spot, Reserved, CapacityBlock };

struct Price {
  UsdPerHour usd;
  Source source;
};

// What EKS charges for a cluster, whatever its nodes, while its Kubernetes version is in standard
// support (14 months) and in extended support (12 more). Sources: aws.amazon.com/eks/pricing;
// "Amazon EKS extended support for Kubernetes versions pricing", AWS Containers Blog, January 2024.
// The same in every commercial region.
inline constexpr UsdPerHour kControlPlane{{100'000'000}};
inline constexpr UsdPerHour kControlPlaneInExtendedSupport{{600'000'000}};

// What an instance-hour costs. A price that nobody knows is absent, never zero.
class PriceBook {
 public:
  // REQUIRES: price.usd > 0. Replaces an earlier price of the same key.
  void set(std::string_view instance, std::string_view region, PurchaseOption option, Price price);
  void set_unknown_reason(std::string_view instance, std::string_view region, std::string reason);
  void set_date(std::string date) { date_ = std::move(date); }

  // The price, or PRICE_UNKNOWN that names type, region and purchase option, says why it is
  // missing, and lists the regions where the price is known.
  Expected<Price> find(std::string_view instance, std::string_view region,
                       PurchaseOption option) const;

  // Why find() has no such price, half a sentence. REQUIRES: it has none.
  std::string missing_reason(std::string_view instance, std::string_view region,
                             PurchaseOption option) const;

  // Regions where the instance type has a price, sorted.
  std::vector<std::string> regions_with(std::string_view instance, PurchaseOption option) const;
  const std::vector<std::string>& regions() const { return regions_; }  // sorted
  const std::string& date() const { return date_; }  // of the newest price in the book, ISO

 private:
  struct Key {
    std::string instance;
    std::string region;
    PurchaseOption option;
    // clang-tidy 14 takes the comparison with 0 that the compiler writes here for a pointer's.
    friend auto operator<=>(const Key&, const Key&) = default;  // NOLINT(modernize-use-nullptr)
  };
  void note_region(std::string_view region);

  std::map<Key, Price> prices_;
  std::map<std::pair<std::string, std::string>, std::string> unknown_;
  std::vector<std::string> regions_;  // of both; a planner asks for them with every world
  std::string date_;
};

// "on-demand", "spot", "reserved", "capacity-block": as price files and messages write it.
std::string_view name_of(PurchaseOption option);

// Reads a user's price file (JSON):
//   {"date": "2026-11-01", "prices": [{"instanceType": "p4d.24xlarge", "region": "us-east-1",
//    "purchase": "on-demand", "usdPerHour": 21.96, "source": "our agreement"}]}
// and returns the catalogue's price book with those prices laid over it. `purchase` is on-demand
// when absent, `source` is the file's name, `date` dates every price of the file. Malformed JSON,
// unknown keys, prices <= 0 and unknown instance types or regions are diagnostics with
// file:line:col, all of them at once.
Expected<PriceBook> with_overrides(const Catalogue& catalogue, const SourceText& prices_file);

}  // namespace slicewise::models
