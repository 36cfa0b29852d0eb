#pragma once

#include <map>
#include <optional>
#include <string>

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
  std::string solo_slice;  // "7g": T1 was measured on the largest MIG instance, "" = without MIG
  std::optional<Duration> fixed_part;  // T0: does not speed up with GPU size
  std::optional<Duration> gpu_work;    // W: whole-GPU time
  std::optional<double> norm_p;
  std::optional<double> capacity_share;   // u = W/T1
  std::optional<double> bandwidth_share;  // beta
  // Calibrated beside others under MPS: slowdown_i = 1 + sensitivity_i * sum of pressure_j.
  std::optional<double> sensitivity;  // alpha
  std::optional<double> pressure;     // c
  std::optional<double> duty;         // d: share of wall time the GPU is busy when alone
  std::optional<Bytes> memory;
  std::optional<Duration> burst;  // interactive use: busy for this long,
  std::optional<Duration> idle;   // then idle for this long
  std::string source;
  std::string date;  // when the source was read
  std::map<std::string, std::string>
      provenance;  // figure -> "measured", "fitted over ...", "estimate"
  std::string note;
  std::string unusable;  // why no scenario can run it, half a sentence; "" when one can
};

}  // namespace slicewise::models
