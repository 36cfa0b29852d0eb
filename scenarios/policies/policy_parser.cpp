#include "policy_parser.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../fields/check_scalar.hpp"

namespace slicewise::scenarios {
namespace {

// A word or sign of an assertion.
struct PolicyToken {
  enum class Kind : std::uint8_t {
    Word,      // cost.monthly, workloads.chat.latencyP99, mig+mps
    Quantity,  // 1500, 20%, 500ms, 12/s
    Sign,      // < <= > >= == != ( ) [ ] ,
    End,
  };
  Kind kind = Kind::End;
  std::string_view text;
  std::size_t offset = 0;  // of its first byte
};

constexpr std::string_view kDecimalDigits = "0123456789";
constexpr std::string_view kAsciiLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kInWords =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
constexpr std::string_view kInQuantities =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-%/";
// Longer signs first.
constexpr std::array<std::string_view, 11> kSigns = {"<=", ">=", "==", "!=", "<", ">",
                                                     "(",  ")",  "[",  "]",  ","};

// Signs of other languages.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kForeign = {{
    {"&&", "write and"},
    {"||", "write or"},
    {"=", "write == to compare"},
    {"!", "write not"},
    {"$", "write plain dollars: 1500"},
    {"\"", "words need no quotes: strategy == mig"},
    {"'", "words need no quotes: strategy == mig"},
}};

// The bytes of one character of UTF-8.
std::size_t character_bytes(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) ++bytes;
  return bytes;
}

PolicyMistake foreign_sign(std::string_view rest, std::size_t offset) {
  for (const auto& [sign, help] : kForeign) {
    if (!rest.starts_with(sign)) continue;
    return {offset, sign.size(), fmt::format("an assertion has no {}", sign), std::string(help)};
  }
  const std::string_view character = rest.substr(0, character_bytes(rest));
  return {offset, character.size(), fmt::format("an assertion has no {}", character),
          "it is made of figures, values, and, or, not and parentheses"};
}

// The last token is End. The tokens point into `text`.
tl::expected<std::vector<PolicyToken>, PolicyMistake> policy_tokens(std::string_view text) {
  std::vector<PolicyToken> tokens;
  std::size_t at = 0;
  const auto take = [&](PolicyToken::Kind kind, std::size_t bytes) {
    tokens.push_back({kind, text.substr(at, bytes), at});
    at += bytes;
  };
  const auto length_of = [&](std::string_view allowed) {
    return std::min(text.find_first_not_of(allowed, at), text.size()) - at;
  };
  while (true) {
    at += length_of(" \t\r\n");
    if (at == text.size()) break;
    const std::string_view rest = text.substr(at);
    if (kAsciiLetters.find(rest[0]) != std::string_view::npos) {
      take(PolicyToken::Kind::Word, length_of(kInWords));
      continue;
    }
    if (kDecimalDigits.find(rest[0]) != std::string_view::npos) {
      take(PolicyToken::Kind::Quantity, length_of(kInQuantities));
      continue;
    }
    const auto* sign =
        std::ranges::find_if(kSigns, [&](std::string_view s) { return rest.starts_with(s); });
    if (sign == kSigns.end()) return tl::unexpected(foreign_sign(rest, at));
    take(PolicyToken::Kind::Sign, sign->size());
  }
  take(PolicyToken::Kind::End, 0);
  return tokens;
}

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

// "<= 500ms": a comparison with a value of the kind.
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

// What `figure` is compared with, a Number or a Word. `kind`: of the figure; no Truth. `text` is ""
// when there is no value.
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

using PolicyOp = PolicyNode::Op;
using TokenKind = PolicyToken::Kind;

constexpr std::size_t kLongestAssertion = 10'000;  // bytes
constexpr std::size_t kMostPolicyNodes = 10'000;
constexpr int kDeepestPolicy = 32;  // parentheses and nots

constexpr std::array<std::pair<std::string_view, PolicyOp>, 6> kComparisons = {{
    {"<", PolicyOp::Less},
    {"<=", PolicyOp::LessEqual},
    {">", PolicyOp::Greater},
    {">=", PolicyOp::GreaterEqual},
    {"==", PolicyOp::Equal},
    {"!=", PolicyOp::NotEqual},
}};

std::optional<PolicyOp> comparison_sign(const PolicyToken& token) {
  for (const auto& [sign, op] : kComparisons) {
    if (token.kind == TokenKind::Sign && token.text == sign) return op;
  }
  return std::nullopt;
}

bool is_keyword(std::string_view word) {
  return word == "and" || word == "or" || word == "not" || word == "in" || word == "all";
}

// Every function that reads a part returns the index of its node, or nothing after setting
// mistake_.
class PolicyParser {
 public:
  using Index = std::optional<std::size_t>;

  PolicyParser(std::vector<PolicyToken> tokens, std::span<const std::string> workloads)
      : tokens_(std::move(tokens)), workloads_(workloads) {}

  tl::expected<std::vector<PolicyNode>, PolicyMistake> parse() {
    const Index root = any();
    if (root && next().kind != TokenKind::End) {
      fail(next(), fmt::format("{} after the end of the assertion", shown_token()),
           "join two comparisons with and, or or");
    }
    if (!root || mistake_) return tl::unexpected(std::move(*mistake_));
    return std::move(nodes_);
  }

 private:
  const PolicyToken& next() const { return tokens_[at_]; }

  bool next_is(std::string_view text) const {
    return next().kind != TokenKind::End && next().text == text;
  }

  bool take(std::string_view text) {
    if (!next_is(text)) return false;
    ++at_;
    return true;
  }

  std::string shown_token() const {
    return next().kind == TokenKind::End ? std::string("nothing")
                                         : fmt::format("\"{}\"", next().text);
  }

  // Only the first mistake counts: what follows it may make no sense.
  std::nullopt_t fail(const PolicyToken& token, std::string message, std::string help = {}) {
    if (!mistake_) {
      const std::size_t length = std::max<std::size_t>(1, token.text.size());
      mistake_ = PolicyMistake{token.offset, length, std::move(message), std::move(help)};
    }
    return std::nullopt;
  }

  bool expect(std::string_view text, std::string_view help) {
    if (take(text)) return true;
    fail(next(), fmt::format("\"{}\" expected, not {}", text, shown_token()), std::string(help));
    return false;
  }

  Index add(PolicyNode node) {
    if (nodes_.size() >= kMostPolicyNodes) {
      return fail(next(), "the assertion is too long", "split it over several policies");
    }
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  Index add(PolicyOp op, std::size_t left, std::size_t right) {
    return add({op, left, right, 0, {}});
  }

  // NOLINTNEXTLINE(misc-no-recursion): kDeepestPolicy limits the depth
  Index any() {
    Index left = all_of();
    while (left && take("or")) {
      const Index right = all_of();
      left = right ? add(PolicyOp::Or, *left, *right) : right;
    }
    return left;
  }

  // NOLINTNEXTLINE(misc-no-recursion): kDeepestPolicy limits the depth
  Index all_of() {
    Index left = one();
    while (left && take("and")) {
      const Index right = one();
      left = right ? add(PolicyOp::And, *left, *right) : right;
    }
    return left;
  }

  // NOLINTNEXTLINE(misc-no-recursion): kDeepestPolicy limits the depth
  Index one() {
    const PolicyToken first = next();
    if (++depth_ > kDeepestPolicy) {
      return fail(first, fmt::format("nested deeper than {} levels", kDeepestPolicy));
    }
    Index found;
    if (take("not")) {
      const Index inner = one();
      found = inner ? add(PolicyOp::Not, *inner, 0) : inner;
    } else if (take("(")) {
      found = any();
      if (found && !expect(")", "close what opens with (")) found = std::nullopt;
    } else if (take("all")) {
      found = all_workloads(first);
    } else {
      found = figure_or_comparison();
    }
    --depth_;
    return found;
  }

  // The inner assertion is read once for every workload; first to find where the names stand.
  // NOLINTNEXTLINE(misc-no-recursion): not below itself
  Index all_workloads(const PolicyToken& all) {
    constexpr std::string_view kForm = "write all(slo.pass, workload in [chat, embed])";
    if (!workload_.empty()) return fail(all, "all(...) inside all(...)", std::string(kForm));
    if (!expect("(", kForm)) return std::nullopt;
    const std::size_t inside = at_;
    const std::size_t known = nodes_.size();
    workload_ = "?";
    const bool reads = any().has_value();
    workload_ = {};
    if (!reads) return std::nullopt;
    nodes_.resize(known);
    const auto names = names_of_workloads(kForm);
    if (!names || !expect(")", kForm)) return std::nullopt;
    const std::size_t after = at_;
    Index left;
    for (const std::string_view name : *names) {
      at_ = inside;
      workload_ = name;
      const Index right = any();
      workload_ = {};
      if (!right) return std::nullopt;
      left = left ? add(PolicyOp::And, *left, *right) : right;
      if (!left) return std::nullopt;
    }
    at_ = after;
    return left ? left : fail(all, "there is no workload to ask for");
  }

  std::optional<std::vector<std::string_view>> names_of_workloads(std::string_view form) {
    std::vector<std::string_view> names(workloads_.begin(), workloads_.end());
    if (next_is(")")) return names;
    for (const std::string_view text : {",", "workload", "in", "["}) {
      if (!expect(text, form)) return std::nullopt;
    }
    names.clear();
    do {
      if (!check_workload(next(), next().text)) return std::nullopt;
      names.push_back(next().text);
      ++at_;
    } while (take(","));
    if (!expect("]", form)) return std::nullopt;
    return names;
  }

  bool check_workload(const PolicyToken& token, std::string_view name) {
    if (token.kind != TokenKind::End && std::ranges::find(workloads_, name) != workloads_.end()) {
      return true;
    }
    const auto near = nearest_name(name, workloads_);
    fail(token, fmt::format("the scenario has no workload \"{}\"", name),
         near ? fmt::format("did you mean \"{}\"?", *near)
              : fmt::format("it has {}", list_of(workloads_)));
    return false;
  }

  Index figure_or_comparison() {
    const PolicyToken name = next();
    if (name.kind != TokenKind::Word || is_keyword(name.text)) {
      return fail(name, fmt::format("a figure expected, not {}", shown_token()),
                  "write the figure first, as in cost.monthly <= 1500");
    }
    ++at_;
    const auto figure = full_name(name);
    if (!figure) return std::nullopt;
    const PolicyFigure kind = *policy_figure(*figure);
    const Index left = add({PolicyOp::Figure, 0, 0, 0, *figure});
    const std::optional<PolicyOp> op = comparison_sign(next());
    if (kind == PolicyFigure::Truth) {
      if (!op) return left;
      return fail(next(), fmt::format("{} is true or false by itself", name.text),
                  fmt::format("write {0}, or not {0}", name.text));
    }
    if (!op) {
      return fail(next(), fmt::format("{} is compared with nothing", name.text),
                  fmt::format("as in {} {}", name.text, policy_value_example(kind)));
    }
    const bool ordered = *op != PolicyOp::Equal && *op != PolicyOp::NotEqual;
    if (kind == PolicyFigure::Word && ordered) {
      return fail(next(), fmt::format("{} is a word: it has no order", name.text),
                  "compare it with == or !=");
    }
    ++at_;
    const PolicyToken& value = next();
    auto node = policy_value(*figure, kind, value.kind == TokenKind::Sign ? "" : value.text);
    if (!node) return fail(value, std::move(node.error().message), std::move(node.error().help));
    ++at_;
    const Index right = left ? add(std::move(*node)) : left;
    return right ? add(*op, *left, *right) : right;
  }

  // As PolicyNode::text has it; nothing when there is no such figure.
  std::optional<std::string> full_name(const PolicyToken& name) {
    std::string figure(name.text);
    if (figure == "sharedGpu" && next_is("(")) {
      for (const std::string_view text : {"(", "namespaceA", "!=", "namespaceB", ")"}) {
        if (!expect(text, "write sharedGpu(namespaceA != namespaceB)")) return std::nullopt;
      }
      figure = kNamespacesShareGpu;
    }
    if (!workload_.empty()) figure = fmt::format("workloads.{}.{}", workload_, figure);
    const WorkloadFigure of = workload_figure(figure);
    if (!of.workload.empty() && workload_.empty() && !check_workload(name, of.workload)) {
      return std::nullopt;
    }
    if (policy_figure(figure)) return figure;
    unknown_figure(name, of);
    return std::nullopt;
  }

  void unknown_figure(const PolicyToken& name, const WorkloadFigure& of) {
    const bool of_workload = !of.workload.empty();
    const auto known = of_workload ? figures_of_workloads() : figures_of_results();
    const std::string_view wrong = of_workload ? of.figure : name.text;
    std::string message = of_workload ? fmt::format("a workload has no figure \"{}\"", wrong)
                                      : fmt::format("no result has a figure \"{}\"", wrong);
    if (const auto near = nearest_name(wrong, known)) {
      message += fmt::format("; did you mean \"{}\"?", *near);
    }
    std::string help = "known: " + list_of(known);
    if (!of_workload) help += "; workloads.NAME. with " + list_of(figures_of_workloads());
    fail(name, std::move(message), std::move(help));
  }

  std::vector<PolicyToken> tokens_;
  std::span<const std::string> workloads_;
  std::vector<PolicyNode> nodes_;
  std::optional<PolicyMistake> mistake_;
  std::string_view workload_;  // inside all(...), that figures are of
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

tl::expected<std::vector<PolicyNode>, PolicyMistake> parse_policy(
    std::string_view text, std::span<const std::string> workloads) {
  if (text.size() > kLongestAssertion) {
    return tl::unexpected(
        PolicyMistake{0, 1, "the assertion is too long", "split it over several policies"});
  }
  auto tokens = policy_tokens(text);
  if (!tokens) return tl::unexpected(std::move(tokens.error()));
  return PolicyParser(std::move(*tokens), workloads).parse();
}

}  // namespace slicewise::scenarios
