#include <algorithm>
#include <any>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "slicewise/sim/plan_record.hpp"

// Whatever is declared as a line: the values of the fields that are stored, in the order of their
// declaration, words with a blank between them. Numbers are whole: a double is its bits. Texts
// begin with a dot, so that an empty one is a word, and have no blank, line end or percent sign. 1
// or 0 stands before what may be absent, its length before a list.
namespace slicewise::sim {
namespace {

using scenarios::FigureValue;
using shapes::in;
using NamedCounts = std::map<std::string, std::int64_t>;
using Labels = std::map<std::string, std::string>;

constexpr std::string_view kHex = "0123456789ABCDEF";
// More of anything is no line of ours.
constexpr std::int64_t kMostItems = 100'000;

class LineWriter {
 public:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
  void write(const Record& record, const void* object) {
    for (const Field& field : record.fields) {
      if (field.place == nullptr) continue;
      std::any made;
      const void* const value = field.value(object, made);
      if (field.nullable || field.applies != nullptr) flag(value != nullptr);
      if (value != nullptr) write_value(field, *field.shape, value);
    }
  }
  std::string line() { return std::move(line_); }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
  void write_value(const Field& field, const Shape& shape, const void* value) {
    switch (shape.kind) {
      case Shape::Kind::Truth:
        return flag(in<bool>(value));
      case Shape::Kind::Whole:
      case Shape::Kind::Time:
      case Shape::Kind::Money:
      case Shape::Kind::Size:
        return number(shape.whole(value));
      case Shape::Kind::Number:
        return real(in<double>(value));
      case Shape::Kind::Text:
      case Shape::Kind::Word:
        return text(shape.text(value));
      case Shape::Kind::Figure:
        return figure(in<FigureValue>(value));
      case Shape::Kind::Counts:
        number(static_cast<std::int64_t>(in<NamedCounts>(value).size()));
        for (const auto& [name, count] : in<NamedCounts>(value)) {
          text(name);
          number(count);
        }
        return;
      case Shape::Kind::Labels:
        number(static_cast<std::int64_t>(in<Labels>(value).size()));
        for (const auto& [name, label] : in<Labels>(value)) {
          text(name);
          text(label);
        }
        return;
      case Shape::Kind::List:
        number(static_cast<std::int64_t>(shape.size(value)));
        for (std::size_t i = 0; i < shape.size(value); ++i) {
          write_value(field, *shape.item, shape.item_at(value, i));
        }
        return;
      case Shape::Kind::Object:
        return write(field.inner(), value);
    }
  }
  void number(std::int64_t n) { append(fmt::format("{}", n)); }
  void real(double x) { number(std::bit_cast<std::int64_t>(x)); }
  void flag(bool b) { number(b ? 1 : 0); }
  void text(std::string_view text) {
    std::string word = ".";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte > ' ' && c != '%') {
        word += c;
        continue;
      }
      word += '%';
      word += kHex[byte >> 4U];
      word += kHex[byte & 15U];
    }
    append(word);
  }
  void figure(const FigureValue& value) {
    number(static_cast<std::int64_t>(value.index()));
    std::visit(models::Overloaded{[&](Duration d) { number(d.ns); },
                                  [&](scenarios::Share s) { real(s.of_one); },
                                  [&](Rate r) { real(r.per_second); }, [&](double x) { real(x); }},
               value);
  }
  void append(std::string_view word) {
    if (!line_.empty()) line_ += ' ';
    line_ += word;
  }
  std::string line_;
};

// Fails once and for all at the first word that is not what it should be.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
  void read(const Record& record, void* into) {
    for (const Field& field : record.fields) {
      if (field.place == nullptr || failed_) continue;
      if ((field.nullable || field.applies != nullptr) && !flag()) continue;
      read_value(field, *field.shape, field.room(into));
    }
  }
  bool done() const { return !failed_ && rest_.empty(); }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the declarations
  void read_value(const Field& field, const Shape& shape, void* into) {
    switch (shape.kind) {
      case Shape::Kind::Truth:
        *static_cast<bool*>(into) = flag();
        return;
      case Shape::Kind::Whole:
      case Shape::Kind::Time:
      case Shape::Kind::Money:
      case Shape::Kind::Size:
        return require(shape.set_whole(into, number()));
      case Shape::Kind::Number:
        *static_cast<double*>(into) = real();
        return;
      case Shape::Kind::Text:
      case Shape::Kind::Word:
        return require(shape.set_text(into, text()));
      case Shape::Kind::Figure:
        *static_cast<FigureValue*>(into) = figure();
        return;
      case Shape::Kind::Counts:
        for (std::int64_t n = items(); n > 0 && !failed_; --n) {
          const std::string name = text();
          (*static_cast<NamedCounts*>(into))[name] = number();
        }
        return;
      case Shape::Kind::Labels:
        for (std::int64_t n = items(); n > 0 && !failed_; --n) {
          std::string name = text();
          (*static_cast<Labels*>(into))[std::move(name)] = text();
        }
        return;
      case Shape::Kind::List:
        for (std::int64_t n = items(); n > 0 && !failed_; --n) {
          read_value(field, *shape.item, shape.append(into));
        }
        return;
      case Shape::Kind::Object:
        return read(field.inner(), into);
    }
  }
  void require(bool right) { failed_ = failed_ || !right; }

  std::int64_t number() {
    const std::string_view word = next();
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size()) failed_ = true;
    return failed_ ? 0 : n;
  }
  double real() { return std::bit_cast<double>(number()); }
  bool flag() { return number() != 0; }
  std::int64_t items() {
    const std::int64_t n = number();
    if (n < 0 || n > kMostItems) failed_ = true;
    return failed_ ? 0 : n;
  }
  std::string text() {
    const std::string_view word = next();
    if (word.empty() || word.front() != '.') failed_ = true;
    std::string text;
    for (std::size_t i = 1; !failed_ && i < word.size(); ++i) {
      if (word[i] != '%') {
        text += word[i];
        continue;
      }
      const std::size_t high = i + 2 < word.size() ? kHex.find(word[i + 1]) : std::string::npos;
      const std::size_t low = i + 2 < word.size() ? kHex.find(word[i + 2]) : std::string::npos;
      failed_ = high == std::string::npos || low == std::string::npos;
      if (!failed_) text += static_cast<char>(high * 16 + low);
      i += 2;
    }
    return text;
  }
  FigureValue figure() {
    switch (number()) {
      case 0:
        return Duration{number()};
      case 1:
        return scenarios::Share{real()};
      case 2:
        return Rate{real()};
      case 3:
        return real();
      default:
        failed_ = true;
        return 0.0;
    }
  }
  std::string_view next() {
    const std::size_t blank = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, blank);
    rest_.remove_prefix(std::min(blank + 1, rest_.size()));
    if (word.empty()) failed_ = true;
    return word;
  }
  std::string_view rest_;
  bool failed_ = false;
};

Record probe_record() {
  using P = PlanProbe;
  return {
      "a simulation that is asked for",
      {field<&P::pools>("pools", "none: the scenario's own"),
       field<&P::replications>("replications", "runs"), field<&P::input>("input", "what is scaled"),
       field<&P::factor>("factor", "how many times"),
       field<&P::until_clear>("untilClear", "only whether it stands"),
       field<&P::draw>("draw", "which random numbers"),
       field<&P::glance>("glance", "what is likely will do")}};
}

Record answer_record() {
  using A = PlanAnswer;
  return {"what it found",
          {field<&A::figures>("figures"), field<&A::code>("code", "of why it cannot run"),
           field<&A::refused, &Reason::form>("refused", "why it cannot run"),
           field<&A::refused, &Reason::figures>("refusedFigures", "in the places of it"),
           field<&A::partial>("partial", "the figures are of what said no"),
           field<&A::had_all_nodes>("hadAllNodes", "more nodes would change nothing")}};
}

std::string line_of(const Record& record, const void* object) {
  LineWriter out;
  out.write(record, object);
  return out.line();
}

template <class T>
std::optional<T> read_line(const Record& record, std::string_view line) {
  T read;
  LineReader from(line);
  from.read(record, &read);
  return from.done() ? std::optional(std::move(read)) : std::nullopt;
}

}  // namespace

std::string probe_line(const PlanProbe& probe) { return line_of(once<probe_record>(), &probe); }

std::optional<PlanProbe> read_probe(std::string_view line) {
  return read_line<PlanProbe>(once<probe_record>(), line);
}

std::string answer_line(const PlanAnswer& answer) {
  return line_of(once<answer_record>(), &answer);
}

std::optional<PlanAnswer> read_answer(std::string_view line) {
  return read_line<PlanAnswer>(once<answer_record>(), line);
}

}  // namespace slicewise::sim
