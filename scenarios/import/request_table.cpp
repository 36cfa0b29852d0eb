#include "request_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../text/characters.hpp"
#include "../text/decimal.hpp"
#include "../traces/trace_time.hpp"

namespace slicewise::scenarios {
namespace {

void put_requests_in_order(std::vector<LoggedRequest>& requests, const SourceText& file,
                           ImportReport& report) {
  std::int64_t late = 0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    late += requests[i].at < requests[i - 1].at ? 1 : 0;
  }
  if (late == 0) return;
  std::ranges::stable_sort(requests, {}, &LoggedRequest::at);
  report.repaired(
      "requests that are earlier than the one before them: put in order of time",
      [&] {
        return SourceLocation{file.name, 1, 1, 1};
      },
      late);
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
  report.skipped(
      "requests outside the window that was asked for",
      [&] {
        return SourceLocation{file.name, 1, 1, 1};
      },
      static_cast<std::int64_t>(outside));
}

}  // namespace

RequestTable::RequestTable(const SourceText& file, ImportReport& report)
    : file_(file), lines_(file), report_(report) {}

std::optional<Diagnostics> RequestTable::open(const Columns& columns) {
  if (!lines_.next()) return not_the_format({file_.name, 1, 1, 1}, "the file is empty", "").value();
  for (std::size_t i = 0; i < lines_.size(); ++i) header_.emplace_back(lines_.value(i));
  for (const auto& [name, place] :
       {std::pair(columns.time, &time_), {columns.input, &input_}, {columns.output, &output_}}) {
    const auto found = find(name);
    if (!found) {
      return not_the_format(lines_.place(), fmt::format("the header has no column \"{}\"", name),
                            fmt::format("it has: {}", fmt::join(header_, ", ")))
          .value();
    }
    *place = *found;
  }
  return std::nullopt;
}

std::optional<std::size_t> RequestTable::find(std::string_view column) const {
  const auto found = std::ranges::find_if(
      header_, [&](const std::string& name) { return same_name(name, column); });
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

bool RequestTable::next(LoggedRequest& request) {
  while (lines_.next()) {
    report_.read();
    if (read(request)) return true;
  }
  return false;
}

bool RequestTable::read(LoggedRequest& request) {
  if (lines_.is_broken() || lines_.size() != header_.size()) {
    report_.bad_row(lines_.place(), fmt::format("{} values where the header has {} columns",
                                                lines_.size(), header_.size()));
    return false;
  }
  const auto time = parse_trace_time(lines_.value(time_));
  if (!time) {
    report_.bad_row(lines_.place(time_), "this is no time");
    return false;
  }
  request.at = Duration{*time};
  return read_tokens(input_, request.input_tokens) && read_tokens(output_, request.output_tokens);
}

bool RequestTable::read_tokens(std::size_t column, std::int32_t& tokens) {
  const auto count = whole_of(lines_.value(column));
  if (!count || *count < 0 || *count > kMostTokens) {
    report_.bad_row(lines_.place(column), "this is no number of tokens");
    return false;
  }
  tokens = static_cast<std::int32_t>(*count);
  return true;
}

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
  RequestLog log{std::move(requests), true, origin_unix_s};
  return Imported{std::move(log), report.take_log(count)};
}

}  // namespace slicewise::scenarios
