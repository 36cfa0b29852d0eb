#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "slicewise/scenarios/import.hpp"

#include "../traces/job_trace.hpp"
#include "import_report.hpp"

namespace slicewise::scenarios {

// A job as an importer found it; what the log does not say stays as it is here. Numbers and
// durations are within the limits of the columns of job traces.
struct JobRow {
  std::int64_t at_ns = 0;  // arrival, since any point that the whole log shares
  Duration run = kUnknownDuration;
  std::int32_t gpus = 0;
  std::int32_t gpu_milli = 1'000;
  std::int32_t cpu_milli = kUnknownNumber;
  Bytes memory{kUnknownNumber};
  Bytes gpu_memory{kUnknownNumber};
  Duration observed_wait = kUnknownDuration;
  Duration time_limit = kUnknownDuration;
  Duration deadline = kUnknownDuration;
  std::int32_t gpu_permille = kUnknownNumber;
  std::int32_t sm_permille = kUnknownNumber;
  std::int32_t priority = 0;
  std::int32_t backoff_limit = kUnknownNumber;
  JobState state = JobState::Unknown;
  std::string_view id;
  std::string_view user;
  std::string_view group;
  std::string_view project;
  std::string_view gpu_models;
  std::string_view resource;
  std::string_view work;
  std::string_view gang;
  std::string_view instance_type;
  std::string_view ran_on;
  Duration iteration = kUnknownDuration;
  Duration iteration_host = kUnknownDuration;
  Duration iteration_gpu = kUnknownDuration;
  Duration iteration_network = kUnknownDuration;
};

// Rows of a log on their way to a trace.
class JobRows {
 public:
  // `trace`: rows that are there already, its columns all its own.
  explicit JobRows(ImportReport& report, JobTrace trace = {})
      : report_(report), trace_(std::move(trace)), pool_(trace_.names) {}

  // `place()` says where the row stands.
  template <class Place>
  void add(const JobRow& row, Place place) {
    if (!trace_.arrival.owned.empty() && row.at_ns < trace_.arrival.owned.back().ns) {
      report_.repaired("rows that arrive before the row above them: put in order of arrival",
                       place);
    }
    if (append(row)) {
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
  // Whether the id was there before.
  bool append(const JobRow& row);
  void cut_to_window(const ImportOptions& options, std::int64_t first);
  void drop_empty_columns();

  ImportReport& report_;
  JobTrace trace_;  // arrivals are those of the log until finish()
  NamePool pool_;
  std::vector<char> is_id_;  // by number of the name
};

}  // namespace slicewise::scenarios
