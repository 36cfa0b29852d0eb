#include <map>

#include <fmt/format.h>

#include "../text/decimal.hpp"
#include "importers.hpp"
#include "request_table.hpp"

namespace slicewise::scenarios {
namespace {

// Requests by the value of a column that the simulation does not tell apart.
class Shares {
 public:
  Shares(std::string_view what, std::optional<std::size_t> column) : what_(what), column_(column) {}

  void count(const CsvLines& line) {
    constexpr std::size_t kMost = 64;  // names that are told
    if (!column_) return;
    const auto found = counts_.find(line.value(*column_));
    if (found != counts_.end()) {
      ++found->second;
    } else if (counts_.size() < kMost) {
      counts_.emplace(line.value(*column_), 1);
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
  const auto total = whole_of(table.line().value(column));
  if (total == std::int64_t{request.input_tokens} + request.output_tokens) return;
  report.guessed("totals that are not the sum of request and response: not used",
                 [&] { return table.line().place(column); });
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
        report.note(fmt::format("column not used: {}", unused), table.line().place(*column));
      }
    }
    LoggedRequest request;
    while (table.next(request)) {
      if (request.output_tokens == 0) {
        report.skipped("requests without response tokens: failed",
                       [&] { return table.line().place(); });
        continue;
      }
      if (total) check_total(table, *total, request, report);
      models.count(table.line());
      types.count(table.line());
      requests.push_back(request);
    }
    models.tell(file, report);
    types.tell(file, report);
  }
  return requests_imported(std::move(requests), std::nullopt, files.front(), options, report);
}

}  // namespace slicewise::scenarios
