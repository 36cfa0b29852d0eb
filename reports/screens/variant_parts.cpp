#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/reports/html_report.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result_record.hpp"

#include "../text/amount_text.hpp"
#include "../text/text_table.hpp"
#include "result_comparison.hpp"
#include "result_cost.hpp"
#include "result_figures.hpp"
#include "result_nodes.hpp"
#include "result_placement.hpp"
#include "result_workload_rows.hpp"
#include "sensitivity_screen.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;

// Below the name of the variant.
Sentence below(std::string text) { return {.text = std::move(text), .indent = 2}; }

// One table for each variant, with the columns that any of them has a value for: the same ones, and
// in the same place, whichever variant a reader looks at.
template <class VariantRows>
std::vector<ScreenPart> tables_of(const sim::Result& result, const TextStyle& style, bool every,
                                  const std::vector<Column>& columns, const VariantRows& rows_of) {
  std::vector<Rows> rows;
  for (const VariantResult& v : result.variants) rows.push_back(rows_of(v, style, every));
  std::vector<ScreenPart> out(rows.size(), {.indent = 2, .alike = true});
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool empty = std::ranges::all_of(rows, [&](const Rows& of_variant) {
      return std::ranges::all_of(of_variant, [&](const auto& row) { return row[c].text.empty(); });
    });
    if (empty) continue;
    for (std::size_t v = 0; v < rows.size(); ++v) {
      out[v].table.columns.push_back(columns[c]);
      out[v].table.rows.resize(rows[v].size());
      for (std::size_t r = 0; r < rows[v].size(); ++r) {
        const Cell& cell = rows[v][r][c];
        out[v].table.rows[r].emplace_back(or_none(cell.text, style), cell.emphasis);
      }
    }
  }
  return out;
}

std::string bar(double ratio, const TextStyle& style) {
  constexpr int kCells = 10;
  const int full = std::clamp(static_cast<int>(std::lround(ratio * kCells)), 0, kCells);
  std::string out;
  for (int cell = 0; cell < kCells; ++cell) {
    out += cell < full ? signs(style).full : signs(style).empty;
  }
  return out;
}

std::string memory_use(const GpuRow& gpu) {
  if (gpu.memory_total.count == 0) return memory_text(gpu.memory_peak);
  const double ratio =
      static_cast<double>(gpu.memory_peak.count) / static_cast<double>(gpu.memory_total.count);
  return fmt::format("{} of {} ({})", memory_text(gpu.memory_peak), memory_text(gpu.memory_total),
                     percent_text(ratio));
}

// Of several that are not equally busy: the mean would hide it.
std::string busiest_of(const GpuRow& gpu) {
  const std::string mean = percent_text(gpu.time_busy);
  const std::string highest = percent_text(gpu.busiest.value_or(gpu.time_busy));
  return highest == mean ? "" : highest;
}

// "gpu-1 #0 to #7 (8 alike)" of the first and the last of so many neighbours: what both begin with
// stands once.
std::string alike_label(const std::string& first, const std::string& last, std::size_t count) {
  const auto differs = std::ranges::mismatch(first, last).in2;
  const auto begin = std::find(std::reverse_iterator(differs), last.rend(), ' ').base();
  return fmt::format("{} to {} ({} alike)", first, std::string(begin, last.end()), count);
}

// Neighbours of which every figure is shown alike are one row.
Rows without_repetitions(const Rows& rows) {
  const auto figures = [](const std::vector<Cell>& row) {
    std::vector<std::string> texts;
    for (std::size_t c = 1; c < row.size(); ++c) texts.push_back(row[c].text);
    return texts;
  };
  Rows out;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && figures(rows[end]) == figures(rows[first])) ++end;
    out.push_back(rows[first]);
    if (end > first + 1) {
      Cell& label = out.back().front();
      label.text = alike_label(label.text, rows[end - 1].front().text, end - first);
    }
    first = end;
  }
  return out;
}

Rows gpu_cells(const VariantResult& variant, const TextStyle& style, bool every_gpu) {
  Rows rows;
  for (const GpuRow& gpu : gpu_rows(variant.gpus, every_gpu)) {
    rows.push_back({gpu.label,
                    fmt::format("{} {:>4}", bar(gpu.time_busy, style), percent_text(gpu.time_busy)),
                    busiest_of(gpu), gpu.sm_active ? percent_text(*gpu.sm_active) : "",
                    percent_text(gpu.switching), memory_use(gpu)});
  }
  return without_repetitions(rows);
}

std::string counted_text(double count, std::string_view one, std::string_view several) {
  const std::string number = count_text(count);
  return fmt::format("{} {}", number, number == "1" ? one : several);
}

// Which GPUs the pods with several got: "0-1-2-3 (2 pods, all joined by NVLink)".
std::vector<Sentence> gang_sentences(const VariantResult& variant, bool every) {
  std::vector<Sentence> out;
  const auto add = [&](const std::string& name, const std::optional<sim::GangFigures>& gang) {
    if (!gang || gang->sets.empty()) return;
    const bool any_fewer = std::ranges::any_of(gang->sets, [&](const sim::GpuSetFigures& set) {
      return std::cmp_less(set.gpus.size(), gang->gpus);
    });
    std::string text =
        fmt::format("{}{} GPUs for each pod of {}: ", any_fewer ? "up to " : "", gang->gpus, name);
    std::string_view comma;
    for (const sim::GpuSetFigures& set : gang->sets) {
      text += fmt::format("{}{} of {} ({} {}", comma, fmt::join(set.gpus, "-"), set.pool,
                          count_text(set.pods), set.pods == 1 ? "pod" : "pods");
      if (set.gpus.size() > 1) {
        text += set.all_linked ? ", all joined by NVLink" : ", not all joined by NVLink";
      }
      if (set.all_reduce.ns > 0) text += ", all-reduce " + duration_text(set.all_reduce);
      text += ")";
      comma = ", ";
    }
    if (gang->all_reduce_share > 0) {
      text +=
          fmt::format("; all-reduces take {} of the time", percent_text(gang->all_reduce_share));
    }
    out.push_back(below(text));
  };
  for (const sim::WorkloadResult& workload : variant.workloads) {
    add(workload.name, workload.gang);
    if (!every || !workload.recorded) continue;
    for (const sim::JobClass& c : workload.recorded->classes) add(c.figures.name, c.gang);
  }
  return out;
}

// The map of pods to GPUs, below ten lines unless all of it is wanted.
std::vector<Sentence> seating_sentences(const VariantResult& variant, bool every) {
  constexpr std::size_t kMostLines = 6;
  constexpr int kIndentOfPods = 4;
  const std::vector<Seating> lines = seatings(variant, every);
  if (lines.empty()) return {};
  const std::string heading = seatings_heading(variant) + ": ";
  if (lines.size() == 1) {
    return {below(fmt::format("{}{}: {}", heading, lines.front().gpus, lines.front().pods))};
  }
  std::vector<Sentence> out{below(heading)};
  const std::size_t shown = every ? lines.size() : std::min(lines.size(), kMostLines);
  for (std::size_t l = 0; l < shown; ++l) {
    out.push_back(
        {.text = fmt::format("{}: {}", lines[l].gpus, lines[l].pods), .indent = kIndentOfPods});
  }
  if (shown < lines.size()) {
    out.push_back({.text = fmt::format("and {} more kinds of GPUs (-o wide)", lines.size() - shown),
                   .indent = kIndentOfPods});
  }
  return out;
}

std::string host_cpu_text(const VariantResult& variant) {
  constexpr std::size_t kMostNamed = 8;
  if (variant.nodes.empty()) return "";
  std::string text = "host CPU busy: ";
  if (variant.nodes.size() > kMostNamed) {
    double sum = 0;
    for (const sim::NodeResult& node : variant.nodes) sum += node.cpu_busy_ratio;
    const auto highest = std::ranges::max_element(variant.nodes, [](const auto& a, const auto& b) {
      return a.cpu_busy_ratio < b.cpu_busy_ratio;
    });
    text += fmt::format("{} on average over {} nodes, highest {} with {}",
                        percent_text(sum / static_cast<double>(variant.nodes.size())),
                        variant.nodes.size(), highest->name, percent_text(highest->cpu_busy_ratio));
    return text;
  }
  std::string_view comma;
  for (const sim::NodeResult& node : variant.nodes) {
    text += fmt::format("{}{} {}", comma, node.name, percent_text(node.cpu_busy_ratio));
    comma = ", ";
  }
  return text;
}

// What happened to pods besides their own work; nothing for most runs.
std::vector<Sentence> disruption_sentences(const VariantResult& variant) {
  const sim::PodCounts& pods = variant.pods;
  std::vector<Sentence> out;
  if (pods.evicted > 0) {
    const bool has_slices = std::ranges::any_of(
        variant.gpus, [](const sim::GpuResult& gpu) { return !gpu.partition.empty(); });
    out.push_back(below(fmt::format("{} evicted {}", counted_text(pods.evicted, "pod", "pods"),
                                    has_node_dynamics(variant) ? "from nodes that were drained"
                                    : has_slices               ? "for a change of the MIG layout"
                                                 : "for others before them in the queue")));
  }
  if (pods.faults > 0) {
    out.push_back(
        below(fmt::format("{}, {} of neighbours died with them",
                          counted_text(pods.faults, "fatal GPU fault", "fatal GPU faults"),
                          counted_text(pods.fault_victims, "container", "containers"))));
  }
  if (has_layout_changes(variant.gpus)) {
    out.push_back(below(
        "shares of a layout's instances are of the whole run, also the part in which it was not "
        "in force"));
  }
  return out;
}

std::vector<Sentence> cost_sentences(const VariantResult& variant, const TextStyle& style) {
  std::vector<std::string> prices;
  if (variant.cost.per_job)
    prices.push_back(money_text(*variant.cost.per_job) + " per finished job");
  if (variant.cost.per_1k_requests_in_slo) {
    prices.push_back(fmt::format("{} per {}", money_text(*variant.cost.per_1k_requests_in_slo),
                                 thousand_requests(has_objectives(variant))));
  }
  prices.push_back(
      fmt::format("{} a month {}", money_text(variant.cost.monthly), month_words(variant)));
  if (variant.cost.control_plane_monthly.nano > 0) {
    prices.push_back(money_text(variant.cost.control_plane_monthly) +
                     " a month for EKS's control plane");
  }
  return {below("COST " + cost_equation(variant.cost.ledger)),
          below(fmt::format("{}", fmt::join(prices, signs(style).dot)))};
}

// A warning that quotes the scheduler makes lines of its own needless: it counts what it leaves
// out.
bool quotes_scheduler(const VariantResult& variant) {
  return std::ranges::any_of(variant.findings, [&](const Diagnostic& d) {
    const auto is_quoted = [&d](const std::string& reason) {
      return d.message.find(reason) != std::string::npos;
    };
    return d.code == Code::PodPending &&
           std::ranges::any_of(variant.pods.pending_reasons, is_quoted);
  });
}

Sentence warning_sentence(const Diagnostic& d, const TextStyle& style) {
  const std::string_view mark =
      d.severity == Severity::Error ? signs(style).fail : signs(style).warn;
  Sentence sentence = below(" " + d.message + (d.help.empty() ? "" : "; " + d.help));
  sentence.strong = {fmt::format("{} {}", mark, info(d.code).name), Emphasis::Bad};
  return sentence;
}

// With dozens of workloads the same warning comes dozens of times: the first ones tell.
std::vector<Sentence> warning_sentences(const VariantResult& variant, const TextStyle& style,
                                        bool every) {
  constexpr int kMostAlike = 4;
  std::vector<Sentence> out;
  if (!quotes_scheduler(variant)) {
    for (const std::string& reason : variant.pods.pending_reasons) {
      out.push_back(below("pending: " + reason));
    }
  }
  std::map<Code, int> shown;
  std::map<Code, int> left_out;
  for (const Diagnostic& d : variant.findings) {
    if (d.severity == Severity::Note) continue;
    if (!every && ++shown[d.code] > kMostAlike) {
      ++left_out[d.code];
    } else {
      out.push_back(warning_sentence(d, style));
    }
  }
  for (const auto& [code, count] : left_out) {
    out.push_back(below(fmt::format("and {} more {} (-o wide)", count, info(code).name)));
  }
  return out;
}

std::vector<Column> gpu_columns() {
  const sim::Record& gpu = sim::record_of<sim::GpuResult>();
  return {{"GPU"},
          {"TIME BUSY"},
          {"BUSIEST", true, 3},
          column_of(gpu, "smActiveRatio"),
          column_of(gpu, "contextSwitchRatio"),
          column_of(gpu, "memoryPeakBytes")};
}

std::vector<Sentence> heading_sentences(const VariantResult& variant) {
  std::vector<Sentence> out{{.text = variant.description.empty() ? "" : ": " + variant.description,
                             .strong = {variant.name, Emphasis::Heading}}};
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    out.push_back(below(pool_sentence(pool)));
  }
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    out.push_back(below(advertised_sentence(pool)));
  }
  return out;
}

// Of services and pipelines, or of what ends.
std::int64_t rate_seconds_of(const sim::Result& result, bool requests) {
  std::vector<double> rates;
  for (const VariantResult& variant : result.variants) {
    for (const sim::WorkloadResult& workload : variant.workloads) {
      if (workload.requests.has_value() == requests && !workload.notebooks) {
        rates.push_back(workload.throughput_per_second);
      }
    }
  }
  return rate_seconds(rates);
}

using sim::PolicyResult;
using PolicyVerdict = PolicyResult::Verdict;

Cell verdict_cell(const PolicyResult& policy, const TextStyle& style) {
  switch (policy.verdict) {
    case PolicyVerdict::Pass:
      return {fmt::format("{} holds", signs(style).pass), Emphasis::Good};
    case PolicyVerdict::Fail:
      return {policy.denies() ? fmt::format("{} FAILED", signs(style).fail)
                              : fmt::format("{} fails", signs(style).warn),
              Emphasis::Bad};
    case PolicyVerdict::Unknown:
      break;
  }
  if (policy.denies()) return {fmt::format("{} NOT JUDGED", signs(style).fail), Emphasis::Bad};
  return fmt::format("{} not judged", signs(style).none);
}

std::string seen_cell(const PolicyResult& policy) {
  std::string text;
  for (const PolicyResult::Figure& figure : policy.figures) {
    add_name(text,
             fmt::format("{} = {}", figure.name, figure.value.empty() ? "unknown" : figure.value));
  }
  return text;
}

// Policies of a scenario: whether they hold, and the figures that they saw.
std::vector<Column> policy_columns() {
  return {{"POLICY"}, {"NAME"}, {"ASSERTION", false, 1}, {"FOUND"}};
}

Rows policy_rows(const VariantResult& variant, const TextStyle& style, bool /*every*/) {
  Rows rows;
  for (const PolicyResult& policy : variant.policies) {
    rows.push_back({verdict_cell(policy, style), policy.name, policy.assertion, seen_cell(policy)});
  }
  return rows;
}

// Where figures lie for what is not known of the inputs; empty without `--inputs sampled`.
ScreenPart range_part(const VariantResult& variant) {
  ScreenPart part{.indent = 2};
  if (variant.ranges.empty()) return part;
  part.table.columns = {
      {"INPUTS DRAWN", false, 0}, {"VALUE", true, 0}, {"FROM", true, 0}, {"TO", true, 0}};
  for (const sim::FigureRange& range : variant.ranges) {
    const auto text = [&](double value) { return amount_text({value, range.unit}); };
    part.table.rows.push_back({outcome_title(range.workload, range.name), text(range.value),
                               text(range.least), text(range.most)});
  }
  part.sentences = {
      {.text = "95 % of what measurements leave open, or all where only bounds are known: more "
               "replications do not narrow it, better measurements do.",
       .indent = 2}};
  return part;
}

}  // namespace

std::vector<ScreenPart> variant_parts(const sim::Result& result, const TextStyle& style,
                                      bool every) {
  const auto tables = [&](const std::vector<Column>& columns, const auto& rows_of) {
    return tables_of(result, style, every, columns, rows_of);
  };
  // One column of rates, one unit.
  const auto with_rates = [](auto rows_of, std::int64_t seconds) {
    return [=](const VariantResult& variant, const TextStyle& how, bool all) {
      return rows_of(variant, how, all, seconds);
    };
  };
  std::vector<std::vector<ScreenPart>> of_workloads = {tables(objective_columns(), objective_rows),
                                                       tables(policy_columns(), policy_rows)};
  for (const ServingBlock block : {ServingBlock::Requests, ServingBlock::Tokens,
                                   ServingBlock::Scaling, ServingBlock::Notebooks}) {
    const auto rows_of = [block](const auto&... of) { return serving_rows(block, of...); };
    of_workloads.push_back(
        tables(serving_columns(block, every), with_rates(rows_of, rate_seconds_of(result, true))));
  }
  of_workloads.push_back(
      tables(batch_columns(), with_rates(batch_rows, rate_seconds_of(result, false))));
  of_workloads.push_back(tables(job_group_columns(), job_group_rows));
  const std::vector<ScreenPart> gpus = tables(gpu_columns(), gpu_cells);
  const VariantResult* leading = best_variant(result);
  if (leading == nullptr) leading = &result.variants.front();
  const std::vector<ScreenPart> bills = tables(bill_columns(result.group_by), bill_cells);
  std::vector<ScreenPart> out;
  for (std::size_t v = 0; v < result.variants.size(); ++v) {
    const VariantResult& variant = result.variants[v];
    ScreenPart whole{.folded = "Variant " + variant.name, .preformatted = true};
    std::vector<ScreenPart>& parts = whole.parts;
    parts.push_back({.sentences = heading_sentences(variant)});
    const auto add_table = [&](const ScreenPart& table) {
      if (!table.table.rows.empty()) parts.push_back(table);
    };
    const auto add_below = [&](std::vector<Sentence> sentences) {
      std::ranges::move(sentences, std::back_inserter(parts.back().sentences));
    };
    for (const std::vector<ScreenPart>& kind : of_workloads) add_table(kind[v]);
    if (std::string left = job_groups_left_out(variant, every); !left.empty()) {
      add_below({below(std::move(left))});
    }
    if (std::string left = workloads_left_out(variant, every); !left.empty()) {
      add_below({below(std::move(left))});
    }
    add_table(gpus[v]);
    add_below(gang_sentences(variant, every));
    if (&variant == leading || every) add_below(seating_sentences(variant, every));
    for (std::string& sentence : placement_sentences(variant)) {
      add_below({below(std::move(sentence))});
    }
    if (std::string busy = host_cpu_text(variant); !busy.empty()) {
      add_below({below(std::move(busy))});
    }
    add_below(disruption_sentences(variant));
    parts.push_back({});
    for (std::string& sentence : node_sentences(variant)) add_below({below(std::move(sentence))});
    parts.push_back({.sentences = cost_sentences(variant, style)});
    add_table(bills[v]);
    if (!bills[v].table.rows.empty()) add_below({below(bill_sentence(variant.cost.split))});
    add_table(range_part(variant));
    parts.push_back({.sentences = warning_sentences(variant, style, every)});
    out.push_back(std::move(whole));
  }
  return out;
}

}  // namespace slicewise::reports
