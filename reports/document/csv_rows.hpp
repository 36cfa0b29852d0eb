#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// A document as CSV: one row for each workload of each item (a variant, an option).
namespace slicewise::reports {

// A column and where its value stands: in the metadata, the item or the workload.
struct CsvColumn {
  enum class Level : std::uint8_t { Metadata, Item, Workload };
  std::string_view name;
  Level level;
  const char* pointer;  // JSON pointer
};

// RFC 4180: quotes around what holds a comma, a quote or a line break, inner quotes doubled.
std::string csv_text(std::string_view text);

std::string csv_header(std::span<const CsvColumn> columns);

// A value that is absent is an empty field.
std::string csv_row(std::span<const CsvColumn> columns, const nlohmann::json& metadata,
                    const nlohmann::json& item, const nlohmann::json& workload);

}  // namespace slicewise::reports
