#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../text/scalars.hpp"
#include "import_report.hpp"
#include "importers.hpp"
#include "request_rows.hpp"
#include "table_rows.hpp"

namespace slicewise::scenarios {
namespace {

// The rows of a table of which each is a request.
class RequestTable {
 public:
  // Names of columns, in any case.
  struct Columns {
    std::string_view time;
    std::string_view input;
    std::string_view output;
  };

  RequestTable(const SourceText& file, ImportReport& report)
      : file_(file), rows_(file, report), report_(report) {}

  // Reads the header; the diagnostic when a column is missing.
  std::optional<Diagnostics> open(const Columns& columns) {
    if (!rows_.read_header()) {
      return not_the_format({file_.name, 1, 1, 1}, "the file is empty", "").value();
    }
    for (const auto& [name, place] :
         {std::pair(columns.time, &time_), {columns.input, &input_}, {columns.output, &output_}}) {
      const auto found = rows_.column(name);
      if (!found) {
        return not_the_format(rows_.place(), fmt::format("the header has no column \"{}\"", name),
                              fmt::format("it has: {}", fmt::join(rows_.names(), ", ")))
            .value();
      }
      *place = *found;
    }
    return std::nullopt;
  }

  // The next request that can be read; false at the end. What cannot be read is a bad row.
  bool next(LoggedRequest& request) {
    while (rows_.next()) {
      if (read(request)) return true;
    }
    return false;
  }

  const TableRows& row() const { return rows_; }
  std::string_view time() const { return rows_.value(time_); }
  std::optional<std::size_t> find(std::string_view column) { return rows_.column(column); }

 private:
  bool read(LoggedRequest& request) {
    const auto time = parse_trace_time(rows_.value(time_));
    if (!time) {
      report_.bad_row(rows_.place(time_), "this is no time");
      return false;
    }
    request.at = Duration{*time};
    return read_tokens(input_, request.input_tokens) && read_tokens(output_, request.output_tokens);
  }

  bool read_tokens(std::size_t column, std::int32_t& tokens) {
    const auto count = whole_of(rows_.value(column));
    if (!count || *count < 0 || *count > kMostTokens) {
      report_.bad_row(rows_.place(column), "this is no number of tokens");
      return false;
    }
    tokens = static_cast<std::int32_t>(*count);
    return true;
  }

  const SourceText& file_;
  TableRows rows_;
  ImportReport& report_;
  std::size_t time_ = 0;
  std::size_t input_ = 0;
  std::size_t output_ = 0;
};

void put_requests_in_order(std::vector<LoggedRequest>& requests, const SourceText& file,
                           ImportReport& report) {
  std::int64_t late = 0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    late += requests[i].at < requests[i - 1].at ? 1 : 0;
  }
  if (late == 0) return;
  std::ranges::stable_sort(requests, {}, &LoggedRequest::at);
  report.repaired("requests that are earlier than the one before them: put in order of time",
                  SourceLocation{file.name, 1, 1, 1}, late);
}

void cut_to_window(std::vector<LoggedRequest>& requests, const SourceText& file,
                   const ImportOptions& options, ImportReport& report) {
  if (!options.from && !options.length) return;
  const Duration begin = requests.front().at;
  const Duration from = options.from.value_or(Duration{});
  const auto outside = std::erase_if(requests, [&](const LoggedRequest& request) {
    const Duration since = request.at - begin;
    return since < from || (options.length && since - from >= *options.length);
  });
  if (outside == 0) return;
  report.skipped("requests outside the window that was asked for",
                 SourceLocation{file.name, 1, 1, 1}, static_cast<std::int64_t>(outside));
}

// "2023-11-16 18:17:03.9799600" has none, "...+00:00" and "...Z" have one.
bool has_zone(std::string_view time) {
  constexpr std::size_t kDate = 10;
  return time.size() > kDate && time.find_first_of("Z+-", kDate) != std::string_view::npos;
}

bool is_seconds(std::string_view time) { return time.find(':') == std::string_view::npos; }

}  // namespace

Expected<Imported> requests_imported(std::vector<LoggedRequest> requests,
                                     std::optional<std::int64_t> origin_unix_s,
                                     const SourceText& file, const ImportOptions& options,
                                     ImportReport& report) {
  if (report.has_failed()) return tl::unexpected(report.errors());
  if (!requests.empty()) {
    put_requests_in_order(requests, file, report);
    cut_to_window(requests, file, options, report);
  }
  if (requests.empty()) {
    return not_the_format({file.name, 1, 1, 1}, "no request is left to import");
  }
  const auto count = static_cast<std::int64_t>(requests.size());
  RequestLog log{std::move(requests), true, origin_unix_s, nullptr};
  return Imported{std::move(log), report.take_log(count)};
}

Expected<Imported> import_azure(std::span<const SourceText> files, const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  std::vector<LoggedRequest> requests;
  bool dated = true;
  for (const SourceText& file : files) {
    RequestTable table(file, report);
    if (auto missing = table.open({"TIMESTAMP", "ContextTokens", "GeneratedTokens"})) {
      return tl::unexpected(std::move(*missing));
    }
    LoggedRequest request;
    while (table.next(request)) {
      if (is_seconds(table.time())) {
        dated = false;
      } else if (!has_zone(table.time())) {
        if (options.time_zone) {
          request.at -= options.time_zone->offset_at(request.at.ns);
        } else {
          report.guessed("times without a zone: taken for UTC",
                         [&] { return table.row().place(0); });
        }
      }
      requests.push_back(request);
    }
  }
  // Counted from the second of the first request, where the times are dates.
  std::optional<std::int64_t> origin;
  if (dated && !requests.empty()) {
    Duration first = requests.front().at;
    for (const LoggedRequest& request : requests) first = std::min(first, request.at);
    origin = first.ns / seconds(1).ns - (first.ns < 0 ? 1 : 0);
    for (LoggedRequest& request : requests) request.at -= seconds(*origin);
  }
  return requests_imported(std::move(requests), origin, files.front(), options, report);
}

namespace {

// Requests by the value of a column that the simulation does not tell apart.
class Shares {
 public:
  Shares(std::string_view what, std::optional<std::size_t> column) : what_(what), column_(column) {}

  void count(const TableRows& row) {
    constexpr std::size_t kMost = 64;  // names that are told
    if (!column_) return;
    const auto found = counts_.find(row.value(*column_));
    if (found != counts_.end()) {
      ++found->second;
    } else if (counts_.size() < kMost) {
      counts_.emplace(row.value(*column_), 1);
    }
  }

  void tell(const SourceText& file, ImportReport& report) const {
    if (counts_.size() < 2) return;
    std::string text;
    for (const auto& [name, count] : counts_) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
    }
    report.note(fmt::format("{} are not told apart: {}", what_, text), {file.name, 1, 1, 1});
  }

 private:
  std::string_view what_;
  std::optional<std::size_t> column_;
  std::map<std::string, std::int64_t, std::less<>> counts_;
};

void check_total(const RequestTable& table, std::size_t column, const LoggedRequest& request,
                 ImportReport& report) {
  const auto total = whole_of(table.row().value(column));
  if (total == std::int64_t{request.input_tokens} + request.output_tokens) return;
  report.guessed("totals that are not the sum of request and response: not used",
                 [&] { return table.row().place(column); });
}

}  // namespace

// `Timestamp` counts from the first local midnight. A request without response tokens failed: what
// it cost the servers nobody knows, so it is left out and counted.
Expected<Imported> import_burstgpt(std::span<const SourceText> files,
                                   const ImportOptions& options) {
  ImportReport report(options.skip_bad);
  std::vector<LoggedRequest> requests;
  for (const SourceText& file : files) {
    RequestTable table(file, report);
    if (auto missing = table.open({"Timestamp", "Request tokens", "Response tokens"})) {
      return tl::unexpected(std::move(*missing));
    }
    const auto total = table.find("Total tokens");
    Shares models("models", table.find("Model"));
    Shares types("types of log", table.find("Log Type"));
    for (const std::string_view unused : {"Session ID", "Elapsed time"}) {
      const auto column = table.find(unused);
      if (column) {
        report.note(fmt::format("column not used: {}", unused), table.row().place(*column));
      }
    }
    LoggedRequest request;
    while (table.next(request)) {
      if (request.output_tokens == 0) {
        report.skipped("requests without response tokens: failed",
                       [&] { return table.row().place(); });
        continue;
      }
      if (total) check_total(table, *total, request, report);
      models.count(table.row());
      types.count(table.row());
      requests.push_back(request);
    }
    models.tell(file, report);
    types.tell(file, report);
  }
  return requests_imported(std::move(requests), std::nullopt, files.front(), options, report);
}

}  // namespace slicewise::scenarios
