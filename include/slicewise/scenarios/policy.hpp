#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slicewise/diagnostics.hpp"

// Assertions about a result, as text and as what they mean:
//   cost.monthly <= 1500 and all(slo.pass, workload in [chat, embed])
namespace slicewise::scenarios {

// One node of an assertion.
struct PolicyNode {
  enum class Op : std::uint8_t {
    And,   // left, right
    Or,    // left, right
    Not,   // left
    Less,  // figure `left` < value `right`, and so on
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Number,  // value: a number or dollars, seconds of a time, 1/s of a rate, 0.2 of 20%
    Word,    // text: "mig", "timeSlicing"
    Figure,  // text: "cost.monthly", "workloads.asr.latencyP99", "slo.pass"
  };
  Op op = Op::Number;
  std::size_t left = 0;
  std::size_t right = 0;
  double value = 0;
  std::string text;
};

enum class PolicySeverity : std::uint8_t {
  Deny,     // what fails it is refused
  Require,  // ... and what has no figure that decides it
  Warn,     // it is only said
};

// policies: [{name: budget, assert: cost.monthly <= 1500, severity: Deny}].
struct Policy {
  std::string name;
  std::string assertion;  // as written
  // Flat: `left` and `right` are indexes into it, always smaller than the node's own; the last node
  // is the root. Empty only when the assertion was reported as wrong.
  std::vector<PolicyNode> nodes;
  PolicySeverity severity = PolicySeverity::Deny;
  SourceLocation where;

  bool may_refuse() const { return severity != PolicySeverity::Warn; }
};

// What a figure is, and so what it can be compared with.
enum class PolicyFigure : std::uint8_t {
  Truth,   // stands alone: slo.pass
  Number,  // 16, 1.2
  Money,   // US dollars: 1500
  Time,    // 500ms
  Share,   // 20%
  Rate,    // 12/s
  Word,    // == and != only: strategy == mig
};

// nullopt for what no result has. Of "workloads.NAME.latencyP99", whatever NAME is.
std::optional<PolicyFigure> policy_figure(std::string_view figure);

// "sharedGpu(namespaceA != namespaceB)": as assertions and PolicyNode::text spell it.
inline constexpr std::string_view kNamespacesShareGpu = "sharedGpu(namespaceA != namespaceB)";

// "workloads.NAME.latencyP99" -> {"NAME", "latencyP99"}; both empty for figures of the whole
// result.
struct WorkloadFigure {
  std::string_view workload;
  std::string_view figure;
};
WorkloadFigure workload_figure(std::string_view figure);

std::vector<std::string_view> figures_of_results();
std::vector<std::string_view> figures_of_workloads();  // after workloads.NAME.

// The words that a figure can be compared with; empty when they are not known here.
std::vector<std::string_view> words_of_figure(std::string_view figure);

}  // namespace slicewise::scenarios
