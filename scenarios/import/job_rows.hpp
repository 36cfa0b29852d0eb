#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "slicewise/scenarios/import.hpp"

#include "../traces/job_trace.hpp"
#include "import_report.hpp"

namespace slicewise::scenarios {

template <class T>
using JobCell = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::string_view, T>;

// A job as an importer found it, its arrival since any point that the whole log shares; what the
// log does not say stays as it is here. Numbers and durations are within the limits of the columns.
struct JobRow : JobColumns<JobCell> {
  JobRow();
};

void append(const JobRow& row, JobTrace& trace, NamePool& names);

// Leaves out columns that nobody filled. `keeps_whole_gpus`: not gpu_milli where all of it is 1000.
void drop_empty_columns(JobTrace& trace, bool keeps_whole_gpus = false);

// Rows of a log on their way to a trace.
class JobRows {
 public:
  // `trace`: rows that are there already, its columns all its own.
  explicit JobRows(ImportReport& report, JobTrace trace = {})
      : report_(report), trace_(std::move(trace)), pool_(trace_.names) {}

  // `place()` says where the row stands.
  template <class Place>
  void add(const JobRow& row, Place place) {
    if (!trace_.arrival.owned.empty() && row.arrival < trace_.arrival.owned.back()) {
      report_.repaired("rows that arrive before the row above them: put in order of arrival",
                       place);
    }
    append(row, trace_, pool_);
    if (had_id(trace_.id.owned.back())) {
      report_.noted("rows whose id was there before (attempts of one job?): kept as jobs", place);
    }
  }

  std::size_t size() const { return trace_.arrival.owned.size(); }
  // Whether some asked for a part of a GPU: they may have run beside others.
  bool share_gpus() const;

  // The trace in order of arrival, cut to the window that was asked for, without the columns that
  // nobody filled; or what was wrong with the rows. `since_epoch`: arrivals count from 1970.
  Expected<Imported> finish(const SourceText& source, const ImportOptions& options,
                            bool since_epoch, bool run_under_sharing = false);

 private:
  bool had_id(std::uint32_t id);
  void cut_to_window(const ImportOptions& options, std::int64_t first);

  ImportReport& report_;
  JobTrace trace_;  // arrivals are those of the log until finish()
  NamePool pool_;
  std::vector<char> is_id_;  // by number of the name
};

}  // namespace slicewise::scenarios
