#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/sim/describe.hpp"

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

// The columns that the fields of a document and of the entries of its lists declare, in the order
// of their positions.
class DocumentCsv {
 public:
  explicit DocumentCsv(const sim::Record& document);

  // A column of the items that their record does not have.
  void add(int position, std::string name, const char* pointer);

  std::string header() const;
  // An `item` is an entry of a list of the document, an `entry` one of a list of the item. A value
  // that is absent is an empty field.
  std::string row(const nlohmann::json& document, const nlohmann::json& item,
                  const nlohmann::json& entry) const;

 private:
  struct Column {
    int position;
    std::string name;
    std::size_t level;  // 0: of the document, 1: of the item, 2: of the entry
    nlohmann::json::json_pointer pointer;
  };

  void add_columns(const sim::Record& record, std::size_t level);

  std::vector<Column> columns_;
};

// A value that is absent is an empty field.
std::string csv_row(std::span<const CsvColumn> columns, const nlohmann::json& metadata,
                    const nlohmann::json& item, const nlohmann::json& workload);

}  // namespace slicewise::reports
