#include "csv_table.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace slicewise::models {
namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  CsvTable read() {
    while (!rest_.empty()) {
      CsvRow row = read_row();
      const bool empty_line = row.size() == 1 && row.front().text.empty();
      if (empty_line) continue;
      if (table_.header.empty()) {
        table_.header = std::move(row);
      } else {
        table_.rows.push_back(std::move(row));
      }
    }
    return std::move(table_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // a character starts here
      ++column_;
    }
    return c;
  }

  bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool at_line_end() const { return rest_.empty() || at('\n') || rest_.starts_with("\r\n"); }

  void read_quoted(CsvField& field) {
    take();
    while (!rest_.empty()) {
      if (at('"')) {
        take();
        if (!at('"')) return;
      }
      field.text += take();
    }
    if (!table_.open_quote) table_.open_quote = field;
  }

  CsvField read_field() {
    CsvField field{{}, line_, column_, 1};
    if (at('"')) read_quoted(field);
    while (!at_line_end() && !at(',')) field.text += take();
    if (line_ == field.line && column_ > field.column) field.length = column_ - field.column;
    return field;
  }

  CsvRow read_row() {
    CsvRow row;
    row.push_back(read_field());
    while (at(',')) {
      take();
      row.push_back(read_field());
    }
    if (at('\r')) take();
    if (at('\n')) take();
    return row;
  }

  std::string_view rest_;
  int line_ = 1;
  int column_ = 1;
  CsvTable table_;
};

}  // namespace

CsvTable parse_csv(std::string_view text) { return CsvReader(text).read(); }

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace slicewise::models
