#include "command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "slicewise/nearest_name.hpp"
#include "slicewise/scenarios/quantity.hpp"

#include "environment.hpp"
#include "files.hpp"
#include "host.hpp"
#include "options.hpp"

namespace slicewise::tools {

tl::expected<std::int64_t, std::string> whole_number(const std::string& text, std::int64_t low,
                                                     std::int64_t high) {
  std::int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < low || value > high) {
    return tl::unexpected("\"" + text + "\" is not a whole number from " + std::to_string(low) +
                          " to " + std::to_string(high));
  }
  return value;
}

tl::expected<double, std::string> percentage(const std::string& text, bool may_be_zero) {
  constexpr double kLeast = 0.001;
  const auto share = scenarios::parse_percent(text);
  const bool is_zero = share && *share <= 0;
  if (!share || (*share < kLeast && !(is_zero && may_be_zero))) {
    const bool lacks_sign = !text.ends_with('%') && scenarios::parse_percent(text + "%");
    return tl::unexpected("\"" + text + "\" is not a percentage from " +
                          (may_be_zero ? "0%" : "0.1%") + " to 100%" +
                          (lacks_sign ? "; did you mean \"" + text + "%\"?" : ""));
  }
  return *share;
}

tl::expected<double, std::string> positive_factor(const std::string& text) {
  constexpr double kMost = 1e6;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !(value > 0) || value > kMost) {
    return tl::unexpected("\"" + text + "\" is not a number above 0 and up to 1000000");
  }
  return value;
}

std::string check_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size()) return "";
  return "\"" + text + "\" is not PATH=VALUE (workloads.train.count=3; null removes a field)";
}

std::vector<std::string> names_of(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names(commands.size());
  std::ranges::transform(commands, names.begin(), &CommandInfo::name);
  return names;
}

std::vector<std::string> split_choices(const std::string& text) {
  std::vector<std::string> words;
  if (text.find('|') == std::string::npos) return words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '|');) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : separator) + word;
  }
  return text;
}

std::string positional_line(const CommandInfo& verb) {
  std::string line;
  for (const PositionalInfo& positional : verb.positionals) {
    std::string word = upper_case(positional.name);
    if (positional.several) word += "...";
    line += positional.required ? " " + word : " [" + word + "]";
  }
  return line;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = nearest_name(wrong, known);
  return nearest ? "; did you mean \"" + *nearest + "\"?" : "";
}

UsageError missing_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& message) {
  for (const PositionalInfo& positional : verb.positionals) {
    const std::vector<std::string> choices = split_choices(positional.value);
    if (!choices.empty() && message.starts_with(positional.name)) {
      return {message, full_name + positional_line(verb) + ", one of " + joined(choices, ", ")};
    }
  }
  const std::string help = "see " + full_name + " --help";
  return {message,
          verb.positionals.empty() ? help : full_name + positional_line(verb) + ", " + help};
}

UsageError unknown_argument(const CommandInfo& verb, const std::string& full_name,
                            const std::string& argument) {
  const std::string help = "see " + full_name + " --help";
  if (argument.starts_with("-")) {
    const std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> known;
    for (const FlagInfo& flag : verb.flags) {
      known.insert(known.end(), flag.names.begin(), flag.names.end());
    }
    return {"unknown flag " + name + did_you_mean(name, known), help};
  }
  const std::string quoted = "\"" + argument + "\"";
  if (!verb.commands.empty()) {
    const std::vector<std::string> known = names_of(verb.commands);
    return {"unknown verb " + quoted + did_you_mean(argument, known),
            "one of " + joined(known, ", ") + ", " + help};
  }
  return {"unexpected argument " + quoted, help};
}

namespace {

template <std::size_t... Verb>
std::vector<Command> each_verb(std::index_sequence<Verb...> /*verbs*/) {
  return {Command(std::in_place_index<Verb>)...};
}

// Everything that the flags are stored in.
struct Settings {
  CommonFlags flags;
  std::vector<Command> verbs =
      each_verb(std::make_index_sequence<std::variant_size_v<Command> - 1>());  // but ShowText
  Shell shell = Shell::Bash;
  std::string help_topic;
};

void add_verbs(CLI::App& app, Settings& settings) {
  for (Command& verb : settings.verbs) {
    std::visit(
        [&](auto& its) {
          if constexpr (!std::is_same_v<decltype(its), ShowTextCommand&>) {
            add_flags(app, its, settings.flags);
          }
        },
        verb);
  }
}

// Verbs whose text is made while the command line is read.
void add_text_verbs(CLI::App& app, Settings& settings) {
  CLI::App& completion =
      add_verb(app, "completion", "Print the script that completes slicewise in a shell",
               "  source <(slicewise completion bash)", settings.flags);
  add_choice(completion, "shell", kShells, settings.shell, "Which shell")->required();

  add_verb(app, "man", "Print the manual page of all verbs", "  slicewise man | man -l -",
           settings.flags);

  CLI::App& help = add_verb(app, "help", "Explain a verb, the common flags or the exit codes",
                            "  slicewise help flags\n  slicewise help exit-codes", settings.flags);
  add_text(help, "topic", settings.help_topic, "TOPIC", "A verb, flags, or exit-codes");
}

// Gives every flag of every verb its variable, but for the scenario itself, and lists them all.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree of verbs
std::vector<std::string> read_environment(CLI::App& app) {
  std::vector<std::string> variables;
  for (CLI::Option* option : app.get_options([](CLI::Option* o) { return !o->get_positional(); })) {
    const std::string name = option->get_single_name();
    if (app.get_parent() != nullptr && name != "help" && name != "file") {
      variables.push_back(variable_of(name));
      option->envname(variables.back());
    }
  }
  for (CLI::App* verb : app.get_subcommands([](CLI::App* /*verb*/) { return true; })) {
    for (std::string& variable : read_environment(*verb)) variables.push_back(std::move(variable));
  }
  return variables;
}

FlagInfo flag_info(const CLI::Option& option) {
  FlagInfo flag;
  for (const std::string& name : option.get_lnames()) {
    flag.names.push_back("--" + name);
  }
  for (const std::string& name : option.get_snames()) {
    flag.names.push_back("-" + name);
  }
  flag.description = option.get_description();
  flag.takes_value = option.get_items_expected_max() > 0;
  flag.value = option.get_type_name();
  flag.takes_file = option.get_type_name() == "FILE";
  flag.choices = split_choices(option.get_type_name());
  return flag;
}

PositionalInfo positional_info(const CLI::Option& option) {
  return {.name = option.get_name(true),
          .value = option.get_type_name(),
          .description = option.get_description(),
          .required = option.get_required(),
          .several = option.get_items_expected_max() > 1};
}

CommandInfo command_info(const CLI::App& app) {
  CommandInfo info{.name = app.get_name(),
                   .description = app.get_description(),
                   .examples = app.get_footer(),
                   .flags = {},
                   .positionals = {},
                   .positional_choices = {},
                   .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && !option->get_group().empty()) {
      info.positionals.push_back(positional_info(*option));
      const std::vector<std::string> choices = split_choices(option->get_type_name());
      if (!choices.empty()) info.positional_choices = choices;
    }
    if (option->nonpositional()) info.flags.push_back(flag_info(*option));
  }
  for (const CLI::App* verb : app.get_subcommands({})) {
    info.commands.push_back(command_info(*verb));
  }
  return info;
}

const CLI::App& called(const CLI::App& app) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  return verbs.empty() ? app : called(*verbs.back());
}

std::string full_name(const CLI::App& app) {
  return (app.get_parent() == nullptr ? "" : full_name(*app.get_parent()) + " ") + app.get_name();
}

// "compare --help": the flag was read, but the word before it is no verb.
bool names_no_verb(const CLI::App& app) {
  return !command_info(called(app)).commands.empty() && !app.remaining(true).empty();
}

// "--no-split=5" was read as a count of flags.
void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_values_of_flags(*verb);
  }
}

UsageError explain_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = called(app);
  const std::vector<std::string> extra = app.remaining(true);
  if (!extra.empty()) {
    return unknown_argument(command_info(verb), full_name(verb), extra.front());
  }
  if (!command_info(verb).commands.empty()) {
    return {.message = full_name(verb) + " needs a verb",
            .help = "one of " + joined(names_of(command_info(verb).commands), ", "),
            .shown_first = verb.help()};
  }
  if (error.get_name() == "RequiredError") {
    return missing_argument(command_info(verb), full_name(verb), error.what());
  }
  std::string said = error.what();
  if (const auto at = said.find(" was given a disallowed flag override"); at != std::string::npos) {
    said = "--" + said.substr(0, at) + " takes no value";
  }
  return {std::move(said), "see " + full_name(verb) + " --help"};
}

tl::expected<Command, UsageError> help_command(const CLI::App& app, const std::string& topic) {
  if (topic == "exit-codes") {
    return ExplainCommand{topic, ""};
  }
  if (topic == "flags")
    return ShowTextCommand{HelpFormatter().common_flags(app.get_subcommand("run"))};
  if (topic.empty()) {
    return ShowTextCommand{
        app.get_formatter()->make_help(&app, "slicewise", CLI::AppFormatMode::Normal)};
  }
  std::vector<std::string> topics = names_of(command_info(app).commands);
  if (std::ranges::find(topics, topic) != topics.end()) {
    return ShowTextCommand{app.get_subcommand(topic)->help("slicewise")};
  }
  topics.insert(topics.end(), {"flags", "exit-codes"});
  return tl::unexpected(UsageError{"no help on \"" + topic + "\"" + did_you_mean(topic, topics),
                                   "topics: " + joined(topics, ", ")});
}

tl::expected<Command, UsageError> selected_command(const CLI::App& app, const Settings& settings) {
  const std::vector<const CLI::App*> all = app.get_subcommands({});
  const auto at = std::ranges::find(all, app.get_subcommands().front()) - all.begin();
  if (at < std::ssize(settings.verbs)) return settings.verbs[static_cast<std::size_t>(at)];
  const std::string& verb = all[static_cast<std::size_t>(at)]->get_name();
  if (verb == "man") return ShowTextCommand{man_page(command_info(app))};
  if (verb == "completion") {
    CommandInfo root = command_info(app);
    add_known_names(root);
    return ShowTextCommand{completion_script(root, settings.shell)};
  }
  return help_command(app, settings.help_topic);
}

// How a report is written, and by how many threads, changes nothing in it.
bool only_says_how(const std::string& flag) {
  static constexpr std::array kFlags = {"--output",   "--out",   "--junit", "--jobs",
                                        "--progress", "--quiet", "--color", "--journal"};
  return std::ranges::find(kFlags, flag) != kFlags.end();
}

std::string asked_of(const CLI::App& app) {
  std::string asked;
  for (const CLI::App* verb : app.get_subcommands()) {
    asked += verb->get_name();
    for (const CLI::Option* option : verb->get_options()) {
      if (option->count() == 0 || only_says_how(option->get_name())) continue;
      asked += " " + option->get_name() + "=" + joined(option->results(), ",");
    }
  }
  std::ranges::replace(asked, '\n', ' ');
  return asked;
}

// Whether a flag names what is written; of `report` after the format, html=page.html.
bool names_output(const std::string& flag) {
  static constexpr std::array kFlags = {"--out", "--junit", "--job-times", "--output"};
  return std::ranges::find(kFlags, flag) != kFlags.end();
}

// A file that the command reads and would write as well: what is read last would be lost.
std::optional<UsageError> overwritten_input(const CLI::App& app) {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      const std::string& flag = option->get_name();
      const bool is_output = names_output(flag);
      const bool is_input = !is_output && flag != "--journal" &&
                            option->get_type_name().find("FILE") != std::string::npos;
      if (!is_output && !is_input) continue;
      for (const std::string& text : option->results()) {
        const std::size_t file = flag == "--output" ? text.find('=') + 1 : 0;
        if (is_input) inputs.push_back(file_part(text).file);
        if (is_output && (flag != "--output" || file > 0)) outputs.push_back(text.substr(file));
      }
    }
  }
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(output, ignored) ||
          !std::filesystem::equivalent(output, input, ignored)) {
        continue;
      }
      return UsageError{
          fmt::format("\"{}\" is read by this command and would be overwritten", input),
          "write to another file"};
    }
  }
  return std::nullopt;
}

}  // namespace

tl::expected<Invocation, UsageError> parse_command_line(int argc, const char* const* argv) {
  CLI::App app(
      "Simulate GPU sharing on Amazon EKS: what it does to cost, throughput and latency,\n"
      "and what to apply to get it.",
      "slicewise");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "  slicewise run -f scenarios/examples/aws-cifar10.yaml\n"
      "  slicewise get instances --fits 20Gi --sort price\n"
      "  slicewise explain GPU_MEM_GREEDY");
  app.require_subcommand(1);
  app.set_version_flag("--version", "");
  Settings settings;
  add_verbs(app, settings);
  add_text_verbs(app, settings);
  refuse_values_of_flags(app);
  // The environment is that of the process: what a Host asks for depends on nothing else.
  const bool is_process = current_host() == nullptr;
  const std::vector<std::string> variables =
      is_process ? read_environment(app) : std::vector<std::string>();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    if (names_no_verb(app)) {
      return tl::unexpected(explain_error(app, help));
    }
    return Invocation{settings.flags, ShowTextCommand{app.help()}, {}};
  } catch (const CLI::CallForVersion&) {
    return Invocation{settings.flags, VersionCommand{}, {}};
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(explain_error(app, error));
  }
  if (is_process) {
    if (auto overwritten = overwritten_input(app)) return tl::unexpected(std::move(*overwritten));
  }
  settings.flags.asked = asked_of(app);
  auto command = selected_command(app, settings);
  if (!command) {
    return tl::unexpected(command.error());
  }
  return Invocation{settings.flags, std::move(*command),
                    is_process ? unknown_variables(variables) : std::vector<std::string>()};
}

}  // namespace slicewise::tools
