#include "result_details.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "../text/text_table.hpp"
#include "../text/wrapped_text.hpp"
#include "policy_rows.hpp"
#include "result_comparison.hpp"
#include "result_cost.hpp"
#include "result_figures.hpp"
#include "result_gpu_rows.hpp"
#include "result_node_lines.hpp"
#include "result_pools.hpp"
#include "result_serving_rows.hpp"
#include "result_workload_rows.hpp"

namespace slicewise::reports {
namespace {

using sim::VariantResult;

constexpr int kIndent = 2;

std::string paragraph(const std::string& text, const TextStyle& style) {
  return wrapped_text(text, style.width, std::string(kIndent, ' '), 2 * kIndent);
}

struct Block {
  std::vector<Column> columns;
  std::vector<Rows> rows;  // of each variant
};

// Without the columns that no variant has a value for.
Block without_empty_columns(const Block& block, const TextStyle& style) {
  Block out;
  for (const Rows& rows : block.rows) out.rows.emplace_back(rows.size());
  for (std::size_t c = 0; c < block.columns.size(); ++c) {
    const bool empty = std::all_of(block.rows.begin(), block.rows.end(), [&](const Rows& rows) {
      return std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row[c].empty(); });
    });
    if (empty) continue;
    out.columns.push_back(block.columns[c]);
    out.columns.back().header = emphasised(block.columns[c].header, Emphasis::Heading, style);
    for (std::size_t v = 0; v < block.rows.size(); ++v) {
      for (std::size_t r = 0; r < block.rows[v].size(); ++r) {
        const std::string& cell = block.rows[v][r][c];
        out.rows[v][r].push_back(cell.empty() ? std::string(signs(style).none) : cell);
      }
    }
  }
  return out;
}

// One table per variant ("" without rows). They are laid out as one, so that the same columns are
// shown, and in the same place, whichever variant a reader looks at.
std::vector<std::string> tables_of(const Block& block, const TextStyle& style, bool wide) {
  const Block shown = without_empty_columns(block, style);
  Rows all;
  for (const Rows& rows : shown.rows) all.insert(all.end(), rows.begin(), rows.end());
  const int width = wide || style.width == 0 ? 0 : style.width - kIndent;
  std::istringstream lines(text_table(shown.columns, all, width, nullptr));
  const std::string margin(kIndent, ' ');
  std::string header;
  std::getline(lines, header);
  std::vector<std::string> out;
  for (const Rows& rows : shown.rows) {
    std::string table = rows.empty() ? "" : margin + header + "\n";
    std::string line;
    for (std::size_t r = 0; r < rows.size() && std::getline(lines, line); ++r) {
      table += margin + line + "\n";
    }
    out.push_back(std::move(table));
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

Rows gpu_cells(const VariantResult& variant, const TextStyle& style, bool every_gpu) {
  Rows rows;
  for (const GpuRow& gpu : gpu_rows(variant.gpus, every_gpu)) {
    rows.push_back({gpu.label,
                    fmt::format("{} {:>4}", bar(gpu.time_busy, style), percent_text(gpu.time_busy)),
                    busiest_of(gpu), gpu.sm_active ? percent_text(*gpu.sm_active) : "",
                    percent_text(gpu.switching), memory_use(gpu)});
  }
  return rows;
}

std::string counted_text(double count, std::string_view one, std::string_view several) {
  const std::string number = count_text(count);
  return fmt::format("{} {}", number, number == "1" ? one : several);
}

std::string left_out_line(const VariantResult& variant, const TextStyle& style, bool every) {
  const std::string text = workloads_left_out(variant, every);
  return text.empty() ? "" : paragraph(text, style);
}

// Which GPUs the pods with several got: "0-1-2-3 (2 pods, all joined by NVLink)".
std::string gang_lines(const VariantResult& variant, const TextStyle& style) {
  std::string out;
  for (const sim::WorkloadResult& workload : variant.workloads) {
    if (!workload.gang || workload.gang->sets.empty()) continue;
    std::string text =
        fmt::format("{} GPUs for each pod of {}: ", workload.gang->gpus, workload.name);
    std::string_view comma;
    for (const sim::GpuSetFigures& set : workload.gang->sets) {
      text += fmt::format("{}{} of {} ({} {}, {}", comma, fmt::join(set.gpus, "-"), set.pool,
                          count_text(set.pods), set.pods == 1 ? "pod" : "pods",
                          set.all_linked ? "all joined by NVLink" : "not all joined by NVLink");
      if (set.all_reduce.ns > 0) text += ", all-reduce " + duration_text(set.all_reduce);
      text += ")";
      comma = ", ";
    }
    if (workload.gang->all_reduce_share > 0) {
      text += fmt::format("; all-reduces take {} of the time",
                          percent_text(workload.gang->all_reduce_share));
    }
    out += paragraph(text, style);
  }
  return out;
}

std::string host_cpu_line(const VariantResult& variant, const TextStyle& style) {
  constexpr std::size_t kMostNamed = 8;
  if (variant.nodes.empty()) return "";
  std::string text = "host CPU busy: ";
  if (variant.nodes.size() > kMostNamed) {
    double sum = 0;
    for (const sim::NodeResult& node : variant.nodes) sum += node.cpu_busy_ratio;
    const auto highest = std::max_element(
        variant.nodes.begin(), variant.nodes.end(),
        [](const auto& a, const auto& b) { return a.cpu_busy_ratio < b.cpu_busy_ratio; });
    text += fmt::format("{} on average over {} nodes, highest {} with {}",
                        percent_text(sum / static_cast<double>(variant.nodes.size())),
                        variant.nodes.size(), highest->name, percent_text(highest->cpu_busy_ratio));
    return paragraph(text, style);
  }
  std::string_view comma;
  for (const sim::NodeResult& node : variant.nodes) {
    text += fmt::format("{}{} {}", comma, node.name, percent_text(node.cpu_busy_ratio));
    comma = ", ";
  }
  return paragraph(text, style);
}

// What happened to pods besides their own work; nothing for most runs.
std::string disruption_lines(const VariantResult& variant, const TextStyle& style) {
  const sim::PodCounts& pods = variant.pods;
  std::string out;
  if (pods.evicted > 0) {
    out += paragraph(fmt::format("{} evicted {}", counted_text(pods.evicted, "pod", "pods"),
                                 has_node_dynamics(variant) ? "from nodes that were drained"
                                                            : "for a change of the MIG layout"),
                     style);
  }
  if (pods.faults > 0) {
    out += paragraph(fmt::format("{}, {} of neighbours died with them",
                                 counted_text(pods.faults, "fatal GPU fault", "fatal GPU faults"),
                                 counted_text(pods.fault_victims, "container", "containers")),
                     style);
  }
  if (has_layout_changes(variant.gpus)) {
    out += paragraph(
        "shares of a layout's instances are of the whole run, also the part in which it was not "
        "in force",
        style);
  }
  return out;
}

std::string cost_lines(const VariantResult& variant, const TextStyle& style) {
  std::string out = paragraph("COST " + cost_equation(variant.cost.ledger), style);
  std::string unit_prices;
  const auto add = [&](const std::string& text) {
    unit_prices += (unit_prices.empty() ? "" : std::string(signs(style).dot)) + text;
  };
  if (variant.cost.per_job) add(money_text(*variant.cost.per_job) + " per finished job");
  if (variant.cost.per_1k_requests_in_slo) {
    add(fmt::format("{} per {}", money_text(*variant.cost.per_1k_requests_in_slo),
                    thousand_requests(has_objectives(variant))));
  }
  add(money_text(variant.cost.monthly) + (has_node_dynamics(variant)
                                              ? " a month at this rate"
                                              : " a month if the nodes keep running"));
  return out + paragraph(unit_prices, style);
}

std::string node_lines(const VariantResult& variant, const TextStyle& style) {
  std::string out;
  for (const std::string& sentence : node_sentences(variant)) out += paragraph(sentence, style);
  return out;
}

std::string advertised_lines(const VariantResult& variant, const TextStyle& style) {
  std::string out;
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    out += paragraph(advertised_sentence(pool), style);
  }
  return out;
}

// A warning that quotes the scheduler makes a line of its own needless.
bool quoted_in_finding(const VariantResult& variant, const std::string& reason) {
  return std::any_of(variant.findings.begin(), variant.findings.end(), [&](const Diagnostic& d) {
    return d.code == Code::PodPending && d.message.find(reason) != std::string::npos;
  });
}

std::string warning_line(const Diagnostic& d, const TextStyle& style) {
  const std::string mark(d.severity == Severity::Error ? signs(style).fail : signs(style).warn);
  const std::string title = fmt::format("{} {}", mark, info(d.code).name);
  const std::string help = d.help.empty() ? "" : "; " + d.help;
  return paragraph(fmt::format("{} {}{}", emphasised(title, Emphasis::Bad, style), d.message, help),
                   style);
}

// With dozens of workloads the same warning comes dozens of times: the first ones tell.
std::string warning_lines(const VariantResult& variant, const TextStyle& style, bool every) {
  constexpr int kMostAlike = 4;
  std::string out;
  for (const std::string& reason : variant.pods.pending_reasons) {
    if (!quoted_in_finding(variant, reason)) out += paragraph("pending: " + reason, style);
  }
  std::map<Code, int> shown;
  std::map<Code, int> left_out;
  for (const Diagnostic& d : variant.findings) {
    if (d.severity == Severity::Note) continue;
    if (!every && ++shown[d.code] > kMostAlike) {
      ++left_out[d.code];
    } else {
      out += warning_line(d, style);
    }
  }
  for (const auto& [code, count] : left_out) {
    out += paragraph(fmt::format("and {} more {} (-o wide)", count, info(code).name), style);
  }
  return out;
}

using VariantRows = Rows (*)(const VariantResult&, const TextStyle&, bool);

Block block_of(const sim::Result& result, const TextStyle& style, bool every,
               std::vector<Column> columns, VariantRows rows_of) {
  Block block{std::move(columns), {}};
  for (const VariantResult& v : result.variants) block.rows.push_back(rows_of(v, style, every));
  return block;
}

std::vector<Column> gpu_columns() {
  return {{"GPU"},
          {"TIME BUSY"},
          {"BUSIEST", true, 3},
          {"SM ACTIVE", true, 2},
          {"SWITCHING", true, 1},
          {"MEMORY PEAK", true}};
}

std::string variant_heading(const VariantResult& variant, const TextStyle& style) {
  std::string title = emphasised(variant.name, Emphasis::Heading, style);
  if (!variant.description.empty()) title += ": " + variant.description;
  std::string out = wrapped_text(title, style.width, "", kIndent);
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    out += paragraph(pool_sentence(pool), style);
  }
  return out;
}

std::string section(const std::string& block) { return block.empty() ? "" : "\n" + block; }

}  // namespace

std::string emphasised(std::string_view text, Emphasis emphasis, const TextStyle& style) {
  if (!style.color) return std::string(text);
  const std::string_view start = emphasis == Emphasis::Heading ? "\x1b[1m"
                                 : emphasis == Emphasis::Good  ? "\x1b[32m"
                                                               : "\x1b[31m";
  return fmt::format("{}{}\x1b[0m", start, text);
}

std::vector<std::string> variant_details(const sim::Result& result, const TextStyle& style,
                                         bool wide) {
  const auto tables = [&](std::vector<Column> columns, VariantRows rows_of) {
    return tables_of(block_of(result, style, wide, std::move(columns), rows_of), style, wide);
  };
  const std::vector<std::string> objectives = tables(objective_columns(), objective_rows);
  const std::vector<std::string> policies = tables(policy_columns(), policy_rows);
  const std::vector<std::string> requests = tables(request_columns(wide), request_rows);
  const std::vector<std::string> tokens = tables(token_columns(wide), token_rows);
  const std::vector<std::string> scaling = tables(scaling_columns(wide), scaling_rows);
  const std::vector<std::string> notebooks = tables(notebook_columns(wide), notebook_rows);
  const std::vector<std::string> batch = tables(batch_columns(), batch_rows);
  const std::vector<std::string> gpus = tables(gpu_columns(), gpu_cells);
  std::vector<std::string> out;
  for (std::size_t v = 0; v < result.variants.size(); ++v) {
    const VariantResult& variant = result.variants[v];
    out.push_back(variant_heading(variant, style) + advertised_lines(variant, style) +
                  section(objectives[v]) + section(policies[v]) + section(requests[v]) +
                  section(tokens[v]) + section(scaling[v]) + section(notebooks[v]) +
                  section(batch[v]) + left_out_line(variant, style, wide) + section(gpus[v]) +
                  gang_lines(variant, style) + host_cpu_line(variant, style) +
                  disruption_lines(variant, style) + section(node_lines(variant, style)) +
                  section(cost_lines(variant, style)) +
                  section(warning_lines(variant, style, wide)));
  }
  return out;
}

}  // namespace slicewise::reports
