#pragma once

#include <string>
#include <vector>

#include "slicewise/models/sourced.hpp"

namespace slicewise::models {

// How the GPUs of one node reach each other: a graph of GPUs whose edges are NVLinks, and PCIe
// through the host where there is none.
struct Interconnect {
  std::string name;       // InstanceType::interconnect
  bool switched = false;  // NVSwitch: any two GPUs reach each other over all their links
  // NVLinks between GPU i and GPU j, symmetric; empty when switched or without NVLink.
  std::vector<std::vector<int>> nvlinks;
  // What a ring of copies gets over PCIe, in each direction at once; 0 where NVLink joins all.
  double pcie_gbytes_per_second = 0;
  bool pcie_assumed = false;  // nobody published a measurement on these instances
  Source source;
};

}  // namespace slicewise::models
