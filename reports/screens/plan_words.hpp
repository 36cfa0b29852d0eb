#pragma once

#include <string>
#include <vector>

#include "slicewise/sim/plan.hpp"

#include "../text/text_table.hpp"

// What a plan says in words: on its screen, its page and in its documents.
namespace slicewise::reports {

// "2 x g4dn.xlarge, MPS x4 (asr)", one for each pool; of one pool without names.
std::vector<std::string> pool_texts(const std::vector<sim::PoolChoice>& pools);
// The same on one line, with " + " between them.
std::string pools_text(const std::vector<sim::PoolChoice>& pools);
// Of a flip or the headroom, to three digits.
std::string factor_words(double factor);
// "Recommended: ...", why, risk, what flips it; where nothing stands, what is nearest.
std::vector<std::string> plan_answer(const sim::Plan& plan, const TextStyle& style);
// How many pods per GPU the recommendation has, and how that goes with where the cost stops
// falling; "" without a curve.
std::string replicas_sentence(const sim::Plan& plan);
// "pods on one GPU share GPU memory, fatal faults"; "" when they share nothing that matters.
std::string isolation_risk(const sim::PlanOption& option);
// How the answer was found and what it rests on.
std::vector<std::string> plan_notes(const sim::Plan& plan);

}  // namespace slicewise::reports
