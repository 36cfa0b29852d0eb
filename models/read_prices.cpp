#include <nlohmann/json.hpp>

#include "catalog_fields.hpp"
#include "catalog_readers.hpp"

namespace slicewise::models {
namespace {

// One cell: {"usd", "source", "rule"?} or {"unknown": id of a reason}.
void read_cell(PriceBook& book, const std::string& instance, const std::string& region,
               CatalogFields cell, const SourceTable& sources,
               const std::map<std::string, std::string>& reasons) {
  if (cell.has("unknown")) {
    const std::string reason = cell.text("unknown");
    if (!reasons.contains(reason)) cell.fail("unknown", "no reason " + reason);
    book.set_unknown_reason(instance, region, reasons.at(reason));
  } else {
    const double usd = cell.number("usd");
    if (!(usd > 0)) cell.fail("usd", "not above 0");
    Source source = sources.find(cell.text("source"));
    if (source.derived) source.text = "derived: " + cell.text("rule");
    book.set(instance, region, PurchaseOption::OnDemand, {{from_dollars(usd)}, std::move(source)});
  }
  cell.done();
}

SpotMarket read_market(CatalogFields fields, const std::string& advisor_date,
                       const std::string& median_date) {
  SpotMarket market;
  market.instance = fields.text("instance");
  market.region = fields.text("region");
  market.savings_percent = fields.maybe_integer("savingsPercent");
  market.interruption_bucket = fields.text_or_empty("interruptions");
  if (market.savings_percent) market.advisor_date = advisor_date;
  if (const auto median = fields.maybe_number("medianUsd")) {
    market.median = UsdPerHour{from_dollars(*median)};
    market.median_date = median_date;
    market.zones = fields.small_integer("zones");
  }
  fields.done();
  return market;
}

constexpr std::string_view kMedianSource =
    "median over availability zones with a real market, skypilot-catalog v8 @e385a0d3";

}  // namespace

PriceBook read_prices(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "prices.json");
  const SourceTable sources(file);
  PriceBook book;
  book.set_date(file.text("date"));
  file.text("currency");
  file.texts("regions");
  const auto reasons = file.named_texts("unknownReasons");
  CatalogFields on_demand = file.object("onDemand");
  for (const std::string& instance : on_demand.names()) {
    for (auto& [region, cell] : on_demand.named_objects(instance)) {
      read_cell(book, instance, region, cell, sources, reasons);
    }
  }
  file.done();
  return book;
}

std::vector<SpotMarket> read_spot(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "spot.json");
  const SourceTable sources(file);
  const auto figure_sources = file.named_texts("figureSources");
  const std::string advisor_date = sources.find(figure_sources.at("savingsPercent")).date;
  const std::string median_date = sources.find(figure_sources.at("medianUsd")).date;
  std::vector<SpotMarket> markets;
  for (CatalogFields& fields : file.objects("spot")) {
    markets.push_back(read_market(fields, advisor_date, median_date));
  }
  file.done();
  return markets;
}

std::vector<Commitment> read_commitments(std::string_view json) {
  const auto document = nlohmann::json::parse(json);
  CatalogFields file(document, "commitments.json");
  const SourceTable sources(file);
  file.texts("notFound");
  std::vector<Commitment> commitments;
  for (CatalogFields& fields : file.objects("commitments")) {
    Commitment commitment;
    commitment.instance = fields.text("instance");
    commitment.kind = fields.text("kind");
    commitment.region = fields.text("region");
    commitment.discount_percent = fields.maybe_number("discountPercent");
    if (const auto usd = fields.maybe_number("usd")) {
      commitment.usd = UsdPerHour{from_dollars(*usd)};
    }
    commitment.valid = fields.text("valid");
    commitment.note = fields.text_or_empty("note");
    commitment.source = sources.find(fields.text("source"));
    fields.done();
    commitments.push_back(std::move(commitment));
  }
  file.done();
  return commitments;
}

void add_spot_prices(PriceBook& book, const std::vector<SpotMarket>& markets) {
  for (const SpotMarket& market : markets) {
    if (market.median) {
      book.set(market.instance, market.region, PurchaseOption::Spot,
               {*market.median, {std::string(kMedianSource), market.median_date, false}});
      continue;
    }
    const auto on_demand = book.find(market.instance, market.region, PurchaseOption::OnDemand);
    if (!on_demand || !market.savings_percent) continue;
    const int paid_percent = 100 - *market.savings_percent;
    const Usd implied{on_demand->usd.per_hour.nano * paid_percent / 100};
    book.set(market.instance, market.region, PurchaseOption::Spot,
             {{implied},
              {"derived: on-demand price less the Spot Advisor's saving of " +
                   std::to_string(*market.savings_percent) + " %",
               market.advisor_date, true}});
  }
}

}  // namespace slicewise::models
