#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker.hpp"

// The command line of the probe.
namespace slicewise::gpu_probe {

struct Options {
  Machine machine;
  std::string out;            // "": standard output
  std::optional<Task> child;  // this process is one of those that are measured
  bool help = false;
};

// Throws std::invalid_argument with what to say to the user.
Options options_of(const std::vector<std::string>& arguments);

std::string help_text();

}  // namespace slicewise::gpu_probe
