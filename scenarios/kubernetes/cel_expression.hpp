#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../text/document.hpp"

// An expression of cel.hpp as a tree, and the values that it has.
namespace slicewise::scenarios::manifests {

struct CelValue;
using CelList = std::vector<CelValue>;

// A mapping or a list of the document stays where it is.
struct CelValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, const Node*, CelList> is;
};

struct CelExpression {
  enum class Kind : std::uint8_t {
    Literal,
    List,    // of the operands
    Name,    // a variable, `text`
    Member,  // .text of the first
    Index,   // first[second]
    Call,    // text(operands), or first.text(the others)
    Has,     // whether Member is there
    All,     // of the first, each called `text`, the second
    Exists,  // likewise
    ExistsOne,
    Filter,
    Plus,
    Minus,
    Not,
    And,
    Or,
    Choose,  // first ? second : third
    Equal,
    Less,
    AtMost,
    In,
  };
  Kind kind = Kind::Literal;
  std::string text;
  CelValue value;
  std::vector<CelExpression> operands;
};

// Whether `text` is a variable of its last operand.
inline bool is_macro(CelExpression::Kind kind) {
  return kind >= CelExpression::Kind::All && kind <= CelExpression::Kind::Filter;
}

// nullopt: it is none, or uses what is not known here.
std::optional<CelExpression> parse_cel(std::string_view text);

}  // namespace slicewise::scenarios::manifests
