#pragma once

#include <limits>
#include <string>
#include <vector>

#include "slicewise/scenarios/quantity.hpp"

#include "../commands.hpp"
#include "../options.hpp"

// The verb that replays traces of jobs, for command_line.cpp.
namespace slicewise::tools {

// An option that takes several of a few words: "fifo,srtf".
template <class Value, std::size_t kCount>
void add_choices(CLI::App& app, const std::string& name,
                 const std::array<Choice<Value>, kCount>& choices, std::vector<Value>& target,
                 const std::string& description) {
  std::vector<std::string> words(kCount);
  std::ranges::transform(choices, words.begin(),
                         [](const Choice<Value>& choice) { return std::string(choice.word); });
  const auto assign = [&choices, &target, name, words](const std::vector<std::string>& given) {
    for (const std::string& word : given) {
      const auto found = std::ranges::find(choices, word, &Choice<Value>::word);
      if (found == choices.end()) {
        throw CLI::ValidationError(name, "\"" + word + "\" is not one of " + joined(words, ", ") +
                                             did_you_mean(word, words));
      }
      target.push_back(found->value);
    }
  };
  app.add_option_function<std::vector<std::string>>(name, assign, description)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(joined(words, "|"));
}

inline void add_shift(CLI::App& verb, std::optional<Duration>& shift) {
  const auto assign = [&shift](const std::string& text) {
    const auto value = scenarios::parse_duration(text);
    if (!value) throw CLI::ValidationError("--shift", value.error().message);
    shift = *value;
  };
  verb.add_option_function<std::string>("--shift", assign, "Time between repetitions: 137d")
      ->type_name("DURATION");
}

inline void add_inflate(CLI::App& verb, std::optional<int>& inflate) {
  const auto assign = [&inflate](std::string text) {
    if (text.ends_with('%')) text.pop_back();
    const auto value = whole_number(text, 1, 1'000);
    if (!value) throw CLI::ValidationError("--inflate", value.error());
    inflate = static_cast<int>(*value);
  };
  verb.add_option_function<std::string>(
          "--inflate", assign,
          "Let jobs arrive and stay until they ask for this share of all GPUs: 130%")
      ->type_name("PERCENT");
}

inline void add_replay(CLI::App& app, ReplayCommand& replay, CommonFlags& flags) {
  CLI::App& verb = add_verb(
      app, "replay", "Replay a trace of jobs under one or several schedulers",
      "  slicewise replay -f scenarios/examples/logs/team-replay.yaml\n"
      "  slicewise replay -f scenarios/examples/logs/team-trace.csv --gpus 24 --queue fifo,easy\n"
      "  slicewise replay -f scenarios/examples/logs/team-trace.csv --nodes 3x8 --inflate 130% "
      "--placement best-fit,fgd",
      flags);
  add_text(verb, kFileNames, replay.file, "FILE",
           "Trace that `slicewise import` wrote (also .gz, .zst), or a file of kind: Replay; - for "
           "standard input")
      ->required();
  add_number(verb, "--gpus", 1, 1'000'000'000, replay.gpus,
             "One pool of GPUs, any job takes any of them");
  add_text(verb, "--nodes", replay.nodes, "FILE",
           "CSV of nodes (name,cpu_milli,memory_mib,gpu,model), or 250x8: nodes x GPUs");
  verb.add_option("--instances", replay.instances, "Instance types and counts: p3.16xlarge=250")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("TYPE=N");
  add_text(verb, "--region", replay.region, "REGION",
           "Whose on-demand prices --instances cost (default us-east-1)");
  add_prices(verb, replay.prices);
  verb.add_flag("--any-gpu", replay.any_gpu, "Jobs take GPUs of any model, whatever they ask for");
  add_choices(verb, "--queue", kQueuePolicies, replay.queues,
              "Which waiting job goes next; several to compare (default fifo)");
  add_choices(verb, "--placement", kNodePolicies, replay.placements,
              "Which node a job gets; several to compare (default best-fit)");
  verb.add_flag("--restart-preempted", replay.restart_preempted,
                "Preempted jobs start over instead of going on");
  add_number(verb, "--repeat", 1, 1'000'000, replay.repeat, "Replay the trace this many times");
  add_shift(verb, replay.shift);
  add_inflate(verb, replay.inflate);
  add_number(verb, "--seed", 0, std::numeric_limits<std::int64_t>::max(), replay.seed,
             "Seed of the random numbers (default 42)");
  add_number(verb, "--replications", 1, 1'000, replay.replications,
             "Seeds of --inflate (default 1)");
  add_choice(verb, "-o,--output", kRunFormats, replay.format, "Format (default table)");
  add_text(verb, "--job-times", replay.job_times, "FILE",
           "Write start and end of each job under the first scheduler here");
  add_text(verb, "--out", replay.out, "FILE", "Write here instead of standard output");
  add_number(verb, "-j,--jobs", 1, 1'024, replay.jobs,
             "Threads; never changes the result (default: all CPUs)");
  add_choice(verb, "--progress", kProgress, replay.progress,
             "Progress on standard error (default auto)");
}

}  // namespace slicewise::tools
