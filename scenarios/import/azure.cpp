#include "importers.hpp"
#include "request_table.hpp"

namespace slicewise::scenarios {
namespace {

// "2023-11-16 18:17:03.9799600" has none, "...+00:00" and "...Z" have one.
bool has_zone(std::string_view time) {
  constexpr std::size_t kDate = 10;
  return time.size() > kDate && time.find_first_of("Z+-", kDate) != std::string_view::npos;
}

bool is_seconds(std::string_view time) { return time.find(':') == std::string_view::npos; }

}  // namespace

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
        if (options.utc_offset) {
          request.at -= *options.utc_offset;
        } else {
          report.guessed("times without a zone: taken for UTC",
                         [&] { return table.line().place(0); });
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

}  // namespace slicewise::scenarios
