#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slicewise/sim/result.hpp"

// Nodes in words: how their GPUs are shared, what it costs a client, what pods can ask for, and how
// nodes come and go.
namespace slicewise::reports {

// How its pools share their GPUs, each way once: "MIG + MPS, exclusive".
std::string strategy_text(const sim::VariantResult& variant);

// "MPS x4 on 1 x g5.xlarge (1 x A10G), us-east-1, on-demand, $1.006/h each: each client up to 25%
// of the SMs and 5.6Gi"
std::string pool_sentence(const sim::NodePoolResult& pool);

// "gpu advertises nvidia.com/gpu: 40; turn 1.02 ms, switch 120 us"
std::string advertised_sentence(const sim::NodePoolResult& pool);

bool has_node_dynamics(const sim::VariantResult& variant);

// How the price of a month comes about: "if the nodes keep running".
std::string_view month_words(const sim::VariantResult& variant);

// A sentence for each pool whose nodes come and go, and one for the way of pods that waited for a
// node. Empty where there are none.
std::vector<std::string> node_sentences(const sim::VariantResult& variant);

}  // namespace slicewise::reports
