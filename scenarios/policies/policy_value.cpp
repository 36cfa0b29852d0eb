#include "policy_value.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/policy.hpp"

#include "../fields/check_scalar.hpp"

namespace slicewise::scenarios {
namespace {

using PolicyValueNode = tl::expected<PolicyNode, QuantityError>;

PolicyNode number_node(double value) { return {PolicyNode::Op::Number, 0, 0, value, {}}; }

// `in_unit` makes a plain number of what `parse` reads.
template <class Quantity, class InUnit>
PolicyValueNode quantity_value(std::string_view text, Parsed<Quantity> (*parse)(std::string_view),
                               InUnit in_unit) {
  Parsed<Quantity> parsed = parse(text);
  if (!parsed) return tl::unexpected(std::move(parsed.error()));
  return number_node(in_unit(*parsed));
}

PolicyValueNode plain_number(std::string_view text, std::string_view help) {
  const bool digit_first = text.front() >= '0' && text.front() <= '9';  // no inf, no nan
  const auto number = digit_first ? to_number(text) : std::nullopt;
  if (number) return number_node(*number);
  return tl::unexpected(QuantityError{
      Code::PolicySyntax, fmt::format("\"{}\" is not a number", text), std::string(help)});
}

PolicyValueNode word_value(std::string_view figure, std::string_view text) {
  const auto known = words_of_figure(figure);
  if (!known.empty() && std::ranges::find(known, text) == known.end()) {
    const auto near = nearest_name(text, known);
    return tl::unexpected(QuantityError{
        Code::PolicySyntax, fmt::format("{} is never \"{}\"", figure, text),
        near ? fmt::format("did you mean \"{}\"?", *near) : "it is one of: " + list_of(known)});
  }
  return PolicyNode{PolicyNode::Op::Word, 0, 0, 0, std::string(text)};
}

}  // namespace

PolicyValueNode policy_value(std::string_view figure, PolicyFigure kind, std::string_view text) {
  if (text.empty()) {
    return tl::unexpected(
        QuantityError{Code::PolicySyntax, fmt::format("{} is compared with nothing", figure),
                      fmt::format("as in {} {}", figure, policy_value_example(kind))});
  }
  switch (kind) {
    case PolicyFigure::Time:
      return quantity_value(text, &parse_duration, [](Duration d) { return to_seconds(d); });
    case PolicyFigure::Share:
      return quantity_value(text, &parse_percent, [](double share) { return share; });
    case PolicyFigure::Rate:
      return quantity_value(text, &parse_rate, [](Rate rate) { return rate.per_second; });
    case PolicyFigure::Money:
      return plain_number(text, "write plain dollars: 1500");
    case PolicyFigure::Word:
      return word_value(figure, text);
    case PolicyFigure::Number:
    case PolicyFigure::Truth:
      break;
  }
  return plain_number(text, "write it without a unit: 1.2");
}

std::string_view policy_value_example(PolicyFigure kind) {
  switch (kind) {
    case PolicyFigure::Time:
      return "<= 500ms";
    case PolicyFigure::Share:
      return ">= 20%";
    case PolicyFigure::Rate:
      return ">= 12/s";
    case PolicyFigure::Money:
      return "<= 1500";
    case PolicyFigure::Word:
      return "== mig";
    case PolicyFigure::Number:
    case PolicyFigure::Truth:
      break;
  }
  return ">= 1.2";
}

}  // namespace slicewise::scenarios
