#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "slicewise/filled_text.hpp"
#include "slicewise/models/catalogue.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/reports/reference.hpp"

#include "../command_line.hpp"
#include "embedded/completion_files.hpp"

namespace slicewise::tools {
namespace {

// A command and the words that lead to it: "" for the program, "/get/instances" below it.
struct Route {
  std::string path;
  const CommandInfo* command;
};

void collect(const CommandInfo& command, const std::string& path, std::vector<Route>& found) {
  found.push_back({path, &command});
  for (const CommandInfo& child : command.commands) {
    collect(child, path + "/" + child.name, found);
  }
}

// Every command of the tree, parents first. The pointers are into `root`.
std::vector<Route> routes(const CommandInfo& root) {
  std::vector<Route> found;
  collect(root, "", found);
  return found;
}

// Whether a file may come next.
bool takes_file(const CommandInfo& command) {
  return std::ranges::any_of(command.positionals,
                             [](const PositionalInfo& given) { return given.value == "FILE"; });
}

// What may follow a route: commands, positional choices and flags.
std::vector<std::string> next_words(const CommandInfo& command) {
  std::vector<std::string> words;
  for (const CommandInfo& child : command.commands) {
    words.push_back(child.name);
  }
  words.insert(words.end(), command.positional_choices.begin(), command.positional_choices.end());
  for (const FlagInfo& flag : command.flags) {
    words.insert(words.end(), flag.names.begin(), flag.names.end());
  }
  return words;
}

struct Dialect {
  std::string offer_words;  // followed by the quoted, space-separated words
  std::string after_words;
  std::string offer_files;
  std::string add_files;  // to the words that were offered
};

std::string known_routes(const std::vector<Route>& all) {
  std::vector<std::string> paths;
  for (const Route& route : all) {
    if (!route.path.empty()) {
      paths.push_back(route.path);
    }
  }
  return joined(paths, "|");
}

std::string offer(const Dialect& dialect, const std::vector<std::string>& words) {
  return dialect.offer_words + "'" + joined(words, " ") + "'" + dialect.after_words;
}

// The cases for the word after a flag that takes a value.
std::string value_cases(const std::vector<Route>& all, const Dialect& dialect) {
  std::string text;
  for (const Route& route : all) {
    for (const FlagInfo& flag : route.command->flags) {
      if (!flag.takes_value) {
        continue;
      }
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) {
        patterns.push_back("'" + route.path + " " + name + "'");
      }
      const std::string action = flag.takes_file        ? dialect.offer_files + "; return"
                                 : flag.choices.empty() ? std::string("return")
                                                        : offer(dialect, flag.choices) + "; return";
      text += "    " + joined(patterns, " | ") + ") " + action + " ;;\n";
    }
  }
  return text;
}

std::string route_cases(const std::vector<Route>& all, const Dialect& dialect) {
  std::string text;
  for (const Route& route : all) {
    text += "    '" + route.path + "') " + offer(dialect, next_words(*route.command)) +
            (takes_file(*route.command) ? "; " + dialect.add_files : "") + " ;;\n";
  }
  return text;
}

std::string script(std::string_view text, const CommandInfo& root, const Dialect& dialect) {
  const std::vector<Route> all = routes(root);
  return filled(text, {{"routes", known_routes(all)},
                       {"values", value_cases(all, dialect)},
                       {"words", route_cases(all, dialect)}});
}

std::string bash_completion(const CommandInfo& root) {
  return script(completion_files::bash_sh(), root,
                {.offer_words = "mapfile -t COMPREPLY < <(compgen -W ",
                 .after_words = " -- \"$current\")",
                 .offer_files = "mapfile -t COMPREPLY < <(compgen -f -- \"$current\")",
                 .add_files = "mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- "
                              "\"$current\")"});
}

std::string zsh_completion(const CommandInfo& root) {
  return script(completion_files::zsh_sh(), root,
                {.offer_words = "compadd -- ${=:-",
                 .after_words = "}",
                 .offer_files = "_files",
                 .add_files = "_files"});
}

std::string fish_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return "'" + escaped + "'";
}

// The fish condition that holds when the words so far lead to this route and no further.
std::string condition(const Route& route) {
  std::string text;
  std::string rest = route.path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    text += (text.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
            rest.substr(1, end - 1);
    rest.erase(0, end);
  }
  if (!route.command->commands.empty()) {
    text += (text.empty() ? "" : "; and ") + std::string("not __fish_seen_subcommand_from ") +
            joined(names_of(route.command->commands), " ");
  }
  return text;
}

std::string flag_arguments(const FlagInfo& flag) {
  std::string text;
  for (const std::string& name : flag.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (flag.takes_file) {
    text += " -r -F";
  } else if (flag.takes_value) {
    text += " -x";
  }
  if (!flag.choices.empty()) {
    text += " -a " + fish_quoted(joined(flag.choices, " "));
  }
  return text + " -d " + fish_quoted(flag.description);
}

std::string fish_completion(const CommandInfo& root) {
  std::string text;
  for (const Route& route : routes(root)) {
    const std::string start = "complete -c slicewise -n " + fish_quoted(condition(route));
    for (const CommandInfo& child : route.command->commands) {
      text += start + " -a " + child.name + " -d " + fish_quoted(child.description) + "\n";
    }
    if (!route.command->positional_choices.empty()) {
      text += start + " -a " + fish_quoted(joined(route.command->positional_choices, " ")) + "\n";
    }
    if (takes_file(*route.command)) text += start + " -F\n";
    for (const FlagInfo& flag : route.command->flags) {
      text += start + flag_arguments(flag) + "\n";
    }
  }
  return filled(completion_files::completions_fish(), {{"words", text}});
}

std::string list(const std::vector<std::string>& words) {
  return "@('" + joined(words, "', '") + "')";
}

std::string powershell_completion(const CommandInfo& root) {
  std::string words;
  std::string values;
  for (const Route& route : routes(root)) {
    words += "    '" + route.path + "' = " + list(next_words(*route.command)) + "\n";
    for (const FlagInfo& flag : route.command->flags) {
      for (const std::string& name : flag.names) {
        if (!flag.choices.empty()) {
          values += "    '" + route.path + " " + name + "' = " + list(flag.choices) + "\n";
        }
      }
    }
  }
  return filled(completion_files::powershell_ps1(), {{"words", words}, {"values", values}});
}

template <class Items, class NameOf>
std::vector<std::string> sorted_names(const Items& items, NameOf name_of) {
  std::vector<std::string> names;
  names.reserve(std::size(items));
  for (const auto& item : items) names.push_back(name_of(item));
  std::ranges::sort(names);
  // std::ranges::unique is beyond clang 14 with libstdc++ 12.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

CommandInfo& child(CommandInfo& command, const std::string& name) {
  return *std::ranges::find(command.commands, name, &CommandInfo::name);
}

// What `validate` takes: studies, sources and modes.
std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const models::Study& study : models::load_validation_set().studies) {
    names.insert(names.end(), {study.id, study.source, study.mode});
  }
  return sorted_names(names, [](const std::string& name) { return name; });
}

void set_flag_choices(CommandInfo& command, const std::string& flag_name,
                      const std::vector<std::string>& choices) {
  for (FlagInfo& flag : command.flags) {
    if (std::ranges::find(flag.names, flag_name) != flag.names.end()) flag.choices = choices;
  }
}

}  // namespace

void add_known_names(CommandInfo& root) {
  const models::Catalogue catalogue = models::load_catalogue();
  const auto gpus =
      sorted_names(catalogue.gpus, [](const models::GpuModel& gpu) { return gpu.name; });
  const auto instances =
      sorted_names(catalogue.instances, [](const models::InstanceType& type) { return type.name; });
  const auto families = sorted_names(catalogue.instances, [](const models::InstanceType& type) {
    return type.name.substr(0, type.name.find('.'));
  });
  CommandInfo& get = child(root, "get");
  for (CommandInfo& listing : get.commands) {
    set_flag_choices(listing, "--gpu", gpus);
    set_flag_choices(listing, "--family", families);
    set_flag_choices(listing, "--region", catalogue.prices.regions());
  }
  set_flag_choices(child(root, "import"), "--region", catalogue.prices.regions());
  set_flag_choices(child(root, "compare"), "--instances", instances);
  set_flag_choices(child(root, "report"), "--output", {"csv", "html", "md", "svg"});
  child(get, "instances").positional_choices = instances;
  child(get, "prices").positional_choices = instances;
  child(get, "gpus").positional_choices = gpus;
  child(get, "mig-profiles").positional_choices =
      sorted_names(catalogue.mig, [](const models::MigGeometry& mig) { return mig.gpu_model; });
  child(get, "profiles").positional_choices = sorted_names(
      catalogue.profiles, [](const models::WorkloadProfile& profile) { return profile.name; });
  child(root, "explain").positional_choices =
      lines_of(reports::explain_topics() + reports::explain_fields());
  CommandInfo profile{.name = "profile",
                      .description = "A workload profile with the provenance of its figures",
                      .examples = "",
                      .flags = child(root, "explain").flags,
                      .positionals = {},
                      .positional_choices = child(get, "profiles").positional_choices,
                      .commands = {}};
  child(root, "explain").commands.push_back(std::move(profile));
  child(root, "validate").positional_choices = study_names();
  set_flag_choices(child(root, "validate"), "--pairs-gpu", gpus);
  CommandInfo& help = child(root, "help");
  help.positional_choices = names_of(root.commands);
  help.positional_choices.insert(help.positional_choices.end(), {"flags", "exit-codes"});
}

// Both shells walk the words before the cursor to a route, then look up what may come next. They
// differ only in how words are offered.

std::string completion_script(const CommandInfo& root, Shell shell) {
  switch (shell) {
    case Shell::Bash:
      return bash_completion(root);
    case Shell::Zsh:
      return zsh_completion(root);
    case Shell::Fish:
      return fish_completion(root);
    case Shell::PowerShell:
      return powershell_completion(root);
  }
  return {};
}

}  // namespace slicewise::tools
