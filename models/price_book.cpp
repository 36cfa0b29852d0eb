#include "slicewise/models/price_book.hpp"

#include <cassert>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slicewise::models {
namespace {

std::string reason_without_list_price(PurchaseOption option) {
  if (option == PurchaseOption::Reserved) return "a reserved price depends on your contract";
  if (option == PurchaseOption::Spot) return "no spot market was recorded there";
  return "the catalogue has no such type or region";
}

}  // namespace

std::string_view name_of(PurchaseOption option) {
  switch (option) {
    case PurchaseOption::OnDemand:
      return "on-demand";
    case PurchaseOption::Spot:
      return "spot";
    case PurchaseOption::Reserved:
      break;
  }
  return "reserved";
}

void PriceBook::set(std::string_view instance, std::string_view region, PurchaseOption option,
                    Price price) {
  assert(price.usd.per_hour.nano > 0);
  prices_.insert_or_assign({std::string(instance), std::string(region), option}, std::move(price));
}

void PriceBook::set_unknown_reason(std::string_view instance, std::string_view region,
                                   std::string reason) {
  unknown_.insert_or_assign({std::string(instance), std::string(region)}, std::move(reason));
}

Expected<Price> PriceBook::find(std::string_view instance, std::string_view region,
                                PurchaseOption option) const {
  const auto found = prices_.find({std::string(instance), std::string(region), option});
  if (found != prices_.end()) return found->second;

  const std::vector<std::string> elsewhere = regions_with(instance, option);
  std::string help = missing_reason(instance, region, option);
  if (!elsewhere.empty()) help += fmt::format("; known in {}", fmt::join(elsewhere, ", "));
  return tl::unexpected(Diagnostics{
      make_diagnostic(Code::PriceUnknown, {},
                      fmt::format("no {} price for {} in {}", name_of(option), instance, region),
                      help + "; give it with --prices FILE")});
}

std::string PriceBook::missing_reason(std::string_view instance, std::string_view region,
                                      PurchaseOption option) const {
  const auto unknown = unknown_.find({std::string(instance), std::string(region)});
  const bool listed = option == PurchaseOption::OnDemand && unknown != unknown_.end();
  return listed ? unknown->second : reason_without_list_price(option);
}

std::vector<std::string> PriceBook::regions_with(std::string_view instance,
                                                 PurchaseOption option) const {
  std::vector<std::string> out;  // prices_ is sorted by instance, then region
  for (const auto& [key, price] : prices_) {
    if (key.instance == instance && key.option == option) out.push_back(key.region);
  }
  return out;
}

std::vector<std::string> PriceBook::regions() const {
  std::set<std::string> out;
  for (const auto& [key, price] : prices_) out.insert(key.region);
  for (const auto& [key, reason] : unknown_) out.insert(key.second);
  return {out.begin(), out.end()};
}

}  // namespace slicewise::models
