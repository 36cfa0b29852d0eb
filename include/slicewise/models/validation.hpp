#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/evidence.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/units.hpp"

// Published measurements that the models are held against, and how: which rows a parameter may be
// fitted on, which rows check the prediction, and how large the error may be. The split is declared
// in the data (models/validation/studies.json), by a rule per study, never row by row.
namespace slicewise::models {

// The time of one step of one process; for a rate, the time per item.
struct MeasuredRow {
  std::string workload;
  std::string size;           // batch size, sequence length: "b8", "b1 s32", "-"
  std::string slice;          // MIG profile name, or "full"
  double active_threads = 1;  // share of the SMs that a process may use, (0, 1]
  int clients = 1;            // equal processes in the slice, this one included
  Duration time;
};

// Two processes on one GPU: the speed of each beside the other, alone = 1.
struct MeasuredPair {
  std::string first;
  std::string second;
  double first_speed = 1;
  double second_speed = 1;
  // GPU utilisation alone, as nvidia-smi prints it, in [0, 1].
  std::optional<double> first_utilisation;
  std::optional<double> second_utilisation;
};

// One of the processes on a GPU. It answers one request at a time.
struct MeasuredProcess {
  std::string workload;
  Duration alone;                    // a request with the GPU for itself
  std::optional<double> gpu_active;  // of that, share in which kernels run; absent: all
  std::optional<double> sm_active;   // SMs with work in that time, mean over SMs
  Duration kernel_time{};            // mean length of its kernels; 0 unknown
  Duration time;                     // a request beside the others
  // When requests come, from when the company begins; empty: each as soon as the last is answered,
  // or, where there are any in a second, at random.
  std::vector<Duration> due = {};
  double requests_per_second = 0;
  double time_sigma = 0;  // of the logarithm of `alone` from request to request
  Duration p99 = {};      // of those that came so, from when they were due until they were answered
};

struct MeasuredCompany {
  bool in_turns = false;                      // else under MPS, without limits
  Evidence evidence = Evidence::Utilisation;  // TimeAlone: the shares of some are not known
  std::vector<MeasuredProcess> processes;
  Duration length = {};  // of the measurement, where requests come by themselves
};

struct MeasurementSource {
  std::string id;
  std::string title;
  std::string url;  // or repository@commit:path
  std::string licence;
  std::string date;  // when it was read
  std::string read;  // how, and what was left out
  std::string gpu;   // a GpuModel::name of the catalogue or of ValidationSet::gpus; "" unknown
  std::string note;
  std::string alone;  // the source that measured its workloads otherwise; "": it did so itself
  std::vector<MeasuredRow> rows;
  std::vector<MeasuredPair> pairs;
  std::vector<MeasuredCompany> companies;
};

// Rows of a source. What is empty matches everything.
struct RowFilter {
  std::vector<std::string> workloads;
  std::vector<std::string> sizes;
  std::vector<std::string> slices;  // "smallest": the smallest of the workload and size
  std::vector<double> threads;      // percent
  std::vector<int> clients;
};

// How a study predicts.
enum class StudyEngine : std::uint8_t {
  Law,                   // laws E1 and E2, parameters by calibrate()
  Turns,                 // the round-robin engine, processes that never idle
  Bursts,                // the closed network of jobs with serial host phases, duty given
  Pairs,                 // overlapped_slowdown(), duty per job from pairs of equal jobs
  PairsBesideOne,        // the same, and how much of its turns a job uses, from pairs with one job
  CalibratedPairs,       // law E2 with sensitivity and pressure by calibrate_pairs()
  PairsFromUtilisation,  // overlapped_slowdown(), duty from utilisation
  PairsRefitted,         // the same, its two constants fitted on every other row
  PairsSerial,           // the closed network, duty from utilisation
  Requests,              // the engines that requests run on, from the time alone and its activity
  Arrivals,              // the same of requests that come at random; from pairs: by fit_profiles()
};

struct Study {
  std::string id;
  std::string source;                       // MeasurementSource::id
  std::string mode;                         // "MIG", "MPS", "MIG+MPS", "time-slicing"
  Evidence evidence = Evidence::TimeAlone;  // that its predictions start from
  StudyEngine engine = StudyEngine::Law;
  std::string title;
  std::string split;       // the rule, for people
  std::string parameters;  // which ones are fitted and which are defaults
  RowFilter rows;          // that the study looks at
  RowFilter fit;  // of those; all others check. Of pairs: those of equals, and with the job
  std::vector<double> norms;
  std::optional<double> bandwidth_share;  // nullopt: fitted
  std::optional<double> capacity_share;   // given instead of fitted
  bool one_fixed_part = false;            // CalibrationOptions
  bool own_norm = false;                  // every size has its own p and beta
  double cold_cache = 1;                  // kappa of switch_cost()
  std::map<std::string, double> duty;     // by workload
  std::optional<double> target_percent;   // mean error that was aimed at
  double bound_percent = 0;               // mean error on the check rows that must not be exceeded
};

struct ValidationSet {
  std::vector<MeasurementSource> sources;
  std::vector<GpuModel> gpus;  // GPUs of measurements that EC2 does not offer
  std::vector<Study> studies;
};

// The source of the pairs that a user brings: its studies are in every set, its rows are not.
inline constexpr std::string_view kUserPairs = "pairs";

// The GPU of the published file that read_pairs() reads.
inline constexpr std::string_view kLucidGpu = "RTX-3090";

// Parses what ships with the program; a defect in it is a bug: throws std::runtime_error.
ValidationSet load_validation_set();

// A CSV file of pairs in the columns of Lucid's colocate_info: model1, model2, ratio1, ratio2,
// iso_gpu_util1, iso_gpu_util2 (percent) are needed; dataset, batch, amp of each name the job;
// sum_ratio, co_gpu_util, co_gmem_util, co_gmem_mb, iso_gmem_util1, iso_gmem_util2 and flag are not
// used. All other columns, missing ones, rows of another length and figures that are not positive
// numbers are errors with line and column.
// `gpu`: a GpuModel::name of the catalogue or of ValidationSet::gpus.
Expected<MeasurementSource> read_pairs(const SourceText& file, std::string_view gpu = kLucidGpu);

}  // namespace slicewise::models
