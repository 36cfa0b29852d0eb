#include "catalogue_listing.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/models/gpu_names.hpp"
#include "slicewise/nearest_name.hpp"

#include "../document/csv_rows.hpp"
#include "../document/document_text.hpp"
#include "../text/text_table.hpp"

namespace slicewise::reports {
namespace {

using nlohmann::json;

constexpr std::string_view kApiVersion = "slicewise.dev/catalogue.v1alpha1";

json listing_document(const Listing& listing) {
  return {{"apiVersion", kApiVersion}, {"kind", listing.kind}, {"items", listing.items}};
}

std::string cell_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const json& element : value) text += (text.empty() ? "" : ";") + cell_text(element);
  return text;
}

// A number below zero is no formula.
std::string csv_cell(const json& value) {
  return value.is_number() ? value.dump() : csv_text(cell_text(value));
}

std::string csv(const Listing& listing) {
  std::string out = fmt::format("{}\r\n", listing.csv_header);
  for (const json& item : listing.items) {
    std::string_view left = listing.csv_header;
    while (!left.empty()) {
      const std::string field(left.substr(0, left.find(',')));
      if (left.size() < listing.csv_header.size()) out += ',';
      left.remove_prefix(std::min(field.size() + 1, left.size()));
      if (item.contains(field)) out += csv_cell(item.at(field));
    }
    out += "\r\n";
  }
  return out;
}

std::string names(const Listing& listing) {
  std::string out;
  for (const json& item : listing.items) {
    const std::string line = item.at(listing.name_key).get<std::string>() + "\n";
    if (!out.ends_with("\n" + line) && out != line) out += line;
  }
  return out;
}

Listing without_wide_columns(Listing listing) {
  const std::size_t shown = listing.columns.size() - listing.wide_columns;
  listing.columns.resize(shown);
  for (std::vector<std::string>& row : listing.rows) row.resize(shown);
  return listing;
}

std::string listing_table(const Listing& listing, int width) {
  std::vector<std::string> dropped;
  std::string out = listing.rows.empty()
                        ? wrapped_text(listing.nothing, width, "", 2)
                        : text_table(listing.columns, listing.rows, width, &dropped);
  std::vector<std::string> paragraphs = listing.footnotes;
  if (!dropped.empty()) {
    paragraphs.push_back(
        fmt::format("Too narrow for {}: -o wide shows every column.", fmt::join(dropped, ", ")));
  }
  if (!paragraphs.empty()) out += "\n";
  for (const std::string& paragraph : paragraphs) out += wrapped_text(paragraph, width, "", 2);
  return out;
}

}  // namespace

std::string render(const Listing& listing, ListFormat format, const TextStyle& style) {
  switch (format) {
    case ListFormat::Table:
      return listing_table(without_wide_columns(listing), style.width);
    case ListFormat::Wide:
      return listing_table(listing, 0);
    case ListFormat::Json:
      return with_escapes(listing_document(listing).dump(2)) + "\n";
    case ListFormat::Yaml:
      return yaml_text(listing_document(listing));
    case ListFormat::Csv:
      return csv(listing);
    case ListFormat::Name:
      break;
  }
  return names(listing);
}

std::string number_cell(double value, int most_decimals) {
  std::string text = fmt::format("{:.{}f}", value, most_decimals);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string number_cell(const std::optional<double>& value, int most_decimals) {
  return value ? number_cell(*value, most_decimals) : "-";
}

std::string memory_cell(Bytes bytes) {
  const double mib = static_cast<double>(bytes.count) / 1'048'576;
  if (mib < 1'024) return number_cell(mib, 0) + " MiB";
  return number_cell(mib / 1'024, 1) + " GiB";
}

std::string memory_cell(const std::optional<Bytes>& bytes) {
  return bytes ? memory_cell(*bytes) : "-";
}

double dollars_of(UsdPerHour price) { return static_cast<double>(price.per_hour.nano) / 1e9; }

std::string price_cell(UsdPerHour price) { return fmt::format("{:.4f}", dollars_of(price)); }

Diagnostic unknown_gpu(const models::Catalogue& catalogue, std::string_view name) {
  return make_diagnostic(Code::GpuUnknown, {},
                         fmt::format("GPU model {} is not in the catalogue", name),
                         models::gpus_meant(catalogue, name));
}

Diagnostic unknown_profile(const std::vector<std::string>& known, std::string_view name) {
  const auto nearest = nearest_name(name, known);
  return make_diagnostic(Code::ProfileUnknown, {},
                         fmt::format("no workload profile is called {}", name),
                         nearest ? fmt::format("did you mean {}?", *nearest)
                                 : std::string("`slicewise get profiles -o name` lists them"));
}

Diagnostic unknown_region(const models::Catalogue& catalogue, std::string_view region) {
  const std::vector<std::string>& known = catalogue.prices.regions();
  const auto nearest = nearest_name(region, known);
  std::string help =
      fmt::format("known regions: {}; others with --prices FILE", fmt::join(known, ", "));
  if (nearest) help = fmt::format("did you mean {}? {}", *nearest, help);
  return make_diagnostic(Code::RegionUnknown, {},
                         fmt::format("region {} has no prices in the catalogue", region), help);
}

}  // namespace slicewise::reports
