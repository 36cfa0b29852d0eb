#include "result_notes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "../text/text_table.hpp"
#include "embedded/screen_files.hpp"
#include "result_figures.hpp"
#include "screen.hpp"

namespace slicewise::reports {
namespace {

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
}

// "unitTime, gpuBusy, ..." of "cifar10: unitTime", "cifar10: gpuBusy" and so on.
std::string field_names(const std::vector<sim::AssumedInput>& inputs) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> names;
  for (const sim::AssumedInput& input : inputs) add_once(names, std::string(input.name()));
  const bool more = names.size() > kMostNamed;
  if (more) names.resize(kMostNamed);
  return joined(names) + (more ? ", ..." : "");
}

// The variants of a scenario mostly share their inputs; each is named once.
std::string assumed_line(std::span<const sim::VariantResult> variants, bool full) {
  const std::vector<sim::AssumedInput> inputs = assumed_inputs(variants);
  if (inputs.empty()) {
    int counted = 0;
    for (const auto& variant : variants) counted = std::max(counted, variant.provenance.assumed);
    return counted == 0 ? "" : fmt::format("{} inputs Assumed: nobody measured them", counted);
  }
  const bool one = inputs.size() == 1;
  if (!full) {
    return fmt::format("{} {} Assumed (-o wide lists {}): {}", inputs.size(),
                       one ? "input" : "inputs", one ? "it" : "them", field_names(inputs));
  }
  return fmt::format("{} {} Assumed: nobody measured {}: {}", inputs.size(),
                     one ? "input" : "inputs", one ? "it" : "them",
                     joined(std::vector<std::string>(inputs.begin(), inputs.end())));
}

std::string prices_text(const sim::Stamp& stamp, const Signs& s, std::size_t hash_shown) {
  if (stamp.price_file.empty()) return "prices " + stamp.price_date;
  return fmt::format("prices {} ({}, {}{})", stamp.price_file, stamp.price_date,
                     stamp.price_file_sha256.substr(0, hash_shown), s.ellipsis);
}

}  // namespace

std::vector<NotModelled> not_modelled() {
  std::vector<NotModelled> items;
  for (std::string_view rest = screen_files::not_modelled_txt(); !rest.empty();) {
    const std::string_view what = next_line(rest);
    items.push_back({what, next_line(rest)});
  }
  return items;
}

namespace {

// Of recorded jobs that did not run, or ran otherwise, by reason.
void add_apart_lines(const sim::VariantResult& variant, std::vector<std::string>& lines) {
  for (const sim::WorkloadResult& w : variant.workloads) {
    if (!w.recorded || w.recorded->apart.empty()) continue;
    std::string text;
    for (const scenarios::ApartJobs& jobs : w.recorded->apart) {
      text += fmt::format("{} {} {} (first: {})", text.empty() ? "" : ",", jobs.jobs,
                          apart_text(jobs.why), jobs.first.text());
    }
    add_once(lines, fmt::format("jobs of the trace of \"{}\" that do not run as recorded:{}",
                                w.name, text));
  }
}

}  // namespace

std::vector<sim::AssumedInput> assumed_inputs(std::span<const sim::VariantResult> variants) {
  std::vector<sim::AssumedInput> all;
  for (const sim::VariantResult& variant : variants) {
    for (const sim::AssumedInput& input : variant.provenance.assumed_inputs) {
      if (std::ranges::find(all, input) == all.end()) all.push_back(input);
    }
  }
  return all;
}

std::string price_note(bool per_job, bool per_1k_requests) {
  if (!per_job && !per_1k_requests) return "";
  return fmt::format(
      "{}{}{}: of the hours of nodes alone, idle time included; not EKS's fee, storage or traffic "
      "(slicewise explain cost)",
      per_job ? price_column("perJobUsd").header : "", per_job && per_1k_requests ? ", " : "",
      per_1k_requests ? request_price_heading() : "");
}

std::string price_note(std::span<const sim::VariantResult> variants) {
  const auto any = [&](std::optional<Usd> sim::Cost::*price) {
    return std::ranges::any_of(variants,
                               [&](const auto& v) { return (v.cost.*price).has_value(); });
  };
  return price_note(any(&sim::Cost::per_job), any(&sim::Cost::per_1k_requests_in_slo));
}

std::string expectation_text(const models::ExpectedError& error) {
  const auto figures = [](const models::ExpectedError& known) {
    return fmt::format(
        "{}, half of {} published rows were within {:.2g} %, nine of ten within {:.2g} %",
        models::evidence_words(known.evidence), known.rows, known.median_percent,
        known.ninth_decile_percent);
  };
  const std::string of = error.mode + (error.unlike ? " beside other workloads" : "");
  if (error.rows > 0) return fmt::format("{}: {}", of, figures(error));
  std::string out = fmt::format("{}: {}, nobody published how far off it is", of,
                                models::evidence_words(error.evidence));
  for (const models::ExpectedError& known : models::published_errors()) {
    if (known.mode == error.mode && known.unlike == error.unlike)
      return out + "; " + figures(known);
  }
  return out;
}

std::string gain_text(const sim::UnsureGain& gain) {
  return fmt::format(
      "{}: may be gain or loss: together {:.1f} % {} is done than one after the other, and half of "
      "such answers are off by {:.2g} %",
      gain.mode, 100 * std::abs(gain.gain), gain.gain < 0 ? "less" : "more", gain.median_percent);
}

std::string studied(const sim::Stamp& stamp) {
  if (stamp.variants <= 1) return stamp.scenario;
  return fmt::format("{}, variant {} (of {}, see --variant)", stamp.scenario, stamp.variant,
                     stamp.variants);
}

std::string finding_text(const Diagnostic& finding) {
  return fmt::format("{}: {}", info(finding.code).name, finding.message);
}

std::vector<std::string> note_lines(std::span<const sim::VariantResult> variants, bool full) {
  std::vector<std::string> lines;
  for (const sim::VariantResult& variant : variants) {
    for (const Diagnostic& d : variant.findings) {
      if (d.severity != Severity::Note) continue;
      add_once(lines, finding_text(d));
    }
    add_apart_lines(variant, lines);
    const auto waited_again = [](const sim::WorkloadResult& w) {
      return w.quota && w.quota->wait && w.wait && w.quota->wait->mean > w.wait->mean;
    };
    if (std::ranges::any_of(variant.workloads, waited_again)) {
      add_once(
          lines,
          "WAIT MEAN ends when a job first starts; FOR QUOTA has the time, too, in which those "
          "that were stopped waited to be admitted again");
    }
  }
  if (std::string assumed = assumed_line(variants, full); !assumed.empty()) {
    lines.push_back(std::move(assumed));
  }
  for (const sim::VariantResult& variant : variants) {
    for (const models::ExpectedError& error : variant.expected_errors) {
      add_once(lines, "error to expect of " + expectation_text(error));
    }
    for (const sim::UnsureGain& gain : variant.unsure_gains) add_once(lines, gain_text(gain));
  }
  lines.emplace_back("not modelled: slicewise explain not-modelled");
  return lines;
}

namespace {

// "after 12 d 4 h of its first run, 5000 of 20000 recorded jobs done".
std::string stopped_text(const sim::VariantResult& variant) {
  std::int64_t jobs = 0;
  double done = 0;
  for (const sim::WorkloadResult& w : variant.workloads) {
    if (!w.recorded) continue;
    jobs += w.recorded->all.jobs;
    done += w.recorded->all.finished;
  }
  return fmt::format("after {} of its first run, {:.0f} of {} recorded jobs done",
                     duration_text(*variant.stopped_at), done, jobs);
}

}  // namespace

std::string interrupted_line(const sim::Result& result) {
  if (!result.interrupted) return "";
  if (result.variants.empty()) {
    return fmt::format("INTERRUPTED: 0 of {} runs done", result.stamp.replications);
  }
  const bool one = result.variants.size() == 1;
  std::string done;
  for (const sim::VariantResult& v : result.variants) {
    add_name(done, one ? "" : v.name + " ");
    done += v.stopped_at ? stopped_text(v)
                         : fmt::format("{} of {} runs done", v.replications, v.replications_asked);
  }
  return "INTERRUPTED: " + done + (one ? "" : "; a variant without a finished run is left out");
}

namespace {

// "5", "5 to 20".
template <class Number>
std::string range_text(const std::vector<Number>& numbers) {
  const auto [least, most] = std::ranges::minmax(numbers);
  return least < most ? fmt::format("{} to {}", least, most) : fmt::format("{}", most);
}

std::string origin_line(const sim::Stamp& stamp, const std::string& seeds, const std::string& runs,
                        bool intervals, const TextStyle& style) {
  constexpr std::size_t kHashShown = 8;
  const Signs& s = signs(style);
  std::vector<std::string> parts = {
      fmt::format("seed{} {}", seeds.find(' ') == std::string::npos ? "" : "s", seeds),
      fmt::format("{} run{}", runs, runs == "1" ? "" : "s"),
      intervals ? "95% intervals" : "no intervals"};
  if (!stamp.price_date.empty()) parts.push_back(prices_text(stamp, s, kHashShown));
  if (!stamp.scenario_sha256.empty()) {
    parts.push_back(
        fmt::format("scenario {}{}", stamp.scenario_sha256.substr(0, kHashShown), s.ellipsis));
  }
  parts.push_back("slicewise v" + stamp.version);
  return fmt::format("{}", fmt::join(parts, s.dot));
}

}  // namespace

std::string seeds_text(const sim::Result& result) {
  std::vector<std::uint64_t> seeds;
  for (const sim::VariantResult& v : result.variants) seeds.push_back(v.seed);
  return range_text(seeds.empty() ? std::vector{result.stamp.seed} : seeds);
}

std::string replications_text(const sim::Result& result) {
  std::vector<int> asked;
  for (const sim::VariantResult& v : result.variants) asked.push_back(v.replications_asked);
  return range_text(asked.empty() ? std::vector{result.stamp.replications} : asked);
}

std::string origin_line(const sim::Stamp& stamp, const std::vector<int>& runs, bool intervals,
                        const TextStyle& style) {
  return origin_line(stamp, std::to_string(stamp.seed),
                     range_text(runs.empty() ? std::vector{stamp.replications} : runs), intervals,
                     style);
}

std::string origin_line(const sim::Result& result, const TextStyle& style) {
  const bool intervals =
      !result.variants.empty() &&
      std::ranges::all_of(
          result.variants, [](int n) { return n > 1; }, &sim::VariantResult::replications);
  return origin_line(result.stamp, seeds_text(result), replications_text(result), intervals, style);
}

}  // namespace slicewise::reports
