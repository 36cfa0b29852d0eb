#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/lookup.hpp"
#include "slicewise/models/measurements.hpp"

// A user's measurements as studies: what they are held against, and from which of them.
namespace slicewise::models {

MeasuredProcess process_alone(const std::vector<Measurement>& measurements, const std::string& gpu,
                              const std::string& workload, int batch) {
  MeasuredProcess process;
  process.workload = workload;
  std::vector<const Measurement*> rows;
  for (const Measurement& m : measurements) {
    const bool alone = m.sharing == MeasuredSharing::Alone && m.slice == "full" &&
                       m.active_threads >= 1 && !m.served;
    if (!alone || m.gpu != gpu || m.workload != workload || m.batch != batch) continue;
    if (m.kernel_time.ns > 0) process.kernel_time = m.kernel_time;
    rows.push_back(&m);
  }
  const auto keep_those_with = [&](std::optional<double> Activity::*share) {
    const auto lacks = [&](const Measurement* m) { return (m->activity.*share).value_or(0) <= 0; };
    if (!std::ranges::all_of(rows, lacks)) std::erase_if(rows, lacks);
  };
  keep_those_with(&Activity::gpu_util);
  keep_those_with(&Activity::sm_active);
  const auto mean = [&](const auto& of) -> std::optional<double> {
    double sum = 0;
    for (const Measurement* m : rows) {
      const std::optional<double> value = of(*m);
      if (!value) return std::nullopt;
      sum += *value;
    }
    return rows.empty() ? std::nullopt : std::optional(sum / static_cast<double>(rows.size()));
  };
  const auto time = mean([](const Measurement& m) { return std::optional(to_seconds(m.time)); });
  process.alone = from_seconds(time.value_or(0));
  process.gpu_active = mean([](const Measurement& m) { return m.activity.gpu_util; });
  if (process.gpu_active) {
    process.sm_active = mean([](const Measurement& m) { return m.activity.sm_active; });
  }
  return process;
}

namespace {

// Of measurements that predictions miss by more nothing is learnt.
constexpr double kUsersBound = 100;
// About what published rows of equal processes are off by.
constexpr double kUsersTarget = 10;

bool knows_shares(const MeasuredProcess& process) { return process.gpu_active.has_value(); }

MeasurementSource source_of(const std::vector<Measurement>& measurements, const std::string& gpu,
                            bool in_turns, const std::string& file) {
  MeasurementSource source;
  source.title = file.substr(file.rfind('/') + 1);
  source.url = file;
  source.read = "the file given";
  source.gpu = gpu;
  for (const Measurement& m : measurements) {
    const bool turns = m.sharing == MeasuredSharing::TimeSlicing && m.clients > 1;
    if (m.gpu != gpu || m.served || !m.beside.empty() || (turns && !in_turns) ||
        m.requests_per_second > 0) {
      continue;
    }
    // Of whom more is known than that, more is asked: study_of_means().
    const bool is_whole = m.slice == "full" && m.active_threads >= 1;
    if (in_turns && is_whole &&
        knows_shares(process_alone(measurements, gpu, m.workload, m.batch))) {
      continue;
    }
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

bool shares_a_whole_gpu(const Measurement& m, const std::string& gpu) {
  return m.gpu == gpu && m.sharing != MeasuredSharing::Alone && m.slice == "full" &&
         m.active_threads >= 1 && (m.clients > 1 || !m.beside.empty());
}

// The row of `m.beside` beside `m.workload`; nullptr where there is none.
const Measurement* other_side(const std::vector<Measurement>& measurements, const Measurement& m) {
  return find_if_or_null(measurements, [&](const Measurement& other) {
    return shares_a_whole_gpu(other, m.gpu) && other.requests_per_second <= 0 &&
           are_a_pair(m, other);
  });
}

}  // namespace

std::vector<MeasuredCompany> companies_of(const std::vector<Measurement>& measurements,
                                          const std::string& gpu) {
  std::vector<MeasuredCompany> out;
  for (const Measurement& m : measurements) {
    if (!shares_a_whole_gpu(m, gpu) || m.requests_per_second > 0) continue;
    MeasuredProcess first = process_alone(measurements, gpu, m.workload, m.batch);
    first.time = m.time;
    MeasuredCompany company;
    company.in_turns = m.sharing == MeasuredSharing::TimeSlicing;
    if (m.beside.empty()) {
      company.processes.assign(static_cast<std::size_t>(m.clients), first);
    } else {
      const Measurement* other = other_side(measurements, m);
      if (other == nullptr || other < &m) continue;  // a pair counts once
      MeasuredProcess second = process_alone(measurements, gpu, other->workload, other->batch);
      second.time = other->time;
      company.processes = {first, second};
    }
    const bool known = std::ranges::all_of(
        company.processes, [](const MeasuredProcess& process) { return process.alone.ns > 0; });
    company.evidence = std::ranges::all_of(company.processes, knows_shares) ? Evidence::Utilisation
                                                                            : Evidence::TimeAlone;
    // Of copies whose time alone is all that is known the other studies are.
    if (known && (company.evidence == Evidence::Utilisation || !m.beside.empty())) {
      out.push_back(std::move(company));
    }
  }
  return out;
}

namespace {

// Whose requests are looked at: one study for each way of sharing and what is known of them.
template <typename Describe>
void add_company_studies(const std::vector<MeasuredCompany>& all, const MeasurementSource& origin,
                         const std::string& suffix, const Describe& describe, ValidationSet& set) {
  for (const Evidence evidence : {Evidence::Utilisation, Evidence::TimeAlone}) {
    for (const bool in_turns : {true, false}) {
      MeasurementSource source = origin;
      std::ranges::copy_if(all, std::back_inserter(source.companies),
                           [&](const MeasuredCompany& company) {
                             return company.in_turns == in_turns && company.evidence == evidence;
                           });
      if (source.companies.empty()) continue;
      Study study =
          describe(evidence == Evidence::Utilisation, in_turns ? "in turns" : "under MPS");
      study.id += (in_turns ? "" : "-mps") + suffix;
      study.mode = in_turns ? "time-slicing" : "MPS";
      study.evidence = evidence;
      add_to(set, std::move(source), std::move(study));
    }
  }
}

// Requests of copies and pairs, from the time alone, with its shares where they are known.
Study study_of_means(bool shares, std::string_view way) {
  Study study;
  study.id = shares ? "measurements-requests" : "measurements-pairs";
  study.engine = StudyEngine::Requests;
  study.title = fmt::format("your measurements {}, from the time alone{}", way,
                            shares ? " and DCGM's shares" : ": beside others");
  study.split = "the time alone, its shares and lengths of kernels are given; all others check";
  study.parameters = shares
                         ? "none fitted: each process sends a request when the last is answered"
                         : "none fitted: processes that never idle and can use the whole GPU, as "
                           "gpu_util_percent of both is not given";
  return study;
}

Study study_of_tails(bool shares, std::string_view way) {
  Study study;
  study.id = shares ? "measurements-p99" : "measurements-p99-times";
  study.engine = StudyEngine::Arrivals;
  study.title = fmt::format("p99 of your requests {}, from the time alone{}", way,
                            shares ? " and DCGM's shares" : "");
  study.split = "the time alone, its scatter, shares and lengths of kernels are given";
  study.parameters = "none fitted: requests come at random, at the rate given";
  return study;
}

// Requests at random to copies, or to one beside a process that keeps the GPU busy.
MeasuredCompany company_with_arrivals(const std::vector<Measurement>& measurements,
                                      const Measurement& m) {
  MeasuredCompany company;
  company.in_turns = m.sharing == MeasuredSharing::TimeSlicing;
  MeasuredProcess asked = process_alone(measurements, m.gpu, m.workload, m.batch);
  asked.requests_per_second = m.requests_per_second;
  asked.p99 = m.p99;
  const Measurement* alone = find_if_or_null(measurements, [&](const Measurement& other) {
    return other.time_sigma && other.gpu == m.gpu && other.workload == m.workload &&
           other.batch == m.batch;
  });
  if (alone != nullptr) asked.time_sigma = *alone->time_sigma;
  company.processes.assign(static_cast<std::size_t>(m.clients), asked);
  if (!m.beside.empty()) {
    company.processes.push_back(
        process_alone(measurements, m.gpu, m.beside, m.beside_batch.value_or(1)));
  }
  company.evidence = std::ranges::all_of(company.processes, knows_shares) ? Evidence::Utilisation
                                                                          : Evidence::TimeAlone;
  return company;
}

bool were_all_alone(const MeasuredCompany& company) {
  return std::ranges::all_of(company.processes,
                             [](const MeasuredProcess& process) { return process.alone.ns > 0; });
}

std::vector<MeasuredCompany> companies_with_arrivals(const std::vector<Measurement>& measurements,
                                                     const std::string& gpu) {
  std::vector<MeasuredCompany> all;
  for (const Measurement& m : measurements) {
    if (!shares_a_whole_gpu(m, gpu) || m.requests_per_second <= 0) continue;
    MeasuredCompany company = company_with_arrivals(measurements, m);
    if (were_all_alone(company)) all.push_back(std::move(company));
  }
  return all;
}

// Why no study has it; "" where one has.
std::string why_left_out(const std::vector<Measurement>& measurements, const Measurement& m) {
  if (m.served) return "a benchmark of a language model: slicewise calibrate checks its step";
  if (m.requests_per_second > 0) {
    if (!shares_a_whole_gpu(m, m.gpu)) return "p99 is held against the models on whole GPUs only";
    if (were_all_alone(company_with_arrivals(measurements, m))) return {};
    return "not all of them were measured alone on the whole GPU";
  }
  if (m.beside.empty()) return {};
  const Measurement* other = other_side(measurements, m);
  if (other == nullptr) {
    return fmt::format("no row has {} beside {}: a pair has one for each of the two", m.beside,
                       m.workload);
  }
  for (const Measurement* one : {&m, other}) {
    if (process_alone(measurements, m.gpu, one->workload, one->batch).alone.ns > 0) continue;
    return fmt::format("{} with batch {} was not measured alone on the whole GPU", one->workload,
                       one->batch);
  }
  return {};
}

Diagnostics notes_of_left_out(const std::vector<Measurement>& measurements) {
  Diagnostics notes;
  for (const Measurement& m : measurements) {
    const std::string why = why_left_out(measurements, m);
    if (why.empty()) continue;
    add_note(notes, Code::InputMissing, m.where,
             fmt::format("nothing is held against {} {}", m.workload, setting_of(m)), why);
  }
  return notes;
}

}  // namespace

Diagnostics add_studies(const std::vector<Measurement>& measurements, const std::string& file,
                        ValidationSet& set) {
  std::vector<std::string> gpus;
  for (const Measurement& m : measurements) {
    if (!contains(gpus, m.gpu)) gpus.push_back(m.gpu);
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
                                 kDefaultNorm, kDefaultBandwidthShare);
    law.norms = {kDefaultNorm};
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
    const MeasurementSource origin = source_of({}, gpu, false, file);
    add_company_studies(companies_of(measurements, gpu), origin, suffix, study_of_means, set);
    add_company_studies(companies_with_arrivals(measurements, gpu), origin, suffix, study_of_tails,
                        set);
  }
  Diagnostics notes = notes_of_left_out(measurements);
  note_unused_quantiles(measurements, notes);
  return notes;
}

void note_unused_quantiles(const std::vector<Measurement>& measurements, Diagnostics& notes) {
  const auto first = std::ranges::find_if(measurements, &Measurement::has_unused_quantiles);
  if (first == measurements.end()) return;
  add_note(notes, Code::InputMissing, first->where,
           "nothing is made of the quantiles of rows that share a GPU",
           "what tails are predicted from: the time alone and its quantiles, and kernel_us of all "
           "that share; `validate --measurements` holds p99_ms of requests that come at random "
           "against the models, where requests_per_s says how many");
}

}  // namespace slicewise::models
