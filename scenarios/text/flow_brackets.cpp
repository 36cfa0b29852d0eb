#include "flow_brackets.hpp"

#include <algorithm>
#include <utility>

namespace slicewise::scenarios {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

class BracketScanner {
 public:
  BracketScanner(std::string_view text, std::size_t deepest) : text_(text), deepest_(deepest) {}

  FlowBrackets scan() {
    while (!stopped_ && at_ < text_.size()) step();
    return {std::move(open_)};
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      end_line();
    } else if (is_blank(at_)) {
      ++at_;
    } else if (c == '#' && (at_ == 0 || is_blank(at_ - 1))) {
      at_ = end_of_line();
    } else if (starts_value_ && (c == '"' || c == '\'')) {
      skip_quoted(c);
    } else if (starts_value_ && (c == '&' || c == '!')) {
      at_ = std::min(text_.find_first_of(kBlanks, at_), text_.size());
    } else if (starts_value_ && open_.empty() && (c == '|' || c == '>')) {
      skip_block_scalar();
    } else {
      read_indicator(c);
    }
  }

  void read_indicator(char c) {
    const bool in_flow = !open_.empty();
    if ((c == '[' || c == '{') && (in_flow || starts_value_)) {
      open_.push_back(at_);
      stopped_ = open_.size() > deepest_;
      starts_value_ = true;
    } else if ((c == ']' || c == '}') && in_flow) {
      close(c);
    } else if (c == ',' && in_flow) {
      starts_value_ = true;
    } else if (c == ':') {
      starts_value_ = is_blank(at_ + 1) || (in_flow && after_quote_);
    } else if (c != '-' && c != '?') {
      starts_value_ = false;
    } else {
      starts_value_ = starts_value_ && is_blank(at_ + 1);
    }
    after_quote_ = false;
    ++at_;
  }

  void close(char bracket) {
    const bool matches = (text_[open_.back()] == '[') == (bracket == ']');
    if (matches) {
      open_.pop_back();
    } else {
      stopped_ = true;
    }
    starts_value_ = false;
  }

  bool is_blank(std::size_t offset) const {
    return offset >= text_.size() || kBlanks.find(text_[offset]) != std::string_view::npos;
  }

  std::size_t end_of_line() const { return std::min(text_.find('\n', at_), text_.size()); }

  void end_line() {
    if (open_.empty()) starts_value_ = true;
    ++at_;
    line_start_ = at_;
  }

  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        const bool doubled = quote == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] == quote;
        if (!doubled) break;
        ++at_;
      }
    }
    if (at_ >= text_.size()) open_.clear();
    ++at_;
    starts_value_ = false;
    after_quote_ = true;
  }

  // The lines that are blank or indented more than the line of the indicator.
  void skip_block_scalar() {
    const std::size_t indent = text_.find_first_not_of(' ', line_start_) - line_start_;
    for (at_ = end_of_line(); at_ < text_.size(); at_ = end_of_line()) {
      const std::size_t first = text_.find_first_not_of(' ', at_ + 1);
      const bool empty = first >= text_.size() || text_[first] == '\n' || text_[first] == '\r';
      if (!empty && first - (at_ + 1) <= indent) return;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t deepest_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::vector<std::size_t> open_;
  bool starts_value_ = true;
  bool after_quote_ = false;  // so that the colon of "a":1 is one
  bool stopped_ = false;
};

}  // namespace

FlowBrackets find_flow_brackets(std::string_view text, std::size_t deepest) {
  return BracketScanner(text, deepest).scan();
}

}  // namespace slicewise::scenarios
