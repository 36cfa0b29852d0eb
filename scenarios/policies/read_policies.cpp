#include "../read/node_values.hpp"
#include "../read/read_scenario.hpp"
#include "policy_parser.hpp"

namespace slicewise::scenarios {
namespace {

constexpr std::pair<std::string_view, bool> kDenies[] = {{"Deny", true}, {"Warn", false}};

int characters_in(std::string_view text) {
  int count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;
  }
  return count;
}

// The place in the file of some bytes of a scalar; of the whole scalar where escapes or line breaks
// leave open which characters they were.
SourceLocation place_within(const Node& scalar, std::size_t offset, std::size_t length) {
  const std::string_view text = scalar.text;
  const int quote = scalar.quoted ? 1 : 0;
  SourceLocation where = scalar.where;
  if (where.length != characters_in(text) + 2 * quote) return where;
  where.column += quote + characters_in(text.substr(0, offset));
  where.length = std::max(1, characters_in(text.substr(offset, length)));
  return where;
}

}  // namespace

std::vector<Policy> read_policies(const Node& spec, const Scenario& scenario, Findings& findings) {
  std::vector<Policy> policies;
  const Node* list = blocks(&spec, "policies");
  if (list == nullptr) return policies;
  std::vector<std::string> workloads;
  for (const Workload& workload : scenario.workloads) workloads.push_back(workload.name.value);
  for (const Pipeline& pipeline : scenario.pipelines) workloads.push_back(pipeline.name.value);
  for (const NodePtr& item : list->items) {
    const auto text = text_at(item.get(), "assert");
    if (!text || text->empty()) continue;
    const Node& assertion = *item->find("assert");
    Policy policy;
    policy.name = text_at(item.get(), "name").value_or("");
    policy.assertion = *text;
    policy.deny = word_at(item.get(), "severity", kDenies).value_or(policy.deny);
    policy.where = assertion.where;
    auto nodes = parse_policy(*text, workloads);
    if (nodes) {
      policy.nodes = std::move(*nodes);
    } else {
      const PolicyMistake& mistake = nodes.error();
      findings.add(Code::PolicySyntax, place_within(assertion, mistake.offset, mistake.length),
                   mistake.message, mistake.help);
    }
    policies.push_back(std::move(policy));
  }
  return policies;
}

}  // namespace slicewise::scenarios
