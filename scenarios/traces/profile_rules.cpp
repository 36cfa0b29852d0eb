#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "slicewise/split_mix.hpp"

#include "job_trace.hpp"

// Which profiles of the catalogue jobs of a trace get.
namespace slicewise::scenarios {
namespace {

using Subject = ProfileRule::Subject;

constexpr std::pair<std::string_view, Subject> kSubjects[] = {{"name", Subject::Name},
                                                              {"user", Subject::User},
                                                              {"group", Subject::Group},
                                                              {"project", Subject::Project},
                                                              {"use", Subject::Use}};

// Tried on all ways at once: a pattern takes time that is linear in the name (libstdc++).
constexpr auto kLinear =
    std::regex::ECMAScript | std::regex::nosubs | std::regex_constants::__polynomial;
constexpr std::size_t kLongestPattern = 1'000;

std::optional<double> share_of(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fine = failure == std::errc() && end == text.data() + text.size();
  return fine && value >= 0 && value < 1e9 ? std::optional(value) : std::nullopt;
}

// "PROFILE*3|OTHER"; empty where one of them is wrong.
std::vector<ProfileRule::Choice> choices_of(std::string_view text) {
  std::vector<ProfileRule::Choice> choices;
  while (!text.empty()) {
    const std::size_t bar = std::min(text.find('|'), text.size());
    const std::string_view one = text.substr(0, bar);
    text.remove_prefix(std::min(bar + 1, text.size()));
    const std::size_t star = std::min(one.find('*'), one.size());
    const auto weight = star == one.size() ? 1.0 : share_of(one.substr(star + 1));
    if (star == 0 || !weight || *weight <= 0) return {};
    choices.push_back({std::string(one.substr(0, star)), *weight});
  }
  return choices;
}

// A number from 0 to 1 for each row.
double draw_of(std::uint64_t seed, std::size_t row) {
  return static_cast<double>(split_mix(seed + kSplitMixStep * row) >> 11U) * 0x1p-53;
}

// A rule on the names of one trace: a pattern is tried once on each of them.
class RuleOnTrace {
 public:
  RuleOnTrace(const ProfileRule& rule, const JobTrace& trace, NamePool& names)
      : rule_(rule), trace_(trace), fits_(trace.names.size(), Fits::NotAsked) {
    if (rule.is_pattern) pattern_.emplace(rule.value, kLinear);
    for (const ProfileRule::Choice& choice : rule.choices) {
      sum_ += choice.weight;
      profiles_.emplace_back(names.number_of(choice.profile), sum_);
    }
  }

  bool fits(std::size_t row) {
    if (rule_.subject == Subject::Use) {
      if (trace_.gpu_permille.empty() || trace_.gpu_permille[row] < 0) return false;
      const double use = trace_.gpu_permille[row] / 1000.0;
      return use >= rule_.least && use < rule_.below;
    }
    const auto* column = column_of();
    return column != nullptr && fits_name((*column)[row]);
  }

  std::uint32_t draw(std::uint64_t seed, std::size_t row) const {
    const double drawn = draw_of(seed, row) * sum_;
    const auto chosen = std::ranges::find_if(
        profiles_, [&](const auto& profile) { return drawn < profile.second; });
    return chosen == profiles_.end() ? profiles_.back().first : chosen->first;
  }

 private:
  enum class Fits : std::uint8_t { NotAsked, Yes, No };

  const TraceColumn<std::uint32_t>* column_of() const {
    const TraceColumn<std::uint32_t>* column = nullptr;
    switch (rule_.subject) {
      case Subject::Name:
        column = trace_.work.empty() ? &trace_.id : &trace_.work;
        break;
      case Subject::User:
        column = &trace_.user;
        break;
      case Subject::Group:
        column = &trace_.group;
        break;
      case Subject::Project:
        column = &trace_.project;
        break;
      case Subject::Use:
        break;
    }
    return column == nullptr || column->empty() ? nullptr : column;
  }

  bool fits_name(std::uint32_t name) {
    Fits& known = fits_[name];
    if (known == Fits::NotAsked) {
      // What is longer is no name, and would cost the pattern its stack.
      constexpr std::size_t kLongest = 1'000;
      const std::string text = trace_.names[name].substr(0, kLongest);
      const bool yes = pattern_ ? std::regex_match(text, *pattern_) : text == rule_.value;
      known = yes ? Fits::Yes : Fits::No;
    }
    return known == Fits::Yes;
  }

  const ProfileRule& rule_;
  const JobTrace& trace_;
  std::optional<std::regex> pattern_;
  std::vector<Fits> fits_;                                  // by name
  std::vector<std::pair<std::uint32_t, double>> profiles_;  // names, and the weights up to them
  double sum_ = 0;
};

}  // namespace

Expected<ProfileRule> read_profile_rule(const std::string& text, const SourceLocation& where) {
  const auto refuse = [&](const std::string& why) {
    return failure(Code::ValueRange, where, fmt::format("\"{}\": {}", text, why),
                   "write name~=bert.*:PROFILE, user=ana:PROFILE, use=0.2..0.5:PROFILE, or draw "
                   "with name~=.*:PROFILE*3|OTHER; slicewise get profiles lists them");
  };
  ProfileRule rule;
  rule.text = {text, where};
  const std::size_t equals = text.find('=');
  // Names of profiles have no colon, patterns may.
  const std::size_t colon = text.rfind(':');
  if (equals == std::string::npos || equals == 0 || colon == std::string::npos || colon < equals) {
    return refuse("no rule");
  }
  rule.is_pattern = text[equals - 1] == '~';
  const std::string subject = text.substr(0, equals - (rule.is_pattern ? 1 : 0));
  const auto* const known = std::ranges::find(
      kSubjects, subject, [](const auto& each) { return std::string(each.first); });
  if (known == std::end(kSubjects)) {
    return refuse(fmt::format("\"{}\" is none of name, user, group, project and use", subject));
  }
  rule.subject = known->second;
  rule.value = text.substr(equals + 1, colon - equals - 1);
  rule.choices = choices_of(std::string_view(text).substr(colon + 1));
  if (rule.choices.empty()) return refuse("no profile, or a weight that is no number above zero");
  if (rule.subject == Subject::Use) {
    const std::size_t dots = rule.value.find("..");
    if (rule.is_pattern || dots == std::string::npos)
      return refuse("use is from one share to another");
    const auto least = share_of(std::string_view(rule.value).substr(0, dots));
    const auto below = share_of(std::string_view(rule.value).substr(dots + 2));
    if (!least || !below || *least >= *below) return refuse("use is from one share to another");
    rule.least = *least;
    // All of the time is among those that are busy the most.
    rule.below = *below >= 1 ? 2 : *below;
  }
  if (!rule.is_pattern) return rule;
  if (rule.value.size() > kLongestPattern) return refuse("a pattern of more than 1000 letters");
  try {
    const std::regex pattern(rule.value, kLinear);
  } catch (const std::regex_error& error) {
    return refuse(error.code() == std::regex_constants::error_complexity
                      ? "a pattern with a back-reference, which takes any time"
                      : "no regular expression");
  }
  return rule;
}

Expected<std::vector<ProfileRule>> read_profile_rules(const SourceText& source) {
  std::vector<ProfileRule> rules;
  Diagnostics problems;
  std::size_t begin = 0;
  for (int line = 1; begin < source.text.size(); ++line) {
    const std::size_t end = std::min(source.text.find('\n', begin), source.text.size());
    std::string text = source.text.substr(begin, end - begin);
    begin = end + 1;
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty() || text.starts_with('#')) continue;
    auto rule = read_profile_rule(text, {source.name, line, 1, 1});
    if (rule) {
      rules.push_back(std::move(*rule));
    } else {
      problems.insert(problems.end(), rule.error().begin(), rule.error().end());
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return rules;
}

std::int64_t give_profiles(JobTrace& trace, std::span<const ProfileRule> rules,
                           std::uint64_t seed) {
  if (rules.empty()) return 0;
  std::vector<std::uint32_t> profiles(trace.profile.values().begin(), trace.profile.values().end());
  profiles.resize(trace.size());
  NamePool names(trace.names);
  std::vector<RuleOnTrace> on_trace;
  on_trace.reserve(rules.size());
  for (const ProfileRule& rule : rules) on_trace.emplace_back(rule, trace, names);
  std::int64_t without = 0;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    if (trace.gpus[row] == 0 || profiles[row] != 0) continue;
    const auto rule =
        std::ranges::find_if(on_trace, [row](RuleOnTrace& each) { return each.fits(row); });
    if (rule != on_trace.end()) {
      profiles[row] = rule->draw(seed, row);
    } else {
      ++without;
    }
  }
  trace.profile = {.owned = std::move(profiles), .mapped = {}};
  return without;
}

}  // namespace slicewise::scenarios
