#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/execution_law.hpp"
#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/reports/reference.hpp"

#include "../text/text_table.hpp"

// What the listings of `slicewise get` have in common.
namespace slicewise::reports {

// One listing, ready for every format: `items` holds the data in full, `rows` what a person reads.
struct Listing {
  std::string kind;             // "InstanceList"
  std::string name_key;         // the field of an item that -o name prints
  std::string_view csv_header;  // "name,kind": fields of an item
  std::vector<nlohmann::json> items;
  std::vector<Column> columns;
  std::size_t wide_columns = 0;  // how many of them, at the end, only a wide table has
  std::vector<std::vector<std::string>> rows;
  std::string nothing;                 // printed instead of an empty table
  std::vector<std::string> footnotes;  // paragraphs under the table
};

std::string render(const Listing& listing, ListFormat format, const TextStyle& style);

// Cells: "15.8 GiB" (MiB below 1 GiB), "12.2400", "300"; "-" for what nobody knows.
std::string memory_cell(Bytes bytes);
std::string memory_cell(const std::optional<Bytes>& bytes);
std::string price_cell(UsdPerHour price);
std::string number_cell(double value, int most_decimals);
std::string number_cell(const std::optional<double>& value, int most_decimals);

double dollars_of(UsdPerHour price);  // nearest double, for JSON

// GPU_UNKNOWN for a name that is neither a model nor an alias, with the nearest that is.
Diagnostic unknown_gpu(const models::Catalogue& catalogue, std::string_view name);
// PROFILE_UNKNOWN, likewise.
Diagnostic unknown_profile(const std::vector<std::string>& known, std::string_view name);
Diagnostic unknown_region(const models::Catalogue& catalogue, std::string_view region);

// Language models among the workload profiles: their figures are a step law, not a step time.

inline constexpr const char* kLlmKind = "llm";

// As the listing of profiles shows it.
nlohmann::json llm_item(const models::LlmModel& model);
models::WorkloadProfile llm_as_profile(const models::LlmModel& model);

// `slicewise explain profile NAME`: figures with provenance, steps of several sizes, and what
// carries over to other GPUs.
std::string explain_llm(const models::LlmModel& model, const models::Catalogue& catalogue,
                        const TextStyle& style);

std::string milliseconds_cell(Duration time);  // four significant digits

}  // namespace slicewise::reports
