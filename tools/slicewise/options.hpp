#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"
#include "slicewise/sim/bill_groups.hpp"
#include "slicewise/sim/run_size.hpp"

#include "choices.hpp"
#include "command_line.hpp"
#include "commands.hpp"

// Options as all verbs have them, on top of CLI11. A verb's file adds its flags with them.
namespace slicewise::tools {

// Flags that most verbs have: a verb's help only names them, `help flags` says what they do.
inline constexpr const char* kCommonFlags = "Common flags";

// Examples come before everything else: they answer most questions.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(34);
    label("SUBCOMMAND", "VERB");
  }
  std::string make_description(const CLI::App* app) const override {
    const std::string examples = app->get_footer();
    return app->get_description() + "\n\n" +
           (examples.empty() ? "" : "Examples:\n" + examples + "\n\n");
  }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if (group != kCommonFlags) {
      return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
    }
    std::vector<std::string> names;
    names.reserve(options.size());
    for (const CLI::Option* option : options) names.push_back(option->get_name(false, true));
    return "\n" + group + " (slicewise help flags):\n  " + joined(names, ", ") + "\n";
  }
  std::string common_flags(const CLI::App* verb) const {
    std::string out = "Flags that most verbs have:\n";
    for (const CLI::Option* option : verb->get_options()) {
      if (option->get_group() == kCommonFlags) out += make_option(option, false);
    }
    return out;
  }
  // What is a positional too is described there.
  // What add_more_files adds is the same argument again.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    constexpr std::string_view kAgain = " [...]";
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (const std::size_t at = usage.find(kAgain); at != std::string::npos) {
      usage.erase(at, kAgain.size());
    }
    return usage;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    if (is_positional || !option->get_positional()) {
      return CLI::Formatter::make_option(option, is_positional);
    }
    std::stringstream out;
    CLI::detail::format_help(out, make_option_name(option, false) + " " + option->get_type_name(),
                             "The same as a flag", get_column_width());
    return out.str();
  }
  std::string make_footer(const CLI::App* app) const override {
    return app->get_parent() == nullptr ? "SLICEWISE_<FLAG> variables stand in for flags that are "
                                          "absent: SLICEWISE_SEED=7.\n"
                                          "slicewise VERB --help, slicewise help flags, slicewise "
                                          "help exit-codes\n"
                                        : "";
  }
};

template <class Value, std::size_t kCount>
std::vector<std::string> words_of(const std::array<Choice<Value>, kCount>& choices) {
  std::vector<std::string> words;
  words.reserve(kCount);
  for (const Choice<Value>& choice : choices) words.emplace_back(choice.word);
  return words;
}

// What the word of an option stands for.
template <class Value, std::size_t kCount>
Value chosen(const std::string& option, const std::array<Choice<Value>, kCount>& choices,
             const std::string& word) {
  for (const Choice<Value>& choice : choices) {
    if (is_spelling_of(word, choice.word)) return choice.value;
  }
  const std::vector<std::string> words = words_of(choices);
  throw CLI::ValidationError(
      option, "\"" + word + "\" is not one of " + joined(words, ", ") + did_you_mean(word, words));
}

// An option that takes one of a few words. `choices` lives as long as the program. "{}" in the
// description is the word of the value in force without the flag.
template <class Value, std::size_t kCount, class Target>
CLI::Option* add_choice(CLI::App& app, const std::string& names,
                        const std::array<Choice<Value>, kCount>& choices, Target& target,
                        const std::string& description) {
  const auto assign = [&choices, &target,
                       shown = names.substr(names.starts_with("-") ? names.find("--") : 0)](
                          const std::string& word) { target = chosen(shown, choices, word); };
  std::string described = description;
  if (const std::size_t at = description.find("{}"); at != std::string::npos) {
    described.replace(at, 2, std::ranges::find_if(choices, [&](const auto& choice) {
                               return target == choice.value;
                             })->word);
  }
  return app.add_option_function<std::string>(names, assign, described)
      ->type_name(joined(words_of(choices), "|"));
}

template <class Value, std::size_t kCount, class Target>
CLI::Option* add_format(CLI::App& verb, const std::array<Choice<Value>, kCount>& formats,
                        Target& target, const std::string& remark = {}) {
  return add_choice(verb, "-o,--output", formats, target, "Format (default {})" + remark);
}

inline CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& description,
                          const std::string& examples, CommonFlags& flags) {
  CLI::App& verb = *app.add_subcommand(name, description);
  verb.footer(examples)->group("Verbs");
  // Makes CLI11 read the environment for the verb that was called only.
  verb.parse_complete_callback([] {});
  add_choice(verb, "--color", kColors, flags.color, "Colour (default {}: on a terminal)")
      ->group(kCommonFlags);
  verb.add_flag("-q,--quiet", flags.quiet, "Print errors only on standard error")
      ->group(kCommonFlags);
  return verb;
}

// Of verbs that read the catalogue.
inline void add_catalogue(CLI::App& verb, CommonFlags& flags) {
  verb.add_option("--catalogue,--profiles", flags.catalogues,
                  "GPUs, instance types, prices, profiles of your own, laid over those that ship "
                  "(slicewise schema catalogue); a folder is all its files")
      ->type_name("FILE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kCommonFlags);
}

inline CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& target,
                             const std::string& type, const std::string& description) {
  return app.add_option(names, target, description)->type_name(type);
}

inline const std::string& message_of(const std::string& error) { return error; }
inline const std::string& message_of(const scenarios::QuantityError& error) {
  return error.message;
}

// An option whose text `parse` reads for `take`, or says what is wrong with it.
template <class Parse, class Take>
CLI::Option* add_read(CLI::App& app, const std::string& names, const std::string& type,
                      const std::string& description, const Parse& parse, const Take& take) {
  const auto assign = [shown = names.substr(names.find("--")), parse,
                       take](const std::string& text) {
    const auto value = parse(text);
    if (!value) throw CLI::ValidationError(shown, message_of(value.error()));
    take(*value);
  };
  return app.add_option_function<std::string>(names, assign, description)->type_name(type);
}

// ... that takes several with commas between them.
template <class Parse, class Take>
void add_all_read(CLI::App& app, const std::string& flag, const std::string& type,
                  const std::string& description, const Parse& parse, const Take& take) {
  const auto assign = [flag, parse, take](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto value = parse(word);
      if (!value) throw CLI::ValidationError(flag, message_of(value.error()));
      take(*value);
    }
  };
  app.add_option_function<std::vector<std::string>>(flag, assign, description)
      ->type_name(type)
      ->delimiter(',')
      ->allow_extra_args(false);
}

inline auto whole_numbers(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) { return whole_number(text, low, high); };
}

// An option that takes a whole number. int64_t holds every bound.
template <class Target>
CLI::Option* add_number(CLI::App& app, const std::string& names, std::int64_t low,
                        std::int64_t high, Target& target, const std::string& description) {
  return add_read(app, names, "N", description, whole_numbers(low, high),
                  [&target](std::int64_t value) {
                    if constexpr (std::is_arithmetic_v<Target>) {
                      target = static_cast<Target>(value);
                    } else {
                      target = static_cast<typename Target::value_type>(value);
                    }
                  });
}

// A flag that takes several names with commas between them.
inline void add_names(CLI::App& verb, const std::string& flag, const std::string& type,
                      std::vector<std::string>& names, const std::string& description) {
  verb.add_option(flag, names, description)
      ->type_name(type)
      ->delimiter(',')
      ->allow_extra_args(false);
}

// ... several whole numbers.
inline void add_numbers(CLI::App& verb, const std::string& flag, std::int64_t low,
                        std::int64_t high, std::vector<int>& numbers,
                        const std::string& description) {
  add_all_read(verb, flag, "N,...", description, whole_numbers(low, high),
               [&numbers](std::int64_t value) { numbers.push_back(static_cast<int>(value)); });
}

// An option that takes a share above zero: "2%".
template <class Target>
CLI::Option* add_percent(CLI::App& app, const std::string& names, Target& target,
                         const std::string& description, bool may_be_zero = false) {
  return add_read(
      app, names, "PERCENT", description,
      [may_be_zero](const std::string& text) { return percentage(text, may_be_zero); },
      [&target](double share) { target = share; });
}

// A file that a verb reads is named with or without the flag.
inline constexpr const char* kFileNames = "-f,--file,file";

// ... and any number of them without: with it each takes one, so that what follows may be another
// argument. Call it right after the option of kFileNames.
inline void add_more_files(CLI::App& verb, std::vector<std::string>& files) {
  const auto append = [&files](const std::vector<std::string>& more) {
    files.insert(files.end(), more.begin(), more.end());
  };
  verb.add_option_function<std::vector<std::string>>("more", append)->type_name("FILE")->group("");
}

inline CLI::Option* add_out(CLI::App& verb, std::string& file) {
  return add_text(verb, "--out", file, "FILE", "Write here instead of standard output");
}

inline CLI::Option* add_set(CLI::App& verb, std::vector<std::string>& set) {
  return verb.add_option("--set", set, "Change the scenario first: workloads.train.count=3")
      ->type_name("PATH=VALUE")
      ->check(CLI::Validator(check_setting, ""))
      ->allow_extra_args(false);
}

inline void add_scenario_flags(CLI::App& verb, std::string& file, std::vector<std::string>& set,
                               std::string& out) {
  add_text(
      verb, kFileNames, file, "FILE",
      "Scenario to read, or an option of a plan (plan.json#2) or what a step of its path leaves "
      "(plan.json#step1); - for standard input")
      ->required();
  add_set(verb, set)->group(kCommonFlags);
  add_out(verb, out)->group(kCommonFlags);
}

inline void add_prices(CLI::App& verb, std::string& target) {
  add_text(verb, "--prices", target, "FILE", "JSON file of prices that replace the catalogue's")
      ->group(kCommonFlags);
}

inline void add_junit(CLI::App& verb, std::string& file) {
  add_text(verb, "--junit", file, "FILE",
           "Write objectives and policies as JUnit test cases as well");
}

inline void add_journal(CLI::App& verb, std::string& file) {
  add_text(verb, "--journal", file, "FILE",
           "Keep every simulation in this file as it ends, and do not repeat those it holds: a run "
           "that was killed goes on");
}

inline CLI::Option* add_seed(CLI::App& verb, std::optional<std::uint64_t>& seed,
                             std::string_view usual = ": the scenario's") {
  return add_number(verb, "--seed", 0, std::numeric_limits<std::int64_t>::max(), seed,
                    fmt::format("Seed of the random numbers (default{})", usual));
}

inline CLI::Option* add_runs(CLI::App& verb, std::optional<int>& runs) {
  return add_number(verb, "--replications", 1, 100'000, runs,
                    "Independent runs (default: the scenario's)");
}

inline void add_replications(CLI::App& verb, SimulatingCommand& command) {
  add_seed(verb, command.seed)->group(kCommonFlags);
  add_runs(verb, command.replications)->group(kCommonFlags);
}

inline CLI::Option* add_threads(CLI::App& verb, int& threads) {
  return add_number(verb, "-j,--jobs", 1, 1'024, threads,
                    "Threads; never changes the result (default: all CPUs)");
}

inline CLI::Option* add_one_variant(CLI::App& verb, std::string& name) {
  return add_text(verb, "--variant", name, "NAME", "Which variant (default: the first)");
}

// Of verbs that judge pods, see sim::judge().
inline void add_allow_pending(CLI::App& verb, bool& allow) {
  verb.add_flag("--allow-pending", allow, "Pods left Pending at the end do not count as lost");
}

// By what bills are split, and how they are added up.
inline void add_split(CLI::App& verb, std::optional<scenarios::CostSplit>& split) {
  add_choice(verb, "--split", kCostSplits, split,
             "By what the bill is split over workloads (default: the scenario's)");
}

inline void add_group_by(CLI::App& verb, std::string& by) {
  const auto check = [](std::string& text) {
    return sim::is_grouping(text)
               ? std::string()
               : "\"" + text + "\" is not one of workload, namespace, user, label:NAME";
  };
  add_text(verb, "--group-by", by, "KEY",
           "Add the bill up by workload, namespace, user or label:NAME")
      ->check(CLI::Validator(check, ""));
}

// What a replication may take, by the estimate before it.
inline void add_size_limits(CLI::App& verb, sim::SizeLimits& limits) {
  add_number(verb, "--max-events", 1, std::numeric_limits<std::int64_t>::max(), limits.events,
             fmt::format("Refuse a replication that is estimated to have more events (default "
                         "{:.0f})",
                         limits.events))
      ->group(kCommonFlags);
  add_read(verb, "--max-memory", "BYTES",
           fmt::format("Refuse a replication that is estimated to take more memory (default {}Gi)",
                       limits.memory.count >> 30),
           scenarios::parse_bytes, [&limits](Bytes most) { limits.memory = most; })
      ->group(kCommonFlags);
}

inline CLI::Option* add_progress(CLI::App& verb, ProgressChoice& progress) {
  return add_choice(verb, "--progress", kProgress, progress,
                    "Progress on standard error (default {}: a bar on a terminal, else a line "
                    "now and then)");
}

inline void add_prices_and_progress(CLI::App& verb, SimulatingCommand& command) {
  add_prices(verb, command.prices);
  add_threads(verb, command.jobs)->group(kCommonFlags);
  add_size_limits(verb, command.limits);
  add_progress(verb, command.progress)->group(kCommonFlags);
}

// How Services and language models may serve, of verbs that try it.
inline void add_serving_ways(CLI::App& verb, sim::ServingWays& ways,
                             const std::string& usual = "the scenario's") {
  add_numbers(verb, "--tensor-parallel", 1, 64, ways.tensor_parallel,
              "GPUs that share each language model, which are tried: 1,2,4,8 (default: as many as "
              "its pods ask for)");
  add_numbers(verb, "--max-batch", 1, 10'000, ways.max_batches,
              "Requests that the GPU answers in one go at most, of each other Service, which are "
              "tried: 1,4,8 (default: " +
                  usual + ")");
  add_all_read(
      verb, "--max-delay", "TIME,...",
      "How long a batch that is not full waits, which are tried: 0ms,5ms (default: " + usual + ")",
      scenarios::parse_duration, [&ways](Duration delay) { ways.max_delays.push_back(delay); });
  add_numbers(
      verb, "--concurrency", 1, 1'000'000, ways.concurrencies,
      "Requests that a pod works on at a time, which are tried: 1,4 (default: " + usual + ")");
}

// Flags of the verbs that simulate one variant in several ways: before their own, and after them.
template <std::size_t kCount>
void begin_study(CLI::App& verb, const std::array<Choice<RunFormat>, kCount>& formats,
                 StudyCommand& command) {
  add_scenario_flags(verb, command.file, command.set, command.out);
  add_format(verb, formats, command.format);
  if (formats.back().value == RunFormat::Junit) add_junit(verb, command.junit);
  add_one_variant(verb, command.variant);
}

inline void end_study(CLI::App& verb, StudyCommand& command, CommonFlags& flags) {
  add_journal(verb, command.journal);
  add_allow_pending(verb, command.allow_pending);
  add_replications(verb, command);
  add_prices_and_progress(verb, command);
  add_catalogue(verb, flags);
}

}  // namespace slicewise::tools
