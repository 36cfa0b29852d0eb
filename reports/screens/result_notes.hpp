#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/reports/diagnostics_text.hpp"
#include "slicewise/sim/result.hpp"

// What a reader needs to judge a result, below every report.
namespace slicewise::reports {

// What the simulator leaves out, each with its consequence, of not_modelled.txt: `explain
// not-modelled` prints both.
struct NotModelled {
  std::string_view what;
  std::string_view consequence;
};
std::vector<NotModelled> not_modelled();

// One sentence each: notes found by the run, assumed inputs, where it stands what is not modelled.
// Unless `full`, of assumed inputs only how many there are and where the list stands.
std::vector<std::string> note_lines(std::span<const sim::VariantResult> variants, bool full);

// What a study is about: "aws-cifar10, variant before (of 4, see --variant)".
std::string studied(const sim::Stamp& stamp);

// "CODE: message".
std::string finding_text(const Diagnostic& finding);

// What some variant assumed, each input once.
std::vector<sim::AssumedInput> assumed_inputs(std::span<const sim::VariantResult> variants);

// What a screen's prices per job and per 1,000 requests hold; "" where it shows none.
std::string price_note(bool per_job, bool per_1k_requests);
std::string price_note(std::span<const sim::VariantResult> variants);

// "MPS: from one co-location, half of 392 published rows were within 3.1 %, nine of ten within 11
// %".
std::string expectation_text(const models::ExpectedError& error);
std::string gain_text(const sim::UnsureGain& gain);

// "INTERRUPTED: 3 of 20 runs done", by variant when there are several; "" for a complete result.
std::string interrupted_line(const sim::Result& result);

// "42"; where variants differ "7 to 42".
std::string seeds_text(const sim::Result& result);
std::string replications_text(const sim::Result& result);  // that were asked for

// "seed 42 · 5 runs · 95% intervals · prices 2026-07-20 · scenario 9f3c1e7a… · slicewise v0.1.0"
// `runs`: that each option took, where they took more or fewer than were asked for.
std::string origin_line(const sim::Stamp& stamp, const std::vector<int>& runs, bool intervals,
                        const TextStyle& style);
// The same; with intervals when every variant has at least two runs: a mean without one is nowhere.
std::string origin_line(const sim::Result& result, const TextStyle& style);

}  // namespace slicewise::reports
