#include <algorithm>

#include <fmt/format.h>

#include "slicewise/models/measurements.hpp"

// A user's measurements as studies: what they are held against, and from which of them.
namespace slicewise::models {
namespace {

// Of measurements that predictions miss by more nothing is learnt.
constexpr double kUsersBound = 100;
// About what published rows of equal processes are off by.
constexpr double kUsersTarget = 10;

MeasurementSource source_of(const std::vector<Measurement>& measurements, const std::string& gpu,
                            bool in_turns, const std::string& file) {
  MeasurementSource source;
  source.title = file.substr(file.rfind('/') + 1);
  source.url = file;
  source.read = "the file given";
  source.gpu = gpu;
  for (const Measurement& m : measurements) {
    const bool turns = m.sharing == MeasuredSharing::TimeSlicing && m.clients > 1;
    if (m.gpu != gpu || !m.beside.empty() || (turns && !in_turns)) continue;
    if (in_turns && !turns && (m.clients > 1 || m.slice != "full" || m.active_threads < 1))
      continue;
    source.rows.push_back(
        {m.workload, fmt::format("b{}", m.batch), m.slice, m.active_threads, m.clients, m.time});
  }
  return source;
}

void add_to(ValidationSet& set, MeasurementSource source, Study study) {
  source.id = study.id;
  study.source = study.id;
  study.bound_percent = kUsersBound;
  study.target_percent = kUsersTarget;
  set.sources.push_back(std::move(source));
  set.studies.push_back(std::move(study));
}

void add_study(MeasurementSource source, Study study, ValidationSet& set) {
  int fewest = 0;
  for (const MeasuredRow& row : source.rows) {
    if (row.clients > 1 && (fewest == 0 || row.clients < fewest)) fewest = row.clients;
  }
  if (study.engine == StudyEngine::Turns) {
    if (fewest == 0) return;
    study.fit.clients = {1};
  } else {
    study.fit.clients = {1, fewest};
    study.fit.slices = {"full", "smallest"};
  }
  add_to(set, std::move(source), std::move(study));
}

// What rows alone on the whole GPU say of a workload, the mean over them; the time is 0 where none
// has a time and DCGM's shares.
MeasuredProcess process_of(const std::vector<Measurement>& measurements, const std::string& gpu,
                           const std::string& workload, int batch) {
  MeasuredProcess process;
  process.workload = workload;
  process.gpu_active = process.sm_active = 0;
  double seconds = 0;
  double rows = 0;
  for (const Measurement& m : measurements) {
    const bool alone = m.sharing == MeasuredSharing::Alone && m.slice == "full" && !m.served;
    if (!alone || m.gpu != gpu || m.workload != workload || m.batch != batch) continue;
    if (m.kernel_time.ns > 0) process.kernel_time = m.kernel_time;
    if (!m.activity.gpu_util || !m.activity.sm_active) continue;
    seconds += to_seconds(m.time);
    process.gpu_active += *m.activity.gpu_util;
    process.sm_active += *m.activity.sm_active;
    ++rows;
  }
  if (rows == 0 || process.gpu_active <= 0) return process;
  process.alone = from_seconds(seconds / rows);
  process.gpu_active /= rows;
  process.sm_active /= rows;
  return process;
}

bool shares_a_whole_gpu(const Measurement& m, const std::string& gpu) {
  return m.gpu == gpu && m.sharing != MeasuredSharing::Alone && m.slice == "full" &&
         m.active_threads >= 1 && (m.clients > 1 || !m.beside.empty());
}

// The row of `m.beside` beside `m.workload`; nullptr where there is none.
const Measurement* other_side(const std::vector<Measurement>& measurements, const Measurement& m) {
  const auto found = std::ranges::find_if(measurements, [&](const Measurement& other) {
    return shares_a_whole_gpu(other, m.gpu) && other.sharing == m.sharing &&
           other.workload == m.beside && other.beside == m.workload;
  });
  return found == measurements.end() ? nullptr : &*found;
}

}  // namespace

std::vector<MeasuredCompany> companies_of(const std::vector<Measurement>& measurements,
                                          const std::string& gpu) {
  std::vector<MeasuredCompany> out;
  for (const Measurement& m : measurements) {
    if (!shares_a_whole_gpu(m, gpu)) continue;
    MeasuredProcess first = process_of(measurements, gpu, m.workload, m.batch);
    first.time = m.time;
    MeasuredCompany company;
    company.in_turns = m.sharing == MeasuredSharing::TimeSlicing;
    if (m.beside.empty()) {
      company.processes.assign(static_cast<std::size_t>(m.clients), first);
    } else {
      const Measurement* other = other_side(measurements, m);
      if (other == nullptr || other < &m) continue;  // a pair counts once
      MeasuredProcess second = process_of(measurements, gpu, other->workload, other->batch);
      second.time = other->time;
      company.processes = {first, second};
    }
    const bool known = std::ranges::all_of(
        company.processes, [](const MeasuredProcess& process) { return process.alone.ns > 0; });
    if (known) out.push_back(std::move(company));
  }
  return out;
}

namespace {

// From the time alone and its activity: copies and pairs.
void add_requests(const std::vector<Measurement>& measurements, const std::string& gpu,
                  const std::string& file, const std::string& suffix, ValidationSet& set) {
  MeasurementSource source = source_of({}, gpu, false, file);
  source.companies = companies_of(measurements, gpu);
  for (const bool in_turns : {true, false}) {
    if (std::ranges::none_of(source.companies, [&](const MeasuredCompany& company) {
          return company.in_turns == in_turns;
        })) {
      continue;
    }
    Study study;
    study.id = fmt::format("measurements-{}{}", in_turns ? "requests" : "requests-mps", suffix);
    study.mode = in_turns ? "time-slicing" : "MPS";
    study.evidence = Evidence::Utilisation;
    study.engine = StudyEngine::Requests;
    study.title = in_turns ? "your measurements in turns, from the time alone and DCGM's shares"
                           : "your measurements under MPS, from the time alone and DCGM's shares";
    study.split = "the time alone, its shares and lengths of kernels are given; all others check";
    study.parameters = "none fitted: each process sends a request when the last is answered";
    add_to(set, source, std::move(study));
  }
}

}  // namespace

void add_studies(const std::vector<Measurement>& measurements, const std::string& file,
                 ValidationSet& set) {
  std::vector<std::string> gpus;
  for (const Measurement& m : measurements) {
    if (std::ranges::find(gpus, m.gpu) == gpus.end()) gpus.push_back(m.gpu);
  }
  for (const std::string& gpu : gpus) {
    const std::string suffix = gpus.size() == 1 ? "" : "-" + gpu;
    Study law;
    law.id = "measurements" + suffix;
    law.mode = "MIG+MPS";
    law.evidence = Evidence::CoLocation;
    law.title = "your measurements, alone and under MPS";
    law.split =
        "one process and the fewest under MPS, on the whole GPU and the smallest slice; all "
        "others check";
    law.parameters = fmt::format("T0 and W per batch fitted; p {} and beta {} are defaults",
                                 kInferenceNorm, kDefaultBandwidthShare);
    law.norms = {kInferenceNorm};
    law.bandwidth_share = kDefaultBandwidthShare;
    add_study(source_of(measurements, gpu, false, file), std::move(law), set);
    Study turns;
    turns.id = "measurements-turns" + suffix;
    turns.mode = "time-slicing";
    turns.evidence = Evidence::TimeAlone;
    turns.engine = StudyEngine::Turns;
    turns.title = "your measurements, taking turns";
    turns.split = "the time alone is given; all others check";
    turns.parameters = "none fitted: processes that never idle";
    add_study(source_of(measurements, gpu, true, file), std::move(turns), set);
    add_requests(measurements, gpu, file, suffix, set);
  }
}

}  // namespace slicewise::models
