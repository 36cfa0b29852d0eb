#include "slicewise/models/price_book.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/nearest_name.hpp"

#include "catalog_fields.hpp"

namespace slicewise::models {
namespace {

std::string reason_without_list_price(PurchaseOption option) {
  if (option == PurchaseOption::Reserved) {
    return "a reserved price depends on your contract: pricing.plans takes your discount";
  }
  if (option == PurchaseOption::CapacityBlock) return "no Capacity Blocks of it are known";
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
      return "reserved";
    case PurchaseOption::CapacityBlock:
      break;
  }
  return "capacity-block";
}

void PriceBook::set(std::string_view instance, std::string_view region, PurchaseOption option,
                    Price price) {
  assert(price.usd.per_hour.nano > 0);
  note_region(region);
  prices_.insert_or_assign({std::string(instance), std::string(region), option}, std::move(price));
}

void PriceBook::set_unknown_reason(std::string_view instance, std::string_view region,
                                   std::string reason) {
  note_region(region);
  unknown_.insert_or_assign({std::string(instance), std::string(region)}, std::move(reason));
}

Expected<Price> PriceBook::find(std::string_view instance, std::string_view region,
                                PurchaseOption option) const {
  const auto found = prices_.find({std::string(instance), std::string(region), option});
  if (found != prices_.end()) return found->second;

  const std::vector<std::string> elsewhere = regions_with(instance, option);
  std::string help = missing_reason(instance, region, option);
  const bool in_blocks =
      prices_.contains({std::string(instance), std::string(region), PurchaseOption::CapacityBlock});
  if (in_blocks) help += "; `capacityType: capacity-block` has one";
  if (!elsewhere.empty()) help += fmt::format("; known in {}", fmt::join(elsewhere, ", "));
  return tl::unexpected(Diagnostics{
      make_diagnostic(Code::PriceUnknown, {},
                      fmt::format("no {} price for {} in {}{}", name_of(option), instance, region,
                                  option == PurchaseOption::Reserved
                                      ? " (`plan --horizon 12` chooses commitments of a year)"
                                      : ""),
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

void PriceBook::note_region(std::string_view region) {
  const auto place = std::ranges::lower_bound(regions_, region);
  if (place == regions_.end() || *place != region) regions_.emplace(place, region);
}

// A price file is JSON; nlohmann judges the syntax. Its values are then read through yaml-cpp (JSON
// is YAML) because that keeps line and column of every value, which messages need.

namespace {

constexpr std::array<std::string_view, 2> kFileKeys = {"date", "prices"};
constexpr std::array<std::string_view, 5> kPriceKeys = {"instanceType", "region", "purchase",
                                                        "usdPerHour", "source"};
constexpr double kMostPerHour = 1e6;  // far above any instance; keeps sums in range
constexpr std::array<std::string_view, 4> kPurchases = {"on-demand", "spot", "reserved",
                                                        "capacity-block"};

std::optional<Diagnostic> syntax_error(const SourceText& file) {
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(file.text);
    return std::nullopt;
  } catch (const nlohmann::json::parse_error& error) {
    std::string_view why = error.what();
    const auto detail = why.find(": ");
    if (detail != why.npos) why.remove_prefix(detail + 2);
    const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;
    return make_diagnostic(Code::YamlSyntax, location_of(file, std::min(byte, file.text.size())),
                           fmt::format("{} is not JSON: {}", file.name, why));
  } catch (const nlohmann::json::exception& error) {
    // A number that no double holds carries no position.
    return make_diagnostic(Code::YamlSyntax, {file.name, 1, 1, 1},
                           fmt::format("{} cannot be read: {}", file.name, error.what()));
  }
}

bool is_region(const std::string& name) {
  static const std::regex shape(
      "(us|eu|ap|sa|ca|me|af|il|mx|cn)(-gov|-iso[a-z]?)?-"
      "(north|south|east|west|central|northeast|southeast|northwest|southwest)-[1-9]");
  return std::regex_match(name, shape);
}

// Reads prices of a file, collecting every mistake on the way.
class PriceFileReader {
 public:
  PriceFileReader(const Catalogue& catalogue, const SourceText& file)
      : catalogue_(catalogue), file_(file), book_(catalogue.prices) {}

  Expected<PriceBook> read_file() {
    const auto fields = read_object(YAML::Load(file_.text), kFileKeys, "the price file");
    if (!fields) return tl::unexpected(problems_);
    read_date(*fields);
    const auto prices = fields->find("prices");
    if (prices == fields->end()) {
      report(Code::FieldMissing, {file_.name, 1, 1, 1}, "the price file has no `prices`",
             R"(write {"prices": [{"instanceType": ..., "region": ..., "usdPerHour": ...}]})");
      return tl::unexpected(problems_);
    }
    return read_list(prices->second);
  }

  // `date` and `regions` as the file around the list has them.
  Expected<PriceBook> read_list(const YAML::Node& prices, const std::string& date,
                                std::set<std::string> regions) {
    date_ = date;
    if (date > book_.date()) book_.set_date(date);
    own_regions_ = std::move(regions);
    return read_list(prices);
  }

 private:
  using Fields = std::map<std::string, YAML::Node>;

  Expected<PriceBook> read_list(const YAML::Node& prices) {
    if (prices.IsSequence()) {
      for (const YAML::Node& entry : prices) read_price(entry);
    } else {
      report(Code::FieldType, where(prices), "`prices` must be a list");
    }
    if (!problems_.empty()) return tl::unexpected(problems_);
    return std::move(book_);
  }

  SourceLocation where(const YAML::Node& node) const { return location_of(file_, node); }

  void report(Code code, SourceLocation place, std::string message, std::string help = {}) {
    add_diagnostic(problems_, code, std::move(place), std::move(message), std::move(help));
  }

  // The members of an object; unknown and repeated keys are reported. nullopt: not an object.
  std::optional<Fields> read_object(const YAML::Node& node, std::span<const std::string_view> known,
                                    std::string_view what) {
    if (!node.IsMap()) {
      report(Code::FieldType, where(node), fmt::format("{} must be an object", what));
      return std::nullopt;
    }
    Fields fields;
    for (const auto& member : node) {
      const std::string& key = member.first.Scalar();
      if (!contains(known, key)) {
        const auto nearest = nearest_name(key, known);
        report(Code::FieldUnknown, where(member.first), fmt::format("unknown field `{}`", key),
               nearest ? fmt::format("did you mean `{}`?", *nearest)
                       : fmt::format("known fields: {}", fmt::join(known, ", ")));
      } else if (!fields.emplace(key, member.second).second) {
        report(Code::FieldDuplicate, where(member.first), fmt::format("`{}` is given twice", key));
      }
    }
    return fields;
  }

  // A string member; reports a missing (if required) or mistyped one.
  std::optional<std::string> read_text(const Fields& fields, const std::string& key,
                                       const YAML::Node* owner) {
    const auto found = fields.find(key);
    if (found == fields.end()) {
      if (owner != nullptr) {
        report(Code::FieldMissing, where(*owner), fmt::format("a price has no `{}`", key));
      }
      return std::nullopt;
    }
    if (!is_text(found->second)) {
      report(Code::FieldType, where(found->second), fmt::format("`{}` must be a string", key));
      return std::nullopt;
    }
    return found->second.Scalar();
  }

  void read_date(const Fields& fields) {
    const auto date = read_text(fields, "date", nullptr);
    if (!date) return;
    if (!is_date(*date)) {
      report(Code::FieldType, where(fields.at("date")), fmt::format("`{}` is not a date", *date),
             "write year-month-day: 2026-11-01");
      return;
    }
    date_ = *date;
    if (*date > book_.date()) book_.set_date(*date);
  }

  std::optional<std::string> read_instance(const Fields& fields, const YAML::Node& owner) {
    auto name = read_text(fields, "instanceType", &owner);
    if (!name || catalogue_.find_instance(*name) != nullptr) return name;
    std::vector<std::string> known;
    for (const InstanceType& type : catalogue_.instances) known.push_back(type.name);
    const auto nearest = nearest_name(*name, known);
    report(Code::InstanceUnknown, where(fields.at("instanceType")),
           fmt::format("instance type {} is not in the catalogue", *name),
           nearest ? fmt::format("did you mean {}?", *nearest)
                   : std::string("`slicewise get instances -o name` lists them"));
    return std::nullopt;
  }

  // Regions that the catalogue lacks are welcome when they look like one.
  std::optional<std::string> read_region(const Fields& fields, const YAML::Node& owner) {
    auto name = read_text(fields, "region", &owner);
    if (!name || is_region(*name) || own_regions_.contains(*name)) return name;
    const auto nearest = nearest_name(*name, book_.regions());
    report(Code::RegionUnknown, where(fields.at("region")),
           fmt::format("\"{}\" does not look like an AWS region", *name),
           nearest ? fmt::format("did you mean {}?", *nearest)
                   : std::string("a region is an area, a direction and a digit, like eu-west-3 or "
                                 "ap-southeast-2; a catalogue file names others: "
                                 "`regions: [berlin]`"));
    return std::nullopt;
  }

  std::optional<PurchaseOption> read_purchase(const Fields& fields) {
    if (!fields.contains("purchase")) return PurchaseOption::OnDemand;
    const auto name = read_text(fields, "purchase", nullptr);
    if (!name) return std::nullopt;
    for (const PurchaseOption option : {PurchaseOption::OnDemand, PurchaseOption::Spot,
                                        PurchaseOption::Reserved, PurchaseOption::CapacityBlock}) {
      if (*name == name_of(option)) return option;
    }
    report(Code::EnumUnknown, where(fields.at("purchase")),
           fmt::format("`{}` is not a purchase option", *name),
           fmt::format("one of {}", fmt::join(kPurchases, ", ")));
    return std::nullopt;
  }

  std::optional<Usd> read_usd(const Fields& fields, const YAML::Node& owner) {
    const auto found = fields.find("usdPerHour");
    if (found == fields.end()) {
      report(Code::FieldMissing, where(owner), "a price has no `usdPerHour`");
      return std::nullopt;
    }
    double dollars = 0;
    const YAML::Node& node = found->second;
    if (!node.IsScalar() || node.Tag() == "!" || !YAML::convert<double>::decode(node, dollars)) {
      report(Code::FieldType, where(node), "`usdPerHour` must be a number");
      return std::nullopt;
    }
    const Usd usd = dollars > 0 && dollars <= kMostPerHour ? from_dollars(dollars) : Usd{};
    if (usd.nano > 0) return usd;
    report(
        Code::ValueRange, where(node),
        fmt::format("`usdPerHour` is {}; it must be above 0 and at most 1,000,000", node.Scalar()),
        "leave the entry out when the price is not known");
    return std::nullopt;
  }

  void read_price(const YAML::Node& entry) {
    const auto fields = read_object(entry, kPriceKeys, "a price");
    if (!fields) return;
    const auto instance = read_instance(*fields, entry);
    const auto region = read_region(*fields, entry);
    const auto purchase = read_purchase(*fields);
    const auto usd = read_usd(*fields, entry);
    const auto source = read_text(*fields, "source", nullptr);
    if (!instance || !region || !purchase || !usd) return;
    if (is_repeated({*instance, *region, *purchase}, entry)) return;
    book_.set(*instance, *region, *purchase, {{*usd}, {source.value_or(file_.name), date_, false}});
  }

  using PriceName = std::tuple<std::string, std::string, PurchaseOption>;

  // Reports a second price of the same type, region and purchase option.
  bool is_repeated(const PriceName& name, const YAML::Node& entry) {
    const SourceLocation place = where(entry);
    const auto [first, is_new] = seen_.emplace(name, place);
    if (is_new) return false;
    const auto& [instance, region, purchase] = name;
    report(Code::NameDuplicate, place,
           fmt::format("a second {} price for {} in {}", name_of(purchase), instance, region),
           fmt::format("remove one of the two; the first is at {}:{}", first->second.line,
                       first->second.column));
    return true;
  }

  const Catalogue& catalogue_;
  const SourceText& file_;
  PriceBook book_;
  std::string date_;
  std::set<std::string> own_regions_;
  std::map<PriceName, SourceLocation> seen_;
  Diagnostics problems_;
};

}  // namespace

Expected<PriceBook> with_overrides(const Catalogue& catalogue, const SourceText& prices_file) {
  if (const auto error = syntax_error(prices_file)) return tl::unexpected(Diagnostics{*error});
  try {
    return PriceFileReader(catalogue, prices_file).read_file();
  } catch (const YAML::Exception& error) {
    // JSON that yaml-cpp does not take: escaped surrogate pairs.
    const auto byte = static_cast<std::size_t>(std::max(error.mark.pos, 0));
    return tl::unexpected(Diagnostics{make_diagnostic(
        Code::YamlSyntax, location_of(prices_file, byte), "cannot be read: " + error.msg)});
  }
}

nlohmann::json price_schema() {
  nlohmann::json properties;
  for (const std::string_view key : kPriceKeys) {
    properties[std::string(key)] = {{"type", "string"}};
  }
  properties["purchase"]["enum"] = kPurchases;
  properties["usdPerHour"] = {
      {"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", kMostPerHour}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"instanceType", "region", "usdPerHour"}},
          {"properties", std::move(properties)}};
}

Expected<PriceBook> with_listed_prices(const Catalogue& catalogue, const SourceText& file,
                                       const YAML::Node& prices, const std::string& date,
                                       const std::vector<std::string>& regions) {
  return PriceFileReader(catalogue, file).read_list(prices, date, {regions.begin(), regions.end()});
}

}  // namespace slicewise::models
