#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/nearest_name.hpp"

#include "catalogue_listing.hpp"

namespace slicewise::reports {
namespace {

using models::Catalogue;
using models::Commitment;
using models::PurchaseOption;
using models::SpotMarket;
using nlohmann::json;

Diagnostics check_prices(const Catalogue& catalogue, const std::string& instance,
                         const std::string& region) {
  Diagnostics problems;
  if (!instance.empty() && catalogue.find_instance(instance) == nullptr) {
    std::vector<std::string> known;
    for (const models::InstanceType& type : catalogue.instances) known.push_back(type.name);
    const auto nearest = nearest_name(instance, known);
    problems.push_back(
        make_diagnostic(Code::InstanceUnknown, {},
                        fmt::format("instance type {} is not in the catalogue", instance),
                        nearest ? fmt::format("did you mean {}?", *nearest)
                                : std::string("`slicewise get instances -o name` lists them")));
  }
  const auto& regions = catalogue.prices.regions();
  if (!region.empty() && std::ranges::find(regions, region) == regions.end()) {
    problems.push_back(unknown_region(catalogue, region));
  }
  return problems;
}

const SpotMarket* market_of(const Catalogue& catalogue, const std::string& instance,
                            const std::string& region) {
  for (const SpotMarket& market : catalogue.spot) {
    if (market.instance == instance && market.region == region) return &market;
  }
  return nullptr;
}

// Against the on-demand price beside it, whole percent.
std::int64_t saving_percent(UsdPerHour price, UsdPerHour on_demand) {
  return std::llround(100 * (1 - dollars_of(price) / dollars_of(on_demand)));
}

json price_item(const Catalogue& catalogue, const std::string& instance, const std::string& region,
                PurchaseOption option) {
  json item = {{"instanceType", instance},
               {"region", region},
               {"purchase", std::string(models::name_of(option))}};
  const auto price = catalogue.prices.find(instance, region, option);
  if (price) {
    item["usdPerHour"] = dollars_of(price->usd);
    item["derived"] = price->source.derived;
    item["date"] = price->source.date;
    item["source"] = price->source.text;
  } else {
    item["priceMissing"] = catalogue.prices.missing_reason(instance, region, option);
  }
  if (option != PurchaseOption::OnDemand) {
    const auto full = catalogue.prices.find(instance, region, PurchaseOption::OnDemand);
    if (price && full) item["savingsPercent"] = saving_percent(price->usd, full->usd);
  }
  const SpotMarket* market =
      option == PurchaseOption::Spot ? market_of(catalogue, instance, region) : nullptr;
  if (market != nullptr && market->savings_percent) {
    item["advisorSavingsPercent"] = *market->savings_percent;
    item["interruptionsPerMonth"] = market->interruption_bucket;
    item["advisorDate"] = market->advisor_date;
  }
  return item;
}

// By the hour, what is paid at once among it: what is known, or the on-demand price less a
// discount.
std::optional<double> hourly_of(const Catalogue& catalogue, const Commitment& commitment) {
  if (commitment.usd) return dollars_of(*commitment.usd);
  const auto full =
      catalogue.prices.find(commitment.instance, commitment.region, PurchaseOption::OnDemand);
  if (!full || !commitment.discount_percent) return std::nullopt;
  return dollars_of(full->usd) * (1 - *commitment.discount_percent / 100);
}

json commitment_item(const Catalogue& catalogue, const Commitment& commitment) {
  json item = {{"instanceType", commitment.instance}, {"region", commitment.region},
               {"purchase", commitment.kind},         {"derived", false},
               {"date", commitment.source.date},      {"valid", commitment.valid},
               {"source", commitment.source.text}};
  if (const auto usd = hourly_of(catalogue, commitment)) item["usdPerHour"] = *usd;
  if (commitment.discount_percent) item["savingsPercent"] = *commitment.discount_percent;
  if (!commitment.note.empty()) item["note"] = commitment.note;
  return item;
}

std::string text_member(const json& item, const char* key) {
  return item.contains(key) ? item.at(key).get<std::string>() : "-";
}

std::vector<std::string> price_cells(const json& item) {
  const bool derived = item.value("derived", false);
  const std::string usd = item.contains("usdPerHour")
                              ? fmt::format("{:.4f}", item.at("usdPerHour").get<double>())
                              : "-";
  const std::string saving = item.contains("savingsPercent")
                                 ? number_cell(item.at("savingsPercent").get<double>(), 1) + " %"
                                 : "-";
  return {text_member(item, "instanceType"),
          text_member(item, "region"),
          text_member(item, "purchase"),
          (derived ? "~" : "") + usd,
          saving,
          text_member(item, "interruptionsPerMonth"),
          text_member(item, "date"),
          text_member(item, "source")};
}

// Every price of one type: region by region, then its commitments.
std::vector<json> items_of(const Catalogue& catalogue, const std::string& instance,
                           const std::string& region) {
  std::vector<json> items;
  for (const std::string& place : catalogue.prices.regions()) {
    if (!region.empty() && place != region) continue;
    items.push_back(price_item(catalogue, instance, place, PurchaseOption::OnDemand));
    const bool spot = catalogue.prices.find(instance, place, PurchaseOption::Spot).has_value();
    if (spot || market_of(catalogue, instance, place) != nullptr) {
      items.push_back(price_item(catalogue, instance, place, PurchaseOption::Spot));
    }
    if (catalogue.prices.find(instance, place, PurchaseOption::Reserved)) {
      items.push_back(price_item(catalogue, instance, place, PurchaseOption::Reserved));
    }
  }
  for (const Commitment& commitment : catalogue.commitments) {
    const bool here =
        region.empty() || commitment.region == region || commitment.region == "most regions";
    if (commitment.instance == instance && here)
      items.push_back(commitment_item(catalogue, commitment));
  }
  return items;
}

// The legend, and why prices are missing when the listing is about one type.
std::vector<std::string> price_footnotes(const std::vector<json>& items,
                                         const std::string& instance) {
  std::vector<std::string> notes = {
      "USD per instance-hour, Linux. ~ derived: -o wide says how. SAVING is against the on-demand "
      "price of the region; "
      "INTERRUPTED is the share of spot instances reclaimed per month."};
  std::set<std::string> remarks;
  for (const json& item : items) {
    if (item.contains("note")) {
      remarks.insert(text_member(item, "purchase") + ": " + text_member(item, "note") + ".");
    }
  }
  if (!instance.empty()) notes.insert(notes.end(), remarks.begin(), remarks.end());
  std::map<std::string, std::vector<std::string>> missing;
  for (const json& item : items) {
    if (item.contains("priceMissing")) {
      missing[text_member(item, "priceMissing")].push_back(text_member(item, "region"));
    }
  }
  if (instance.empty() && !missing.empty()) {
    notes.emplace_back("- unknown; `slicewise get prices TYPE` says why.");
    return notes;
  }
  for (const auto& [reason, regions] : missing) {
    notes.push_back(fmt::format("- no price in {}: {}.", fmt::join(regions, ", "), reason));
  }
  return notes;
}

}  // namespace

Expected<std::string> list_prices(const Catalogue& catalogue, const std::string& instance,
                                  const std::string& region, ListFormat format,
                                  const TextStyle& style) {
  const Diagnostics problems = check_prices(catalogue, instance, region);
  if (!problems.empty()) return tl::unexpected(problems);

  Listing listing;
  listing.kind = "PriceList";
  listing.name_key = "instanceType";
  listing.csv_header =
      "instanceType,region,purchase,usdPerHour,savingsPercent,interruptionsPerMonth,"
      "derived,date,valid,source,note,priceMissing,advisorSavingsPercent";
  listing.columns = {{"NAME", false, 0}, {"REGION", false, 0}, {"PURCHASE", false, 0},
                     {"$/H", true, 0},   {"SAVING", true, 1},  {"INTERRUPTED", true, 2},
                     {"DATE", false, 3}, {"SOURCE", false, 4}};
  listing.wide_columns = 1;
  for (const models::InstanceType& type : catalogue.instances) {
    if (!instance.empty() && type.name != instance) continue;
    for (json& item : items_of(catalogue, type.name, region)) {
      listing.rows.push_back(price_cells(item));
      listing.items.push_back(std::move(item));
    }
  }
  listing.footnotes = price_footnotes(listing.items, instance);
  return render(listing, format, style);
}

}  // namespace slicewise::reports
