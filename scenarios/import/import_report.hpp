#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slicewise/csv_lines.hpp"
#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// What an importer has to say about its source, while it reads.
class ImportReport {
 public:
  explicit ImportReport(bool skip_bad) : skip_bad_(skip_bad) {}

  void read(std::int64_t rows = 1) { log_.read += rows; }

  // One more row, sample or object that was left out, made up or put right for the reason `what`,
  // or that is as it should be and worth a word. `place` says where, or is a function that does so,
  // which is asked for the first one only; of the source as a whole there is none.
  template <class Place = SourceLocation>
  void remark(ImportRemark::Kind kind, std::string_view what, const Place& place = {},
              std::int64_t count = 1) {
    ImportRemark* known = find(kind, what);
    if (known == nullptr) {
      if constexpr (std::is_same_v<Place, SourceLocation>) {
        log_.remarks.push_back({kind, 0, std::string(what), place});
      } else {
        log_.remarks.push_back({kind, 0, std::string(what), place()});
      }
      known = &log_.remarks.back();
    }
    known->count += count;
  }
  template <class Place = SourceLocation>
  void skipped(std::string_view what, const Place& place = {}, std::int64_t count = 1) {
    remark(ImportRemark::Kind::Skipped, what, place, count);
  }
  template <class Place = SourceLocation>
  void guessed(std::string_view what, const Place& place = {}, std::int64_t count = 1) {
    remark(ImportRemark::Kind::Guessed, what, place, count);
  }
  template <class Place = SourceLocation>
  void repaired(std::string_view what, const Place& place = {}, std::int64_t count = 1) {
    remark(ImportRemark::Kind::Repaired, what, place, count);
  }
  template <class Place = SourceLocation>
  void noted(std::string_view what, const Place& place = {}, std::int64_t count = 1) {
    remark(ImportRemark::Kind::Note, what, place, count);
  }
  // About the source as a whole: without a count.
  void note(std::string_view what, const SourceLocation& where = {}) { noted(what, where, 0); }

  // A row that cannot be read: TRACE_ROW. An error, unless bad rows are to be skipped; then they
  // are counted by `reason`, which is `message` without the value that stood there.
  void bad_row(SourceLocation where, std::string message, std::string help = {},
               std::string reason = {});

  // Whether the import must end with errors().
  bool has_failed() const { return bad_rows_.count() > 0 && !skip_bad_; }

  // The first bad rows with their text and the number of the others.
  Diagnostics errors() const;

  // What is told of an import that succeeded.
  ImportLog take_log(std::int64_t imported);

 private:
  ImportRemark* find(ImportRemark::Kind kind, std::string_view what);
  void count_reason(std::string reason, const SourceLocation& where);

  bool skip_bad_;
  ImportLog log_;
  BadLines bad_rows_;
  std::vector<ImportRemark> reasons_;  // of bad rows
};

// "skipped: 3 pods without a GPU, 1 ..."; "" nothing was.
std::string what_was_skipped(const ImportLog& log);

// A file that is not of the kind that was named: TRACE_FORMAT.
inline tl::unexpected<Diagnostics> not_the_format(SourceLocation where, std::string message,
                                                  std::string help = {}) {
  return failure(Code::TraceFormat, std::move(where), std::move(message), std::move(help));
}

}  // namespace slicewise::scenarios
