#include "result_details.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "result_comparison.hpp"
#include "result_cost.hpp"
#include "result_figures.hpp"
#include "result_gpu_rows.hpp"
#include "text_table.hpp"
#include "wrapped_text.hpp"

namespace slicewise::reports {
namespace {

using sim::TimeSummary;
using sim::VariantResult;
using sim::WorkloadResult;

constexpr int kIndent = 2;

std::string paragraph(const std::string& text, const TextStyle& style) {
  return wrapped_text(text, style.width, std::string(kIndent, ' '), 2 * kIndent);
}

using Rows = std::vector<std::vector<std::string>>;

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

// "latencyP99" -> "latency p99", "jobCompletionP95" -> "job completion p95".
std::string objective_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty()) out += ' ';
    out += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

Rows objective_rows(const VariantResult& variant, const TextStyle& style) {
  Rows rows;
  for (const WorkloadResult& w : variant.workloads) {
    for (const sim::ObjectiveResult& o : w.objectives) {
      const std::string verdict = o.pass ? fmt::format("{} met", signs(style).pass)
                                         : fmt::format("{} MISSED", signs(style).fail);
      rows.push_back({emphasised(verdict, o.pass ? Emphasis::Good : Emphasis::Bad, style), w.name,
                      objective_name(o.name), interval_text(o.value, o.ci95, style),
                      duration_text(o.limit)});
    }
  }
  return rows;
}

std::string mean_of(const std::optional<TimeSummary>& times, const TextStyle& style) {
  return times && times->count > 0 ? interval_text(times->mean, times->ci95, style) : "";
}

std::string quantile_of(const std::optional<TimeSummary>& times, Duration TimeSummary::*quantile) {
  return times && times->count > 0 ? duration_text((*times).*quantile) : "";
}

std::string share_in_slo(const WorkloadResult& w) {
  if (w.objectives.empty() || w.throughput_per_second <= 0) return "";
  return fmt::format("{:.2f}%", 100 * w.goodput_per_second / w.throughput_per_second);
}

Rows workload_rows(const VariantResult& variant, const TextStyle& style) {
  Rows rows;
  for (const WorkloadResult& w : variant.workloads) {
    const auto& times = w.latency ? w.latency : w.job_completion;
    rows.push_back({w.name, count_text(w.completed),
                    rate_text(w.throughput_per_second, w.unit_name.empty() ? "run" : w.unit_name),
                    share_in_slo(w), mean_of(times, style), quantile_of(times, &TimeSummary::p50),
                    quantile_of(times, &TimeSummary::p95), quantile_of(times, &TimeSummary::p99),
                    mean_of(w.wait, style), quantile_of(w.wait, &TimeSummary::p95),
                    percent_text(w.gpu_busy_share), w.bound_by});
  }
  return rows;
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

Rows gpu_cells(const VariantResult& variant, const TextStyle& style, bool every_gpu) {
  Rows rows;
  for (const GpuRow& gpu : gpu_rows(variant.gpus, every_gpu)) {
    rows.push_back({gpu.label,
                    fmt::format("{} {:>4}", bar(gpu.time_busy, style), percent_text(gpu.time_busy)),
                    gpu.sm_active ? percent_text(*gpu.sm_active) : "", percent_text(gpu.switching),
                    memory_use(gpu)});
  }
  return rows;
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
  add(money_text(variant.cost.monthly) + " a month if the nodes keep running");
  return out + paragraph(unit_prices, style);
}

std::string advertised_lines(const VariantResult& variant, const TextStyle& style) {
  std::string out;
  for (const sim::NodePoolResult& pool : variant.node_pools) {
    std::string text;
    for (const auto& [resource, count] : pool.advertised) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", resource, count);
    }
    if (text.empty()) text = "no extended resource";
    if (pool.turn && pool.switch_cost) {
      text += fmt::format("; turn {}, switch {}", duration_text(*pool.turn),
                          duration_text(*pool.switch_cost));
    }
    out += paragraph(fmt::format("{} advertises {}", pool.name, text), style);
  }
  return out;
}

// A warning that quotes the scheduler makes a line of its own needless.
bool quoted_in_finding(const VariantResult& variant, const std::string& reason) {
  return std::any_of(variant.findings.begin(), variant.findings.end(), [&](const Diagnostic& d) {
    return d.code == Code::PodPending && d.message.find(reason) != std::string::npos;
  });
}

std::string warning_lines(const VariantResult& variant, const TextStyle& style) {
  std::string out;
  for (const std::string& reason : variant.pods.pending_reasons) {
    if (!quoted_in_finding(variant, reason)) out += paragraph("pending: " + reason, style);
  }
  for (const Diagnostic& d : variant.findings) {
    if (d.severity == Severity::Note) continue;
    const std::string mark(d.severity == Severity::Error ? signs(style).fail : signs(style).warn);
    const std::string help = d.help.empty() ? "" : "; " + d.help;
    out += paragraph(
        fmt::format("{} {}{}",
                    emphasised(fmt::format("{} {}", mark, info(d.code).name), Emphasis::Bad, style),
                    d.message, help),
        style);
  }
  return out;
}

Block objectives(const sim::Result& result, const TextStyle& style) {
  Block block{{{"OBJECTIVE"}, {"WORKLOAD"}, {"FIGURE"}, {"VALUE", true}, {"LIMIT", true}}, {}};
  for (const VariantResult& v : result.variants) block.rows.push_back(objective_rows(v, style));
  return block;
}

Block workloads(const sim::Result& result, const TextStyle& style) {
  Block block{{{"WORKLOAD"},
               {"DONE", true},
               {"RATE", true, 1},
               {"IN SLO", true},
               {"MEAN", true, 2},
               {"P50", true, 3},
               {"P95", true},
               {"P99", true, 2},
               {"WAIT MEAN", true, 2},
               {"WAIT P95", true, 4},
               {"GPU TIME", true, 5},
               {"BOUND BY"}},
              {}};
  for (const VariantResult& v : result.variants) block.rows.push_back(workload_rows(v, style));
  return block;
}

Block gpus(const sim::Result& result, const TextStyle& style, bool every_gpu) {
  Block block{{{"GPU"},
               {"TIME BUSY"},
               {"SM ACTIVE", true, 2},
               {"SWITCHING", true, 1},
               {"MEMORY PEAK", true}},
              {}};
  for (const VariantResult& v : result.variants) {
    block.rows.push_back(gpu_cells(v, style, every_gpu));
  }
  return block;
}

std::string heading(const VariantResult& variant, const TextStyle& style) {
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

std::string pool_sentence(const sim::NodePoolResult& pool) {
  std::string out =
      fmt::format("{} on {} x {}", strategy_text(pool.strategy), pool.nodes, pool.instance_type);
  if (!pool.gpu_model.empty()) out += fmt::format(" ({} x {})", pool.gpus_per_node, pool.gpu_model);
  for (const std::string& part : {pool.region, pool.purchase_option}) {
    if (!part.empty()) out += ", " + part;
  }
  // All the decimals of the price list, "$0.526".
  return out + fmt::format(", ${}/h each", static_cast<double>(pool.price.per_hour.nano) / 1e9);
}

std::vector<std::string> variant_details(const sim::Result& result, const TextStyle& style,
                                         bool wide) {
  const std::vector<std::string> objective_tables =
      tables_of(objectives(result, style), style, wide);
  const std::vector<std::string> workload_tables = tables_of(workloads(result, style), style, wide);
  const std::vector<std::string> gpu_tables = tables_of(gpus(result, style, wide), style, wide);
  std::vector<std::string> out;
  for (std::size_t v = 0; v < result.variants.size(); ++v) {
    const VariantResult& variant = result.variants[v];
    out.push_back(heading(variant, style) + advertised_lines(variant, style) +
                  section(objective_tables[v]) + section(workload_tables[v]) +
                  section(gpu_tables[v]) + host_cpu_line(variant, style) +
                  section(cost_lines(variant, style)) + section(warning_lines(variant, style)));
  }
  return out;
}

}  // namespace slicewise::reports
