#include "cel.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "../text/scalars.hpp"
#include "cel_expression.hpp"
#include "patterns.hpp"

namespace slicewise::scenarios::manifests {
namespace {

using Kind = CelExpression::Kind;
// nullopt: it fails.
using Result = std::optional<CelValue>;

CelValue value_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null:
      return {};
    case Node::Kind::Boolean:
      return {node.text.starts_with('t') || node.text.starts_with('T')};
    case Node::Kind::Integer:
      if (const auto whole = whole_of(node.text)) return {*whole};
      return {node.text};
    case Node::Kind::Float: {
      constexpr int kDigits = 6;
      constexpr double kUnit = 1e6;
      const auto scaled = scaled_of(node.text, kDigits);
      return scaled ? CelValue{static_cast<double>(*scaled) / kUnit} : CelValue{node.text};
    }
    case Node::Kind::Text:
      return {node.text};
    case Node::Kind::Map:
    case Node::Kind::List:
      return {&node};
  }
  return {};
}

const Node* node_of(const CelValue& value) {
  const auto* node = std::get_if<const Node*>(&value.is);
  return node == nullptr ? nullptr : *node;
}

std::optional<bool> truth_of(const Result& result) {
  const bool* truth = result ? std::get_if<bool>(&result->is) : nullptr;
  return truth == nullptr ? std::nullopt : std::optional(*truth);
}

std::optional<double> number_of(const CelValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.is)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value.is)) return *number;
  return std::nullopt;
}

// What `all` and its like go through: the items of a list, the keys of a mapping.
std::optional<CelList> elements_of(const CelValue& value) {
  if (const auto* list = std::get_if<CelList>(&value.is)) return *list;
  const Node* node = node_of(value);
  if (node == nullptr) return std::nullopt;
  CelList elements;
  for (const Entry& entry : node->entries) {
    if (entry.value != nullptr && entry.value->kind != Node::Kind::Null) {
      elements.push_back({entry.key});
    }
  }
  for (const NodePtr& item : node->items) elements.push_back(value_of(*item));
  return elements;
}

const Node* member(const CelValue& object, std::string_view key) {
  const Node* node = node_of(object);
  const Node* found = node == nullptr ? nullptr : node->find(key);
  return found == nullptr || found->kind == Node::Kind::Null ? nullptr : found;
}

bool are_equal(const CelValue& a, const CelValue& b);

bool are_equal(const Node& a, const Node& b) {  // NOLINT(misc-no-recursion): bounded by the reader
  if (a.kind != b.kind)
    return a.is_scalar() && b.is_scalar() && are_equal(value_of(a), value_of(b));
  if (a.is_scalar()) return are_equal(value_of(a), value_of(b));
  const bool same_entries = std::ranges::all_of(a.entries, [&](const Entry& entry) {
    const Node* other = b.find(entry.key);
    return entry.value != nullptr && other != nullptr && are_equal(*entry.value, *other);
  });
  return same_entries && a.entries.size() == b.entries.size() &&
         std::ranges::equal(a.items, b.items,
                            [](const NodePtr& x, const NodePtr& y) { return are_equal(*x, *y); });
}

// NOLINTNEXTLINE(misc-no-recursion)
bool are_equal(const CelValue& a, const CelValue& b) {
  if (const Node* x = node_of(a), *y = node_of(b); x != nullptr && y != nullptr) {
    return are_equal(*x, *y);
  }
  if (const auto x = number_of(a), y = number_of(b); x && y) return *x == *y;
  if (a.is.index() != b.is.index()) return false;
  if (const auto* text = std::get_if<std::string>(&a.is))
    return *text == std::get<std::string>(b.is);
  if (const auto* truth = std::get_if<bool>(&a.is)) return *truth == std::get<bool>(b.is);
  return std::holds_alternative<std::monostate>(a.is);
}

Result size_of(const CelValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.is)) {
    return CelValue{static_cast<std::int64_t>(text->size())};
  }
  const auto elements = elements_of(value);
  if (!elements) return std::nullopt;
  return CelValue{static_cast<std::int64_t>(elements->size())};
}

Result whole_part(const CelValue& value) {
  if (const auto number = number_of(value)) {
    constexpr double kLargest = 9e18;
    if (*number > kLargest || *number < -kLargest) return std::nullopt;
    return CelValue{static_cast<std::int64_t>(*number)};
  }
  const auto* text = std::get_if<std::string>(&value.is);
  const auto whole = text == nullptr ? std::nullopt : whole_of(*text);
  return whole ? Result(CelValue{*whole}) : std::nullopt;
}

Result quantity_of(const CelValue& value) {
  if (const auto number = number_of(value)) return CelValue{*number};
  const auto* text = std::get_if<std::string>(&value.is);
  const auto thousandths = text == nullptr ? std::nullopt : quantity_in_thousandths(*text);
  constexpr double kThousand = 1000;
  return thousandths ? Result(CelValue{static_cast<double>(*thousandths) / kThousand})
                     : std::nullopt;
}

// "8.6.0", of which parts that are missing are 0.
std::optional<std::array<std::int64_t, 3>> version_of(const CelValue& value) {
  const auto* text = std::get_if<std::string>(&value.is);
  if (text == nullptr) return std::nullopt;
  std::array<std::int64_t, 3> version{};
  std::string_view rest = *text;
  for (std::int64_t& part : version) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    const auto whole = whole_of(rest.substr(0, end));
    if (!whole) return std::nullopt;
    part = *whole;
    if (end == rest.size()) return version;
    rest.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// Of quantities, or of versions.
Result in_order(std::string_view name, const CelValue& self, const CelValue& other) {
  std::optional<int> order;
  const auto compare = [&](const auto& a, const auto& b) {
    if (a && b) order = *a < *b ? -1 : *b < *a ? 1 : 0;
  };
  compare(number_of(self), number_of(other));
  if (!order) compare(version_of(self), version_of(other));
  if (!order) return std::nullopt;
  if (name == "isGreaterThan") return CelValue{*order > 0};
  if (name == "isLessThan") return CelValue{*order < 0};
  return CelValue{std::int64_t{*order}};
}

Result call_of_text(std::string_view name, const std::string& self, const std::string& other) {
  if (name == "startsWith") return CelValue{self.starts_with(other)};
  if (name == "endsWith") return CelValue{self.ends_with(other)};
  if (name == "contains") return CelValue{self.find(other) != std::string::npos};
  if (name == "matches") return CelValue{matches_pattern(self, other)};
  if (name == "find") return CelValue{found_pattern(self, other)};
  CelList parts;  // split
  for (std::size_t at = 0;;) {
    const std::size_t end = other.empty() ? std::string::npos : self.find(other, at);
    parts.push_back({self.substr(at, end - at)});
    if (end == std::string::npos) return CelValue{std::move(parts)};
    at = end + other.size();
  }
}

// How many indexes "0,2-4" names; they increase. Source: k8s.io/kubernetes
// pkg/apis/batch/validation, validateIndexesFormat.
Result indexes_of(const CelValue& value) {
  const auto* text = std::get_if<std::string>(&value.is);
  if (text == nullptr) return std::nullopt;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t last = -1;
  std::int64_t count = 0;
  for (std::size_t at = 0; !text->empty() && at <= text->size();) {
    const std::size_t end = std::min(text->find(',', at), text->size());
    const std::string_view interval(text->data() + at, end - at);
    const std::size_t dash = interval.find('-');
    const auto from = whole_of(interval.substr(0, dash));
    const auto to = dash == interval.npos ? from : whole_of(interval.substr(dash + 1));
    if (!from || !to || *from <= last || *to > kMost || (dash != interval.npos && *to <= *from)) {
      return std::nullopt;
    }
    count += *to - *from + 1;
    last = *to;
    at = end + 1;
  }
  return CelValue{count};
}

Result text_of(const CelValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.is)) {
    return CelValue{std::to_string(*whole)};
  }
  return std::holds_alternative<std::string>(value.is) ? Result(value) : std::nullopt;
}

Result is_sorted(const CelValue& value) {
  const auto elements = elements_of(value);
  if (!elements) return std::nullopt;
  std::vector<double> numbers;
  for (const CelValue& element : *elements) {
    const auto number = number_of(element);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return CelValue{std::ranges::is_sorted(numbers)};
}

// NOLINTBEGIN(misc-no-recursion): as deep as the expression is
class Evaluation {
 public:
  Evaluation(const Node& object, std::string_view name) {
    names_[std::string(name)] = value_of(object);
  }

  Result of(const CelExpression& e) {
    const Node* before = broken_by_;
    Result result = value(e);
    const bool passes_on =
        e.kind == Kind::All || e.kind == Kind::And || e.kind == Kind::Or || e.kind == Kind::Choose;
    if (!passes_on || truth_of(result).value_or(false)) broken_by_ = before;
    return result;
  }

  // The innermost element of which an `all` was not true, where that made the whole so.
  const Node* broken_by() const { return broken_by_; }

 private:
  Result value(const CelExpression& e) {
    switch (e.kind) {
      case Kind::Literal:
        return e.value;
      case Kind::List:
        return list(e);
      case Kind::Name: {
        const auto found = names_.find(e.text);
        return found == names_.end() ? Result() : Result(found->second);
      }
      case Kind::Member:
      case Kind::Has: {
        const Result object = of(e.operands[0]);
        if (!object) return std::nullopt;
        const Node* found = member(*object, e.text);
        if (e.kind == Kind::Has) return CelValue{found != nullptr};
        return found == nullptr ? Result() : Result(value_of(*found));
      }
      case Kind::Index:
        return index(e);
      case Kind::Call:
        return call(e);
      case Kind::All:
      case Kind::Exists:
      case Kind::ExistsOne:
      case Kind::Filter:
        return for_each(e);
      case Kind::Plus:
      case Kind::Minus:
        return sum(e);
      case Kind::Not: {
        const auto operand = truth_of(of(e.operands[0]));
        return operand ? Result(CelValue{!*operand}) : Result();
      }
      case Kind::And:
      case Kind::Or:
        return both(e, e.kind == Kind::Or);
      case Kind::Choose: {
        const auto condition = truth_of(of(e.operands[0]));
        return condition ? of(e.operands[*condition ? 1 : 2]) : Result();
      }
      case Kind::Equal:
      case Kind::Less:
      case Kind::AtMost:
      case Kind::In:
        return compared(e);
    }
    return std::nullopt;
  }

  Result list(const CelExpression& e) {
    CelList values;
    for (const CelExpression& operand : e.operands) {
      Result value = of(operand);
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
    }
    return CelValue{std::move(values)};
  }

  Result index(const CelExpression& e) {
    const Result object = of(e.operands[0]);
    const Result at = of(e.operands[1]);
    if (!object || !at) return std::nullopt;
    if (const auto* key = std::get_if<std::string>(&at->is)) {
      const Node* found = member(*object, *key);
      return found == nullptr ? Result() : Result(value_of(*found));
    }
    const auto* place = std::get_if<std::int64_t>(&at->is);
    const auto elements = elements_of(*object);
    if (place == nullptr || !elements || *place < 0) return std::nullopt;
    const auto n = static_cast<std::size_t>(*place);
    return n < elements->size() ? Result((*elements)[n]) : Result();
  }

  Result call(const CelExpression& e) {
    Result self = of(e.operands[0]);
    if (!self) return std::nullopt;
    if (e.text == "size") return size_of(*self);
    if (e.text == "int") return whole_part(*self);
    if (e.text == "string") return text_of(*self);
    if (e.text == "quantity") return quantity_of(*self);
    if (e.text == "indexes") return indexes_of(*self);
    if (e.text == "isSorted") return is_sorted(*self);
    if (e.text == "semver") return self;
    const Result other = e.operands.size() == 2 ? of(e.operands[1]) : Result();
    if (e.text == "compareTo" || e.text == "isGreaterThan" || e.text == "isLessThan") {
      return other ? in_order(e.text, *self, *other) : Result();
    }
    const auto* text = std::get_if<std::string>(&self->is);
    if (text != nullptr && e.text == "lowerAscii") return CelValue{lower_case(*text)};
    const auto* given = other ? std::get_if<std::string>(&other->is) : nullptr;
    if (text == nullptr || given == nullptr) return std::nullopt;
    return call_of_text(e.text, *text, *given);
  }

  Result for_each(const CelExpression& e) {
    const Result object = of(e.operands[0]);
    const auto elements = object ? elements_of(*object) : std::nullopt;
    if (!elements) return std::nullopt;
    CelList chosen;
    bool fails = false;
    for (const CelValue& element : *elements) {
      const Node* known = broken_by_;
      const auto outer = names_.find(e.text);
      const Result before = outer == names_.end() ? Result() : Result(outer->second);
      names_[e.text] = element;
      const auto truth = truth_of(of(e.operands[1]));
      before ? void(names_[e.text] = *before) : void(names_.erase(e.text));
      fails |= !truth;
      if (e.kind == Kind::All && !truth.value_or(false) && broken_by_ == known) {
        broken_by_ = place_of(*object, element);
      }
      if (truth && e.kind == Kind::All && !*truth) return CelValue{false};
      if (truth && e.kind == Kind::Exists && *truth) return CelValue{true};
      if (truth && *truth) chosen.push_back(element);
    }
    if (fails) return std::nullopt;
    if (e.kind == Kind::Filter) return CelValue{std::move(chosen)};
    if (e.kind == Kind::ExistsOne) return CelValue{chosen.size() == 1};
    return CelValue{e.kind == Kind::All};
  }

  Result sum(const CelExpression& e) {
    const Result a = of(e.operands[0]);
    const Result b = of(e.operands[1]);
    const auto* x = a ? std::get_if<std::int64_t>(&a->is) : nullptr;
    const auto* y = b ? std::get_if<std::int64_t>(&b->is) : nullptr;
    std::int64_t sum = 0;
    const bool fails = x == nullptr || y == nullptr ||
                       (e.kind == Kind::Plus ? __builtin_add_overflow(*x, *y, &sum)
                                             : __builtin_sub_overflow(*x, *y, &sum));
    return fails ? Result() : Result(CelValue{sum});
  }

  // && and ||: one operand that decides is enough, also where the other fails.
  Result both(const CelExpression& e, bool deciding) {
    const auto first = truth_of(of(e.operands[0]));
    if (first && *first == deciding) return CelValue{deciding};
    const auto second = truth_of(of(e.operands[1]));
    if (second && *second == deciding) return CelValue{deciding};
    return first && second ? Result(CelValue{!deciding}) : Result();
  }

  Result compared(const CelExpression& e) {
    const Result a = of(e.operands[0]);
    const Result b = of(e.operands[1]);
    if (!a || !b) return std::nullopt;
    if (e.kind == Kind::Equal) return CelValue{are_equal(*a, *b)};
    if (e.kind == Kind::In) {
      const auto elements = elements_of(*b);
      if (!elements) return std::nullopt;
      return CelValue{std::ranges::any_of(
          *elements, [&](const CelValue& element) { return are_equal(*a, element); })};
    }
    const auto x = number_of(*a);
    const auto y = number_of(*b);
    if (!x || !y) return std::nullopt;
    return CelValue{e.kind == Kind::Less ? *x < *y : *x <= *y};
  }

  // Of an item or a key; numbers and words of a list have none.
  static const Node* place_of(const CelValue& object, const CelValue& element) {
    const auto* key = std::get_if<std::string>(&element.is);
    return key != nullptr ? member(object, *key) : node_of(element);
  }

  std::map<std::string, CelValue> names_;
  const Node* broken_by_ = nullptr;
};
// NOLINTEND(misc-no-recursion)

}  // namespace

CelRule::CelRule(std::unique_ptr<const CelExpression> expression)
    : expression_(std::move(expression)) {}
CelRule::CelRule(CelRule&&) noexcept = default;
CelRule& CelRule::operator=(CelRule&&) noexcept = default;
CelRule::~CelRule() = default;

std::optional<CelRule> CelRule::parse(std::string_view text) {
  auto expression = parse_cel(text);
  if (!expression) return std::nullopt;
  return CelRule(std::make_unique<const CelExpression>(std::move(*expression)));
}

bool CelRule::holds(const Node& object, std::string_view name) const {
  return truth_of(Evaluation(object, name).of(*expression_)).value_or(false);
}

const Node* CelRule::broken_by(const Node& object) const {
  Evaluation evaluation(object, "self");
  if (truth_of(evaluation.of(*expression_)).value_or(false)) return nullptr;
  return evaluation.broken_by() != nullptr ? evaluation.broken_by() : &object;
}

}  // namespace slicewise::scenarios::manifests
