#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "slicewise/sim/plan.hpp"

// Words with a blank between them. Numbers are whole: a double is its bits. Texts begin with a dot,
// so that an empty one is a word, and have no blank, line end or percent sign.
namespace slicewise::sim {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";
// More of anything is no line of ours.
constexpr std::int64_t kMostItems = 100'000;

class LineWriter {
 public:
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
  void value(const scenarios::FigureValue& value) {
    number(static_cast<std::int64_t>(value.index()));
    std::visit(models::Overloaded{[&](Duration d) { number(d.ns); },
                                  [&](scenarios::Share s) { real(s.of_one); },
                                  [&](Rate r) { real(r.per_second); }, [&](double x) { real(x); }},
               value);
  }
  std::string line() { return std::move(line_); }

 private:
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

  std::int64_t number() {
    const std::string_view word = next();
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size()) failed_ = true;
    return failed_ ? 0 : n;
  }
  int whole() {
    const std::int64_t n = number();
    if (n < INT32_MIN || n > INT32_MAX) failed_ = true;
    return failed_ ? 0 : static_cast<int>(n);
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
  scenarios::FigureValue value() {
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
  bool done() const { return !failed_ && rest_.empty(); }

 private:
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

void write_texts(LineWriter& out, const std::vector<std::string>& texts) {
  out.number(static_cast<std::int64_t>(texts.size()));
  for (const std::string& text : texts) out.text(text);
}

std::vector<std::string> read_texts(LineReader& in) {
  std::vector<std::string> texts;
  for (std::int64_t n = in.items(); n > 0; --n) texts.push_back(in.text());
  return texts;
}

void write(LineWriter& out, const PoolChoice& choice) {
  out.text(choice.instance_type);
  out.text(choice.purchase);
  out.number(static_cast<std::int64_t>(choice.strategy));
  out.number(choice.replicas);
  out.number(static_cast<std::int64_t>(choice.mig.size()));
  for (const models::MigCount& count : choice.mig) {
    out.text(count.profile);
    out.number(count.count);
  }
  write_texts(out, choice.workloads);
  write_texts(out, choice.mig_profiles);
  out.number(choice.nodes);
}

PoolChoice read_choice(LineReader& in) {
  PoolChoice choice;
  choice.instance_type = in.text();
  choice.purchase = in.text();
  const std::int64_t strategy = in.number();
  const bool known = strategy >= 0 && strategy < static_cast<std::int64_t>(kStrategies.size());
  choice.strategy = known ? kStrategies[static_cast<std::size_t>(strategy)] : Strategy::Exclusive;
  choice.replicas = in.whole();
  for (std::int64_t n = in.items(); n > 0; --n) {
    models::MigCount count;
    count.profile = in.text();
    count.count = in.whole();
    choice.mig.push_back(std::move(count));
  }
  choice.workloads = read_texts(in);
  choice.mig_profiles = read_texts(in);
  choice.nodes = in.whole();
  return choice;
}

template <class T, class Write>
void write_optional(LineWriter& out, const std::optional<T>& value, Write write_value) {
  out.flag(value.has_value());
  if (value) write_value(*value);
}

void write(LineWriter& out, const OptionFigures& figures) {
  const auto money = [&](Usd usd) { out.number(usd.nano); };
  out.number(figures.replications);
  money(figures.monthly);
  money(figures.total);
  write_optional(out, figures.per_1k_in_slo, money);
  write_optional(out, figures.per_job, money);
  out.number(static_cast<std::int64_t>(figures.objectives.size()));
  for (const PlannedObjective& objective : figures.objectives) {
    out.text(objective.workload);
    out.text(objective.name);
    out.value(objective.limit);
    out.value(objective.value);
    write_optional(out, objective.ci95, [&](const auto& ci) { out.value(ci); });
    out.flag(objective.at_least);
    out.flag(objective.pass);
  }
  out.real(figures.worst_ratio);
  write_optional(out, figures.latency_p99, [&](Duration d) { out.number(d.ns); });
  out.real(figures.gpu_busy);
  out.real(figures.failed);
  out.real(figures.oom_kills);
  out.number(figures.running_max);
  out.number(figures.pending_max);
  write_texts(out, figures.denied_by);
  write_texts(out, figures.warned_by);
  out.number(static_cast<std::int64_t>(figures.verdict.reasons.size()));
  for (const Verdict::Reason& reason : figures.verdict.reasons) {
    out.text(cause_name(reason.cause));
    out.text(reason.workload);
    out.text(reason.brief);
    out.text(reason.text);
  }
}

OptionFigures read_figures(LineReader& in) {
  OptionFigures figures;
  figures.replications = in.whole();
  figures.monthly = {in.number()};
  figures.total = {in.number()};
  if (in.flag()) figures.per_1k_in_slo = Usd{in.number()};
  if (in.flag()) figures.per_job = Usd{in.number()};
  for (std::int64_t n = in.items(); n > 0; --n) {
    PlannedObjective objective;
    objective.workload = in.text();
    objective.name = in.text();
    objective.limit = in.value();
    objective.value = in.value();
    if (in.flag()) objective.ci95 = in.value();
    objective.at_least = in.flag();
    objective.pass = in.flag();
    figures.objectives.push_back(std::move(objective));
  }
  figures.worst_ratio = in.real();
  if (in.flag()) figures.latency_p99 = Duration{in.number()};
  figures.gpu_busy = in.real();
  figures.failed = in.real();
  figures.oom_kills = in.real();
  figures.running_max = in.number();
  figures.pending_max = in.number();
  figures.denied_by = read_texts(in);
  figures.warned_by = read_texts(in);
  for (std::int64_t n = in.items(); n > 0; --n) {
    Verdict::Reason reason;
    reason.cause = cause_named(in.text()).value_or(Verdict::Cause::NothingRan);
    reason.workload = in.text();
    reason.brief = in.text();
    reason.text = in.text();
    figures.verdict.reasons.push_back(std::move(reason));
  }
  return figures;
}

}  // namespace

std::string probe_line(const PlanProbe& probe) {
  LineWriter out;
  out.number(static_cast<std::int64_t>(probe.pools.size()));
  for (const PoolChoice& choice : probe.pools) write(out, choice);
  out.number(probe.replications);
  out.text(probe.input);
  out.real(probe.factor);
  return out.line();
}

std::optional<PlanProbe> read_probe(std::string_view line) {
  LineReader in(line);
  PlanProbe probe;
  for (std::int64_t n = in.items(); n > 0; --n) probe.pools.push_back(read_choice(in));
  probe.replications = in.whole();
  probe.input = in.text();
  probe.factor = in.real();
  return in.done() ? std::optional(std::move(probe)) : std::nullopt;
}

std::string answer_line(const PlanAnswer& answer) {
  LineWriter out;
  write_optional(out, answer.figures, [&](const OptionFigures& f) { write(out, f); });
  out.text(answer.code ? info(*answer.code).name : "");
  out.text(answer.refused);
  return out.line();
}

std::optional<PlanAnswer> read_answer(std::string_view line) {
  LineReader in(line);
  PlanAnswer answer;
  if (in.flag()) answer.figures = read_figures(in);
  const std::string code = in.text();
  const auto* known = std::ranges::find(kCodes, std::string_view(code), &CodeInfo::name);
  if (known != kCodes.end()) answer.code = known->code;
  answer.refused = in.text();
  return in.done() ? std::optional(std::move(answer)) : std::nullopt;
}

}  // namespace slicewise::sim
