#include <algorithm>
#include <array>
#include <utility>

#include "../text/scalars.hpp"
#include "cel_expression.hpp"

namespace slicewise::scenarios::manifests {
namespace {

using Kind = CelExpression::Kind;

constexpr std::array<std::string_view, 6> kFunctions = {"size",     "int",    "string",
                                                        "quantity", "semver", "indexes"};
constexpr std::array<std::string_view, 12> kMethods = {
    "size",  "startsWith", "endsWith",      "contains",   "find",       "matches",
    "split", "compareTo",  "isGreaterThan", "isLessThan", "lowerAscii", "isSorted"};

struct Macro {
  std::string_view name;
  Kind kind;
};
constexpr std::array kMacros = {Macro{"all", Kind::All}, Macro{"exists", Kind::Exists},
                                Macro{"exists_one", Kind::ExistsOne},
                                Macro{"filter", Kind::Filter}};

// Operands of an expression: selectors of devices come from users, and depth is stack.
constexpr int kMostOperands = 500;

bool is_identifier(char c) { return is_letter_or_digit(c) || c == '_'; }

// Recursive descent, a function for each level of precedence. Anything unknown sets `failed_`.
// NOLINTBEGIN(misc-no-recursion): no deeper than there may be operands
class CelParser {
 public:
  explicit CelParser(std::string_view text) : rest_(text) {}

  std::optional<CelExpression> parse() {
    CelExpression expression = choice();
    skip_blanks();
    if (failed_ || !rest_.empty()) return std::nullopt;
    return expression;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool take(std::string_view sign) {
    skip_blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }

  void need(std::string_view sign) { failed_ |= !take(sign); }

  bool take_word(std::string_view word) {
    skip_blanks();
    const bool longer = rest_.size() > word.size() && is_identifier(rest_[word.size()]);
    return !longer && take(word);
  }

  static CelExpression of(Kind kind, CelExpression first, CelExpression second) {
    CelExpression expression{kind, {}, {}, {}};
    expression.operands.push_back(std::move(first));
    expression.operands.push_back(std::move(second));
    return expression;
  }

  static CelExpression negated(CelExpression operand) {
    CelExpression expression{Kind::Not, {}, {}, {}};
    expression.operands.push_back(std::move(operand));
    return expression;
  }

  CelExpression choice() {
    CelExpression condition = either();
    if (failed_ || !take("?")) return condition;
    CelExpression expression = of(Kind::Choose, std::move(condition), choice());
    need(":");
    expression.operands.push_back(choice());
    return expression;
  }

  CelExpression either() {
    CelExpression left = both();
    while (!failed_ && take("||")) left = of(Kind::Or, std::move(left), both());
    return left;
  }

  CelExpression both() {
    CelExpression left = relation();
    while (!failed_ && take("&&")) left = of(Kind::And, std::move(left), relation());
    return left;
  }

  CelExpression relation() {
    CelExpression left = sum();
    if (take("==")) return of(Kind::Equal, std::move(left), sum());
    if (take("!=")) return negated(of(Kind::Equal, std::move(left), sum()));
    if (take("<=")) return of(Kind::AtMost, std::move(left), sum());
    if (take("<")) return of(Kind::Less, std::move(left), sum());
    if (take(">=")) return of(Kind::AtMost, sum(), std::move(left));
    if (take(">")) return of(Kind::Less, sum(), std::move(left));
    if (take_word("in")) return of(Kind::In, std::move(left), sum());
    return left;
  }

  CelExpression sum() {
    CelExpression left = unary();
    while (!failed_) {
      if (take("+")) {
        left = of(Kind::Plus, std::move(left), unary());
      } else if (take("-")) {
        left = of(Kind::Minus, std::move(left), unary());
      } else {
        break;
      }
    }
    return left;
  }

  CelExpression unary() {
    if (failed_ || ++operands_ > kMostOperands) return fail();
    skip_blanks();
    if (!rest_.starts_with("!=") && take("!")) return negated(unary());
    CelExpression expression = primary();
    while (!failed_) {
      if (take(".")) {
        expression = member_of(std::move(expression));
      } else if (take("[")) {
        expression = of(Kind::Index, std::move(expression), choice());
        need("]");
      } else {
        break;
      }
    }
    return expression;
  }

  CelExpression primary() {
    skip_blanks();
    if (failed_ || rest_.empty()) return fail();
    if (take("(")) {
      CelExpression inner = choice();
      need(")");
      return inner;
    }
    if (take("[")) {
      CelExpression list{Kind::List, {}, {}, {}};
      list.operands = operands_until("]");
      return list;
    }
    if (rest_[0] == '\'' || rest_[0] == '"') return {Kind::Literal, {}, {text_literal()}, {}};
    if (is_digit(rest_[0])) return number();
    const std::string name = word();
    if (name == "true" || name == "false") return {Kind::Literal, {}, {name == "true"}, {}};
    if (name.empty()) return fail();
    if (!take("(")) return {Kind::Name, name, {}, {}};
    if (name == "has") {
      CelExpression member = choice();
      need(")");
      if (member.kind != Kind::Member) return fail();
      member.kind = Kind::Has;
      return member;
    }
    if (std::ranges::find(kFunctions, name) == kFunctions.end()) return fail();
    return {Kind::Call, name, {}, operands_until(")")};
  }

  CelExpression member_of(CelExpression object) {
    const std::string name = word();
    if (name.empty()) return fail();
    CelExpression expression{Kind::Member, name, {}, {}};
    expression.operands.push_back(std::move(object));
    if (!take("(")) return expression;
    const auto* macro = std::ranges::find(kMacros, name, &Macro::name);
    const bool binds = macro != kMacros.end();
    if (binds) {
      expression.kind = macro->kind;
      expression.text = word();
      need(",");
    } else if (std::ranges::find(kMethods, name) == kMethods.end()) {
      return fail();
    } else {
      expression.kind = Kind::Call;
    }
    for (CelExpression& operand : operands_until(")")) {
      expression.operands.push_back(std::move(operand));
    }
    failed_ |= binds && (expression.operands.size() != 2 || expression.text.empty());
    return expression;
  }

  std::vector<CelExpression> operands_until(std::string_view end) {
    std::vector<CelExpression> operands;
    if (take(end)) return operands;
    do {
      operands.push_back(choice());
    } while (!failed_ && take(","));
    need(end);
    return operands;
  }

  CelExpression number() {
    const std::size_t length = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto value = whole_of(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (!value) return fail();
    return {Kind::Literal, {}, {*value}, {}};
  }

  std::string text_literal() {
    const char quote = rest_[0];
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_[0] != quote) {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      text += rest_[0];
      rest_.remove_prefix(1);
    }
    failed_ |= rest_.empty();
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    return text;
  }

  std::string word() {
    skip_blanks();
    std::size_t length = 0;
    while (length < rest_.size() && is_identifier(rest_[length])) ++length;
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }

  CelExpression fail() {
    failed_ = true;
    return {};
  }

  std::string_view rest_;
  int operands_ = 0;
  bool failed_ = false;
};
// NOLINTEND(misc-no-recursion)

}  // namespace

std::optional<CelExpression> parse_cel(std::string_view text) { return CelParser(text).parse(); }

}  // namespace slicewise::scenarios::manifests
