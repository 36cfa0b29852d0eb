#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/describe.hpp"

#include "../text/text_table.hpp"
#include "result_figures.hpp"

// What a verb shows, as a value: one per verb, and one renderer per format.
namespace slicewise::reports {

// How much is shown: what fits a terminal, all of it (-o wide), or a comment on a pull request,
// where what is long stands folded.
enum class Detail : std::uint8_t { Brief, Wide, Comment };

struct Sentence {
  std::string text;
  Cell strong{};    // set apart, before the text
  int indent = 0;   // beyond that of its part
  int hanging = 2;  // of its other lines, beyond that
};

// One answer: a heading, then a drawing or a table, then sentences; each may be absent. A part with
// nothing but a heading is not shown.
struct ScreenPart {
  std::string heading{};
  Cells table{};
  std::vector<Sentence> sentences{};
  std::string drawing{};            // lines of characters: terminals only
  std::vector<ScreenPart> parts{};  // below it
  int indent = 0;                   // of the table
  bool alike = false;               // tables with the same headers have columns alike in width
  bool is_answer = false;           // sentences that stand first in a comment
  std::string folded{};             // in a comment: behind this title, closed
  bool preformatted = false;        // in a comment: as in a terminal
};

struct Screen {
  std::string scenario;  // by which a bot finds its comment again
  std::string alarm;     // before all else: what makes the rest doubtful
  std::string heading;
  std::vector<ScreenPart> parts{};
  std::string origin{};  // where the figures come from
};

// The column that a figure, or a part of a summary, declares. REQUIRES: it declares one.
Column column_of(const sim::Record& record, std::string_view key, std::string_view part = {});
// The same in a table where it goes sooner, or later, than elsewhere.
Column column_at(int priority, const sim::Record& record, std::string_view key,
                 std::string_view part = {});

// The columns of prices that sim::cost_record() declares, and their headings on pages.
Column price_column(std::string_view key, int priority = 0);
Column price_on_page(std::string_view key);
// Of 1,000 requests: of those in SLO, where there is one.
Column request_price_column(bool has_objectives, int priority = 0);
// "$/1K": what the headings of either begin with.
std::string request_price_heading();

// A column for each measure that any item has, a row for each item.
template <class Item, class Measure>
Cells measured_cells(const std::vector<Item>& items, const std::vector<Measure>& measures,
                     const TextStyle& style) {
  Cells out;
  out.rows.resize(items.size());
  for (const Measure& measure : measures) {
    std::vector<std::string> cells;
    cells.reserve(items.size());
    for (const Item& item : items) cells.push_back(measure.cell(item));
    if (std::ranges::all_of(cells, &std::string::empty)) continue;
    out.columns.push_back(measure.column);
    for (std::size_t row = 0; row < cells.size(); ++row) {
      out.rows[row].emplace_back(or_none(cells[row], style));
    }
  }
  return out;
}

// "NOTES", one line each.
ScreenPart notes_part(const std::vector<std::string>& lines);
std::vector<Sentence> sentences_of(const std::vector<std::string>& lines);

// For a terminal. Columns that do not fit are left out and named; `wide` leaves out none.
std::string screen_text(const Screen& screen, const TextStyle& style, bool wide);
// One part of it.
std::string part_text(const ScreenPart& part, const TextStyle& style, bool wide);
// A comment, with its largest sections left out where it is too long.
std::string screen_markdown(const Screen& screen);

}  // namespace slicewise::reports
