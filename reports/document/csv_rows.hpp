#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/sim/describe.hpp"

// A document as CSV: one row for each workload of each item (a variant, an option).
namespace slicewise::reports {

// RFC 4180: quotes around what holds a comma, a quote or a line break, inner quotes doubled.
std::string csv_text(std::string_view text);

// Nine significant digits; "" for what is not finite.
std::string csv_number(double value);

// A table of what a record declares: a column for each field, called by its key, and a row for each
// of `rows`. What is absent is an empty field; times are seconds, money has every nano-dollar.
std::string csv_table(const sim::Record& columns, const std::vector<const void*>& rows);
template <class Row>
std::string csv_table(const sim::Record& columns, const std::vector<Row>& rows) {
  std::vector<const void*> places;
  places.reserve(rows.size());
  for (const Row& row : rows) places.push_back(&row);
  return csv_table(columns, places);
}

// The columns that the fields of a document and of the entries of its lists declare, in the order
// of their positions, up to `end`.
class DocumentCsv {
 public:
  explicit DocumentCsv(const sim::Record& document, int end = std::numeric_limits<int>::max());

  // A column that no record declares, of the items (level 1) or the entries (2).
  void add(int position, std::string name, const char* pointer, std::size_t level = 1);

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
    std::string part = {};  // of the entries of a list, all in one field
  };

  void add_columns(const sim::Record& record, int end, std::size_t level);

  std::vector<Column> columns_;
};

}  // namespace slicewise::reports
