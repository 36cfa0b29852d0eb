#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/counted.hpp"
#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/gpu_resource.hpp"
#include "slicewise/scenarios/job_trace.hpp"

#include "../traces/job_classes.hpp"
#include "blocks.hpp"

// `kind: TraceJobs`: the jobs of a log as Job workloads, one for each class of jobs that are alike.
namespace slicewise::scenarios {
namespace {

// More than the scheduler of a simulated cluster gets through in a minute.
constexpr std::size_t kMostJobs = 200'000;
// Workloads are read by people, and each costs every other one.
constexpr std::size_t kMostClasses = 64;
constexpr std::size_t kMostSplitClasses = 512;

// Names that Kubernetes takes do not end in a dash.
std::string cut(std::string name, std::size_t longest) {
  name.resize(std::min(name.size(), longest));
  while (name.ends_with('-')) name.pop_back();
  return name;
}

// As a part of such a name.
std::string in_dns(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const char small = lower(c);
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) {
      name += small;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  constexpr std::size_t kLongest = 40;
  name = cut(std::move(name), kLongest);
  return name.empty() ? "none" : name;
}

// Of jobs that start when they are submitted.
int most_alive(const std::vector<RecordedJobs::Job>& jobs, double scale) {
  std::vector<std::pair<double, int>> changes;
  for (const RecordedJobs::Job& job : jobs) {
    const double start_s = to_seconds(job.submitted) / scale;
    changes.emplace_back(start_s, 1);
    changes.emplace_back(start_s + to_seconds(job.run), -1);
  }
  std::ranges::sort(changes);  // who ends makes room for who starts
  int alive = 0;
  int most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, alive += change);
  return most;
}

// One TraceJobs on its way to the workloads that it stands for.
class TraceExpansion {
 public:
  TraceExpansion(const Workload& given, const JobTrace& recorded, Reading& reading)
      : given_(given), source_(*given.trace), trace_(recorded), reading_(reading) {
    take_out_company(trace_);
    std::vector<ProfileRule> rules;
    for (const auto& rule : source_.profile_rules) rules.push_back(*read_profile_rule(rule.value));
    without_profile_ = give_profiles(trace_, rules, source_.profile_seed);
  }

  // None after reporting why.
  std::vector<Workload> workloads() {
    if (!check_names(source_.users, trace_.user, "user") ||
        !check_names(source_.groups, trace_.group, "group") || !check_columns() || !choose_rows()) {
      return {};
    }
    const std::size_t most =
        source_.split == RecordedJobs::Split::None ? kMostClasses : kMostSplitClasses;
    const JobClasses classes = class_jobs(trace_, rows_, source_, most);
    if (classes.rows.size() > most) {
      error(source_.file.where,
            fmt::format("the jobs of the trace are of {} kinds; {} is the most",
                        classes.rows.size(), most),
            source_.split == RecordedJobs::Split::None
                ? "choose jobs with users, groups, leastGpus and mostGpus"
                : "leave out splitBy, or choose users");
      return {};
    }
    set_apart_what_is_not_taken();
    const auto apart = std::make_shared<std::vector<ApartJobs>>();
    for (const auto& [why, jobs] : apart_) apart->push_back(jobs);
    std::vector<Workload> workloads;
    for (const auto& [key, rows] : classes.rows) {
      workloads.push_back(workload_of(key, rows, classes));
      workloads.back().trace->apart = apart;
    }
    tell(workloads, classes.grain);
    return workloads;
  }

 private:
  using Rows = std::vector<std::size_t>;

  void error(const SourceLocation& where, std::string message, std::string help) {
    reading_.findings.add(Code::ValueRange, where, std::move(message), std::move(help));
  }

  bool check_names(const std::vector<Located<std::string>>& wanted,
                   const TraceColumn<std::uint32_t>& column, std::string_view what) {
    if (wanted.empty()) return true;
    std::set<std::string_view> there;
    for (const std::uint32_t number : column.values()) there.insert(trace_.names[number]);
    bool fine = true;
    for (const auto& name : wanted) {
      if (there.contains(name.value)) continue;
      const auto near = nearest_name(name.value, std::vector(there.begin(), there.end()));
      error(name.where, fmt::format("the trace has no {} \"{}\"", what, name.value),
            column.empty() ? fmt::format("it has no column {}", what)
            : near         ? fmt::format("did you mean \"{}\"?", *near)
                           : "");
      fine = false;
    }
    return fine;
  }

  // That objectives ask for.
  bool check_columns() {
    const auto* owners = owners_of(trace_, source_.judge_by);
    if (owners != nullptr && owners->empty()) {
      error(source_.file.where, "the trace does not say whose jobs they are: judgeBy needs it", "");
      return false;
    }
    const auto by_deadline =
        std::ranges::find(given_.objectives, Figure::DeadlinesMet, &Objective::figure);
    if (by_deadline == given_.objectives.end() || !trace_.deadline.empty()) return true;
    error(by_deadline->where, "no job of the trace has a deadline (deadline_s)",
          "take `deadline`, one for all, or waitP95");
    return false;
  }

  // With whom the objectives of the job are judged.
  std::uint32_t judged_with(std::size_t row) {
    const auto* owners = owners_of(trace_, source_.judge_by);
    const std::uint32_t name = owners == nullptr ? 0 : (*owners)[row];
    const auto number = static_cast<std::uint32_t>(judged_numbers_.size());
    const auto [place, is_new] = judged_numbers_.try_emplace(name, number);
    if (is_new) judged_groups_->push_back(name == 0 ? "none" : trace_.names[name]);
    return place->second;
  }

  static bool is_among(const std::vector<Located<std::string>>& wanted, std::string_view name) {
    return wanted.empty() ||
           std::ranges::find(wanted, name, &Located<std::string>::value) != wanted.end();
  }

  bool choose_rows() {
    if (trace_.size() == 0) {
      error(source_.file.where, "there is no job in the trace", "");
      return false;
    }
    first_ = trace_.arrival[0];
    const Duration length = trace_.arrival[trace_.size() - 1] - first_;
    const std::string trace_length =
        fmt::format("the trace is {:.4g} h long", to_seconds(length) / 3600);
    if (source_.from > length) {
      error(source_.file.where, "the window starts behind the last job of the trace", trace_length);
      return false;
    }
    for (std::size_t row = 0; row < trace_.size(); ++row) {
      const Duration at = trace_.arrival[row] - first_ - source_.from;
      if (at.ns < 0 || (source_.length && at >= *source_.length)) continue;
      if (!is_among(source_.users, trace_.name(trace_.user, row)) ||
          !is_among(source_.groups, trace_.name(trace_.group, row))) {
        continue;
      }
      const std::int32_t gpus = trace_.gpus[row];
      if (gpus == 0) {
        set_apart(Apart::NoGpu, row);
      } else if (gpus < source_.least_gpus || gpus > source_.most_gpus.value_or(gpus)) {
        set_apart(Apart::OtherGpus, row);
      } else if (trace_.run[row].ns < 0) {
        set_apart(Apart::UnknownTime, row);
      } else if (trace_.run[row].ns == 0) {
        set_apart(Apart::NoTime, row);
      } else {
        rows_.push_back(row);
      }
    }
    if (rows_.size() > kMostJobs) {
      error(source_.file.where, fmt::format("{} jobs are more than {}", rows_.size(), kMostJobs),
            "cut a window with from and length, or choose users or groups");
      return false;
    }
    if (!rows_.empty()) return true;
    error(
        source_.file.where,
        fmt::format("no job of the trace is left{}{}", apart_.empty() ? "" : ": ", left_out_text()),
        fmt::format("{}: change from, length, users, groups or the number of GPUs", trace_length));
    return false;
  }

  void set_apart(Apart why, std::size_t row) {
    const auto [place, is_new] = apart_.try_emplace(why, ApartJobs{why, 0, trace_.row_place(row)});
    ++place->second.jobs;
  }

  // What rows say and no workload does.
  void set_apart_what_is_not_taken() {
    const auto& given = given_.pod.extended;
    for (const std::size_t row : rows_) {
      if (!trace_.name(trace_.gang, row).empty()) set_apart(Apart::Gang, row);
      if (known(trace_.time_limit, row) >= 0) set_apart(Apart::TimeLimit, row);
      if (trace_.asks_for_parts_of_several(row)) set_apart(Apart::PartOfSeveral, row);
      const std::string_view name = trace_.name(trace_.resource, row);
      if (name.empty()) continue;
      const auto resource = recorded_resource(name);
      const bool taken = resource && (given.empty() || given.front().name.value == *resource);
      if (!taken) set_apart(Apart::OtherResource, row);
    }
  }

  std::string apart_texts(Apart from, Apart to, std::string_view between) const {
    std::string text;
    for (const auto& [why, jobs] : apart_) {
      if (why < from || why > to) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : between, jobs.jobs, apart_text(why));
    }
    return text;
  }

  // "1 that ran for no time, 2 without a GPU".
  std::string left_out_text() const { return apart_texts(Apart::NoTime, Apart::NoGpu, ", "); }

  // Over the jobs that the column knows; nullopt: none.
  std::optional<double> mean_share(const TraceColumn<std::int32_t>& column,
                                   const Rows& rows) const {
    std::int64_t sum = 0;
    std::int64_t count = 0;
    for (const std::size_t row : rows) {
      if (known(column, row) < 0) continue;
      sum += column[row];
      ++count;
    }
    if (count == 0) return std::nullopt;
    const std::int64_t mean = sum / count;
    return std::max(0.001, static_cast<double>(mean) / 1'000);
  }

  std::optional<std::int64_t> most_of(const auto& column, const Rows& rows) const {
    std::int64_t most = -1;
    for (const std::size_t row : rows) most = std::max(most, known(column, row));
    return most < 0 ? std::nullopt : std::optional(most);
  }

  // "team-1gpu-u30": what the classes differ in beyond their GPUs is said.
  std::string name_of(const ClassKey& key, const JobClasses& classes) const {
    std::string name = fmt::format("{}-{}gpu", cut(given_.name.value, 30), key.gpus);
    const auto add = [&](auto ClassKey::*member, const std::string& text) {
      const bool differs = std::ranges::any_of(classes.rows, [&](const auto& other) {
        return other.first.*member != key.*member && other.first.gpus == key.gpus;
      });
      if (differs) name += "-" + text;
    };
    const auto number = [](char mark, std::int64_t value) {
      return value < 0 ? fmt::format("{}x", mark) : fmt::format("{}{}", mark, value);
    };
    add(&ClassKey::owner, in_dns(trace_.names[key.owner]));
    add(&ClassKey::resource, in_dns(trace_.names[key.resource]));
    add(&ClassKey::profile, in_dns(trace_.names[key.profile]));
    add(&ClassKey::device, in_dns(trace_.names[key.device]));
    add(&ClassKey::milli, number('f', key.milli < 0 ? -1 : key.milli / 10));
    add(&ClassKey::use, number('u', key.use < 0 ? -1 : key.use / 10));
    add(&ClassKey::sm, number('s', key.sm < 0 ? -1 : key.sm / 10));
    add(&ClassKey::gpu_gib, number('g', key.gpu_gib));
    add(&ClassKey::cpus, number('c', key.cpus));
    add(&ClassKey::gib, number('m', key.gib));
    add(&ClassKey::priority,
        key.priority < 0 ? fmt::format("pm{}", -key.priority) : number('p', key.priority));
    add(&ClassKey::backoff, number('b', key.backoff));
    constexpr std::size_t kLongestName = 63;
    return cut(std::move(name), kLongestName);
  }

  Workload workload_of(const ClassKey& key, const Rows& rows, const JobClasses& classes) {
    Workload workload = given_;
    workload.name.value = unique(name_of(key, classes));
    workload.count = static_cast<int>(rows.size());
    if (classes.grain.host && !trace_.priority.empty()) {
      workload.priority = static_cast<int>(std::min<std::int64_t>(key.priority, 1'000'000'000));
    }
    if (key.backoff >= 0) workload.backoff_limit = static_cast<int>(key.backoff);
    if (source_.split != RecordedJobs::Split::None && key.owner != 0) {
      workload.namespace_name = in_dns(trace_.names[key.owner]);
      if (source_.split == RecordedJobs::Split::User) {
        workload.pod.labels["user"] = trace_.names[key.owner];
      }
    }
    if (key.profile != 0) workload.profile = {trace_.names[key.profile], source_.file.where};
    ask_for(key, rows, workload.pod);
    if (const auto bytes = most_of(trace_.gpu_memory, rows)) {
      constexpr std::int64_t kMebi = 1LL << 20U;
      workload.gpu_memory.resident = Bytes{(*bytes + kMebi - 1) / kMebi * kMebi};
      workload.gpu_memory.peak.reset();
    }
    measure(key, rows, workload);
    std::vector<RecordedJobs::Job> jobs;
    double run_s = 0;
    for (const std::size_t row : rows) {
      jobs.push_back({trace_.arrival[row] - first_ - source_.from, trace_.run[row],
                      trace_.deadline.empty() ? kUnknownDuration : trace_.deadline[row],
                      trace_.time_limit.empty() ? kUnknownDuration : trace_.time_limit[row],
                      static_cast<std::uint32_t>(row + 1), judged_with(row)});
      run_s += to_seconds(trace_.run[row]);
    }
    workload.work = Work{};
    workload.work->units =
        std::max<std::int64_t>(1, std::llround(run_s / static_cast<double>(jobs.size())));
    workload.work->unit_name = "job-second";
    workload.trace->workload = given_.name.value;
    workload.trace->at_once = most_alive(jobs, source_.scale);
    workload.trace->jobs = std::make_shared<const std::vector<RecordedJobs::Job>>(std::move(jobs));
    workload.trace->judged_groups = judged_groups_;
    workload.trace->gpu = trace_.names[key.device];
    workload.trace->first = trace_.row_place(rows.front());
    if (trace_.origin_unix_s) {
      workload.trace->origin_unix_s =
          *trace_.origin_unix_s + (first_ + source_.from).ns / seconds(1).ns;
    }
    return workload;
  }

  // Two classes that names of 63 characters do not tell apart.
  std::string unique(const std::string& name) {
    std::string other = name;
    for (int n = 2; !names_.insert(other).second; ++n) {
      other = fmt::format("{}-{}", cut(name, 58), n);
    }
    return other;
  }

  void ask_for(const ClassKey& key, const Rows& rows, PodTemplate& pod) const {
    if (source_.host_requests) {
      if (const auto milli = most_of(trace_.cpu_milli, rows)) pod.cpu_request = {*milli};
      if (const auto bytes = most_of(trace_.memory, rows)) pod.memory_request = {*bytes};
    }
    if (pod.extended.empty()) {
      ExtendedRequest request;
      request.name.value =
          recorded_resource(trace_.names[key.resource]).value_or(std::string(kGpuResource));
      request.name.where = source_.file.where;
      request.count_where = source_.file.where;
      pod.extended.push_back(request);
    }
    pod.extended.front().count = key.gpus;
  }

  void measure(const ClassKey& key, const Rows& rows, Workload& workload) const {
    const bool given = workload.measured.has_value();
    Measured& measured = given ? *workload.measured : workload.measured.emplace();
    if (!given) measured.where = source_.where;
    measured.unit_time = seconds(1);
    const auto use = mean_share(trace_.gpu_permille, rows);
    const auto sm_active = mean_share(trace_.sm_permille, rows);
    if (use || sm_active) {
      measured.capacity_share.reset();
      take_use({use, sm_active, std::nullopt}, measured);
    } else if (key.milli > 0 && !measured.gpu_busy && !measured.gpu_util) {
      take_use({std::nullopt, std::nullopt, mean_share(trace_.gpu_milli, rows)}, measured);
    }
    const bool all_measured = (use || sm_active || (!given && key.milli < 0 && key.profile == 0)) &&
                              !trace_.run_under_sharing && trace_.company_taken_out == 0;
    if (all_measured) measured.provenance = Provenance::Measured;
  }

  // What became of the trace, as a note.
  void tell(const std::vector<Workload>& workloads, const Grain& grain) {
    std::string text = fmt::format("{} jobs of the trace are {}", rows_.size(),
                                   counted(workloads.size(), "workload"));
    constexpr std::size_t kMostShown = 8;
    for (std::size_t w = 0; w < std::min(workloads.size(), kMostShown); ++w) {
      text += fmt::format("{} {} ({})", w == 0 ? ":" : ",", workloads[w].name.value,
                          workloads[w].count);
    }
    if (workloads.size() > kMostShown) text += ", ...";
    if (const std::string left_out = left_out_text(); !left_out.empty()) {
      text += "; left out: " + left_out;
    }
    const bool has_use = !trace_.gpu_permille.empty() || !trace_.sm_permille.empty();
    if (!has_use) text += "; the trace does not say how much of their GPUs they used";
    if (trace_.gpu_memory.empty()) {
      text += has_use ? "; the trace does not say their GPU memory" : "; nor their GPU memory";
    }
    const std::string not_taken = apart_texts(Apart::Gang, Apart::OtherResource, "; ");
    if (!not_taken.empty()) text += "; " + not_taken;
    if (trace_.run_under_sharing) {
      text +=
          "; they were recorded while they shared GPUs, and their runs are taken as alone: there "
          "is no column ran_on that says beside whom";
    }
    if (trace_.company_taken_out > 0) {
      text += fmt::format("; what neighbours cost them was taken out of the runs of {}",
                          trace_.company_taken_out);
    }
    if (without_profile_ > 0) {
      text += fmt::format("; no rule of profileBy fits {} of the trace", without_profile_);
    }
    if (!grain.host &&
        (source_.host_requests || !trace_.priority.empty() || !trace_.backoff_limit.empty())) {
      text +=
          "; of so many kinds CPU and memory are the largest of each workload, priority and "
          "backoffLimit those of the file";
    }
    Diagnostic found = make_diagnostic(Code::InputAssumed, source_.file.where, std::move(text));
    Diagnostics& notes = reading_.traces->notes();
    if (!holds(notes, found)) notes.push_back(std::move(found));
  }

  const Workload& given_;
  const RecordedJobs& source_;
  JobTrace trace_;  // as its jobs would run alone
  std::int64_t without_profile_ = 0;
  Reading& reading_;
  Duration first_;
  std::vector<std::size_t> rows_;
  std::map<Apart, ApartJobs> apart_;
  std::set<std::string> names_;
  std::map<std::uint32_t, std::uint32_t> judged_numbers_;
  std::shared_ptr<std::vector<std::string>> judged_groups_ =
      std::make_shared<std::vector<std::string>>();
};

// Else that is reported already.
bool is_sound(const RecordedJobs& source) {
  const auto is_rule = [](const auto& rule) { return read_profile_rule(rule.value).has_value(); };
  return std::ranges::all_of(source.profile_rules, is_rule) && !source.file.value.empty() &&
         source.scale > 0 && source.least_gpus <= source.most_gpus.value_or(source.least_gpus);
}

}  // namespace

void expand_traces(Scenario& scenario, Reading& reading) {
  std::vector<Workload> workloads;
  std::map<std::string, int> names;
  for (Workload& workload : scenario.workloads) {
    std::vector<Workload> expanded;
    if (workload.trace && is_sound(*workload.trace)) {
      const auto trace = reading.traces->find_jobs(workload.trace->file, reading.findings);
      if (trace != nullptr) expanded = TraceExpansion(workload, *trace, reading).workloads();
    }
    if (expanded.empty()) {
      workload.trace.reset();  // nothing reads what could not be expanded
      expanded.push_back(std::move(workload));
    }
    std::ranges::move(expanded, std::back_inserter(workloads));
  }
  for (const Workload& workload : workloads) {
    if (++names[workload.name.value] == 1 || !workload.trace) continue;
    reading.findings.add(
        Code::NameDuplicate, workload.name.where,
        fmt::format("\"{}\" is a workload of the file, and one of the trace", workload.name.value),
        "rename one of them");
  }
  scenario.workloads = std::move(workloads);
}

}  // namespace slicewise::scenarios
