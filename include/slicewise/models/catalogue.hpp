#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"
#include "slicewise/models/hardware.hpp"
#include "slicewise/models/llm_step.hpp"
#include "slicewise/models/mig.hpp"
#include "slicewise/models/price_book.hpp"
#include "slicewise/models/uncertainty.hpp"
#include "slicewise/units.hpp"

namespace slicewise::models {

// A published workload: how long one step takes alone on a whole GPU, and how it uses the GPU.
// Law: T(f, n) = || T0, n W ((1 - beta)/f_c + beta/f_m) ||_p.
struct WorkloadProfile {
  std::string name;       // stable id for scenario files: "resnet-50-inference/a100-80gb/b8"
  std::string title;      // "ResNet-50 inference"
  std::string kind;       // "inference", "train", "interactive"
  std::string gpu_model;  // GpuModel::name, or the published name when EC2 has no such GPU
  std::optional<int> batch;
  std::string precision;
  std::optional<double> items_per_step;         // requests, samples or tokens per step
  std::optional<double> throughput_per_second;  // of items, alone on the whole GPU
  std::optional<Duration> solo_step;            // T1
  std::optional<double> time_sigma;  // of the logarithm of T1 from step to step; absent: alike
  std::string solo_slice;  // "7g": T1 was measured on the largest MIG instance, "" = without MIG
  std::optional<Duration> fixed_part;  // T0: does not speed up with GPU size
  std::optional<Duration> gpu_work;    // W: whole-GPU time
  std::optional<double> norm_p;
  std::optional<double> capacity_share;   // u = W/T1
  std::optional<double> bandwidth_share;  // beta
  // Calibrated beside others under MPS: slowdown_i = 1 + sensitivity_i * sum of pressure_j.
  std::optional<double> sensitivity;       // alpha
  std::optional<double> pressure;          // c
  std::optional<double> duty;              // d: share of wall time the GPU is busy when alone
  std::optional<double> request_duty;      // d where its host work is before and after, not beside
  std::optional<double> turn_use;          // w: part of a turn that it uses before it is idle
  std::optional<Duration> kernel_time;     // K: mean length of its kernels
  std::optional<Duration> extra_per_item;  // GPU time of one more batch beside it in one go
  std::optional<Duration> host_time;       // CPU time of the host for a step, beside T1
  std::optional<Bytes> memory;
  std::optional<Duration> burst;  // interactive use: busy for this long,
  std::optional<Duration> idle;   // then idle for this long
  std::string source;
  std::string date;  // when the source was read
  std::map<std::string, std::string>
      provenance;  // figure -> "measured", "fitted over ...", "estimate"
  std::vector<FigureUncertainty> uncertainty;
  std::string note;
  bool is_users = false;  // of a file that was laid over the catalogue
  std::string unusable;   // why no scenario can run it, half a sentence; "" when one can
};

// A spot or commitment figure that is not a plain list price.
struct SpotMarket {
  std::string instance;
  std::string region;
  std::optional<int> savings_percent;  // Spot Advisor, against on-demand
  std::string interruption_bucket;     // monthly reclaim frequency: "<5%", ..., ">20%"; "" unknown
  std::optional<UsdPerHour> median;    // over availability zones with a real market
  int zones = 0;                       // behind the median
  std::string advisor_date;            // "" without Spot Advisor figures
  std::string median_date;             // "" without a median
};

struct Commitment {
  std::string instance;
  std::string kind;           // "Standard RI 1 year all upfront", "Capacity Block"
  std::string region;         // or "most regions"
  std::optional<int> months;  // of the term; nullopt: none of months
  bool by_month = false;      // paid in equal parts, month by month; else at once
  std::optional<double> discount_percent;
  std::optional<UsdPerHour> usd;
  std::string valid;  // when the figure held
  std::string note;
  Source source;
};

// A user's file that was laid over the catalogue.
struct CatalogueLayer {
  std::string file;    // as given
  std::string sha256;  // of its bytes, in hexadecimal; who reads files knows it
};

// Everything that is true before a run starts: read once from the data embedded in the binary,
// and from files of the user; immutable afterwards. Lists keep the order of the catalogue files
// (family, then size).
struct Catalogue {
  std::vector<GpuModel> gpus;
  std::vector<InstanceType> instances;
  std::vector<Interconnect> interconnects;
  std::vector<MigGeometry> mig;
  std::vector<WorkloadProfile> profiles;
  std::vector<SpotMarket> spot;
  std::vector<Commitment> commitments;
  PriceBook prices;
  std::vector<LlmModel> llm_models;
  std::vector<CatalogueLayer> layers;  // the last one wins

  // nullptr when unknown. GPU models are found by name, alias or product, as a catalogue,
  // nvidia-smi or GPU feature discovery writes them: gpu_names.hpp.
  const GpuModel* find_gpu(std::string_view name) const;
  // What the name of a GPU that is unknown may mean: the models that begin with it ("A100"), else
  // those that hold it ("80GB"), else the name or alias that is nearest by its letters, else
  // variants of the same model ("A100 80GB PCIe").
  std::vector<std::string> gpus_like(std::string_view unknown) const;
  const InstanceType* find_instance(std::string_view name) const;
  const Interconnect* find_interconnect(std::string_view name) const;
  const MigGeometry* find_mig(std::string_view gpu_model) const;
  const WorkloadProfile* find_profile(std::string_view name) const;
  const LlmModel* find_llm_model(std::string_view name) const;
};

// The profile as the whole GPU without MIG runs it: figures that were measured on the largest MIG
// instance, which has 98 of an A100's 108 SMs, are carried over by law E1. Others stay as they are.
WorkloadProfile on_whole_gpu(WorkloadProfile profile, const Catalogue& catalogue);

// Parses the embedded catalogue. The data ships with the program, so a defect in it is a bug:
// throws std::runtime_error that names file and field.
Catalogue load_catalogue();

// The catalogue with a file of the user laid over it (YAML or JSON, catalogue_schema_json()): what
// has the name of something known takes its place, the rest is added. What comes without a source
// has "User: FILE". Mistakes are diagnostics with file:line:col, all of them at once.
Expected<Catalogue> with_layer(Catalogue catalogue, const SourceText& file);

// The JSON Schema of such a file.
std::string catalogue_schema_json();

}  // namespace slicewise::models
