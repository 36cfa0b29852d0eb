#include "job_rows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../traces/job_trace.hpp"
#include "../traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

// What stands where nobody says anything of a job.
template <class T>
T nothing(const ColumnRules& rules) {
  const std::int64_t number = rules.may_be_unknown ? kUnknownNumber : 0;
  if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, Bytes>) {
    return {number};
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<T>(rules.name == "gpu_milli" ? 1'000 : number);
  } else {
    return {};
  }
}

// The second that `ns` lies in, in nanoseconds.
std::int64_t whole_second(std::int64_t ns) {
  const std::int64_t rest = ns % kSecond;
  return ns - (rest < 0 ? rest + kSecond : rest);
}

}  // namespace

JobRow::JobRow() {
  visit_columns(*this, [](const ColumnRules& rules, auto& cell) {
    cell = nothing<std::remove_reference_t<decltype(cell)>>(rules);
  });
}

void append(const JobRow& row, JobTrace& trace, NamePool& names) {
  visit_columns_of(
      [&](const ColumnRules& /*rules*/, auto& column, const auto& cell) {
        if constexpr (requires { column.owned.push_back(cell); }) {
          column.owned.push_back(cell);
        } else {
          column.owned.push_back(names.number_of(cell));
        }
      },
      trace, row);
}

void drop_empty_columns(JobTrace& trace, bool keeps_whole_gpus) {
  visit_columns(trace, [&](const ColumnRules& rules, auto& column) {
    using Value = typename std::remove_reference_t<decltype(column.owned)>::value_type;
    const bool stays = rules.must_exist || (keeps_whole_gpus && rules.name == "gpu_milli");
    const auto is_nothing = [none = nothing<Value>(rules)](Value value) { return value == none; };
    if (!stays && std::ranges::all_of(column.owned, is_nothing)) column.owned.clear();
    column.owned.shrink_to_fit();
  });
}

bool JobRows::had_id(std::uint32_t id) {
  if (id == 0) return false;
  if (id >= is_id_.size()) is_id_.resize(trace_.names.size());
  return std::exchange(is_id_[id], char{1}) != 0;
}

bool JobRows::share_gpus() const {
  for (std::size_t row = 0; row < size(); ++row) {
    if (trace_.gpus.owned[row] > 0 && trace_.gpu_milli.owned[row] < 1'000) return true;
  }
  return false;
}

void JobRows::cut_to_window(const ImportOptions& options, std::int64_t first) {
  if (!options.from && !options.length) return;
  const Duration from = options.from.value_or(Duration{});
  std::vector<char> kept(size());
  std::int64_t left_out = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Duration after = trace_.arrival.owned[i] - Duration{first} - from;
    const bool inside = after.ns >= 0 && (!options.length || after < *options.length);
    kept[i] = inside ? 1 : 0;
    left_out += inside ? 0 : 1;
  }
  if (left_out == 0) return;
  report_.skipped("rows outside the window of --from and --length", SourceLocation{}, left_out);
  visit_columns(trace_, [&](const ColumnRules& /*rules*/, auto& column) {
    if (column.empty()) return;
    std::size_t next = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] != 0) column.owned[next++] = column.owned[i];
    }
    column.owned.resize(next);
  });
}

Expected<Imported> JobRows::finish(const SourceText& source, const ImportOptions& options,
                                   bool since_epoch, bool run_under_sharing) {
  if (report_.has_failed()) return tl::unexpected(report_.errors());
  const SourceLocation where{source.name, 1, 1, 1};
  if (size() == 0) return not_the_format(where, "there is no job in it");
  const auto [least, most] = std::ranges::minmax(trace_.arrival.owned);
  if (static_cast<Int128>(most.ns) - least.ns > kLongestInTrace) {
    return not_the_format(where, "its arrivals lie more than 126 years apart",
                          "say what their unit is, with --columns arrival=COLUMN:ms for example");
  }
  cut_to_window(options, least.ns);
  if (size() == 0) {
    return not_the_format(
        where, "no job arrives in the window of --from and --length",
        fmt::format("the log is {:.6g} days long", to_seconds(most - least) / 86'400));
  }
  put_in_order(trace_);
  const std::int64_t origin = whole_second(trace_.arrival.owned.front().ns);
  for (Duration& arrival : trace_.arrival.owned) arrival.ns -= origin;
  if (since_epoch) trace_.origin_unix_s = trace_.origin_unix_s.value_or(0) + origin / kSecond;
  trace_.run_under_sharing = run_under_sharing;
  drop_empty_columns(trace_);
  Imported imported;
  imported.log = report_.take_log(static_cast<std::int64_t>(size()));
  imported.content = std::move(trace_);
  return imported;
}

}  // namespace slicewise::scenarios
