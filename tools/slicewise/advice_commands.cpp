#include "advice_commands.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "choices.hpp"

namespace slicewise::tools {
namespace {

// A flag as it was given, for the commands that people may repeat.
std::string flag_words(const std::string& flag, const std::vector<std::string>& values) {
  return values.empty() ? "" : fmt::format(" {} {}", flag, fmt::join(values, ","));
}

}  // namespace

std::string input_flags(const AdviseCommand& command, const CommonFlags& flags) {
  std::string text;
  for (const std::string& file : flags.catalogues) text += fmt::format(" --catalogue '{}'", file);
  const sim::SizeLimits usual;
  if (command.limits.events != usual.events) {
    text += fmt::format(" --max-events {:.0f}", command.limits.events);
  }
  if (command.limits.memory != usual.memory) {
    text += fmt::format(" --max-memory {}Ki", command.limits.memory.count >> 10U);
  }
  return text;
}

std::string shared_flags(const AdviseCommand& command, const CommonFlags& flags) {
  std::string text = input_flags(command, flags);
  for (const std::string& setting : command.set) text += fmt::format(" --set '{}'", setting);
  if (command.seed) text += fmt::format(" --seed {}", *command.seed);
  if (command.replications) text += fmt::format(" --replications {}", *command.replications);
  if (!command.prices.empty()) text += fmt::format(" --prices '{}'", command.prices);
  if (command.allow_pending) text += " --allow-pending";
  return text;
}

std::string plan_flags(const AdviseCommand& command, const CommonFlags& flags) {
  std::string text = flag_words("--instances", command.options.instance_types) +
                     flag_words("--purchase", command.options.purchases) +
                     flag_words("--strategies", command.options.strategies);
  const auto numbers = [&](const char* flag, const std::vector<int>& values) {
    if (!values.empty()) text += fmt::format(" {} {}", flag, fmt::join(values, ","));
  };
  numbers("--replicas", command.options.replicas);
  numbers("--tensor-parallel", command.options.serving.tensor_parallel);
  numbers("--max-batch", command.options.serving.max_batches);
  std::vector<std::string> delays;
  for (const Duration delay : command.options.serving.max_delays) {
    delays.push_back(fmt::format("{:.10g}ms", to_seconds(delay) * 1e3));
  }
  text += flag_words("--max-delay", delays);
  numbers("--concurrency", command.options.serving.concurrencies);
  const auto number = [&](const char* flag, const std::optional<int>& value) {
    if (value) text += fmt::format(" {} {}", flag, *value);
  };
  number("--max-nodes", command.options.max_nodes);
  number("--max-cost", command.max_cost);
  number("--vary-pods", command.vary_pods);
  number("--top", command.top);
  const auto word = [&](const char* flag, const auto& choices, const auto& value) {
    for (const auto& choice : choices) {
      if (value && choice.value == *value) text += fmt::format(" {} {}", flag, choice.word);
    }
  };
  word("--survive", kOutages, command.survive);
  word("--objective", kGoals, command.options.goal);
  if (command.no_split) text += " --no-split";
  if (command.no_headroom) text += " --no-headroom";
  if (command.no_risk) text += " --no-risk";
  if (command.no_flips) text += " --no-flips";
  return text + shared_flags(command, flags);
}

}  // namespace slicewise::tools
