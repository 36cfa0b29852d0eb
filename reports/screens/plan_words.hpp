#pragma once

#include <string>
#include <string_view>
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
// What is best, by a plan that recommends nothing and by any other.
std::string merit_words(const sim::Plan& plan, std::string_view otherwise);
// Why it recommends nothing. REQUIRES: it has placeholders.
std::string placeholder_sentence(const sim::Plan& plan);
// How many pods per GPU the recommendation has, and how that goes with where the cost stops
// falling; "" without a curve.
std::string replicas_sentence(const sim::Plan& plan);
// "pods on one GPU share GPU memory, fatal faults"; "" when they share nothing that matters.
std::string isolation_risk(const sim::PlanOption& option);
// How the answer was found and what it rests on.
std::vector<std::string> plan_notes(const sim::Plan& plan);

// At which changes of its inputs the answer is another one: the flips, the measurement that tells
// the most about them, and what the second option bears.
std::vector<std::string> what_it_hangs_on(const sim::Plan& plan);

// Which of NVIDIA's device plugin and DRA driver sets an option up.
// "Set up by: the device plugin; not NVIDIA's DRA driver: ..."; "" where nobody looked.
std::string route_sentence(const sim::PlanOption& option);
// "#2: the device plugin, ...", one for each ranked option.
std::vector<std::string> route_lines(const sim::Plan& plan);

// "Saves $1,920 a month (62%) against the scenario's own pools.", with what a job costs then and
// what work gets slower; "" where there is nothing to compare with,
// and where keep_sentence says it.
std::string saving_sentence(const sim::Plan& plan);

// Services that take longer to answer than they did, the worst first: " 99% of requests are
// answered later, asr in 2.96 s instead of 164 ms: ..."; "" where none does.
std::string slower_answers_sentence(const sim::OptionFigures& then, const sim::OptionFigures& was);

// Jobs that the best option leaves unfinished, and which option gets them done; "" where it leaves
// none. REQUIRES: there is an option.
std::string unfinished_sentence(const sim::Plan& plan);

// "Keep what you have: ..." where Plan::keep_as_is; "" else.
std::string keep_sentence(const sim::Plan& plan);

// Why the best option is not the one that is furthest from its limits, where another of its price
// is; "" else. REQUIRES: there is an option.
std::string for_more_work_sentence(const sim::Plan& plan);

// What a plan says where nothing that was tried stands: why, and what is nearest.
std::vector<std::string> nothing_stands(const sim::Plan& plan, const TextStyle& style);

// What another number of pods would do, and other nodes for some of them.
std::vector<std::string> otherwise_sentences(const sim::Plan& plan);

}  // namespace slicewise::reports
