#include "slicewise/filled_text.hpp"

#include "completion_routes.hpp"
#include "embedded/completion_files.hpp"

// Both shells walk the words before the cursor to a route, then look up what may come next. They
// differ only in how words are offered.
namespace slicewise::tools {
namespace {

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

}  // namespace

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

}  // namespace slicewise::tools
