#pragma once

#include <string>
#include <vector>

#include "../command_tree.hpp"

namespace slicewise::tools {

// A command and the words that lead to it: "" for the program, "/get/instances" below it.
struct Route {
  std::string path;
  const CommandInfo* command;
};

// Every command of the tree, parents first. The pointers are into `root`.
std::vector<Route> routes(const CommandInfo& root);

// What may follow a route: commands, positional choices and flags.
// Whether a file may come next.
bool takes_file(const CommandInfo& command);
std::vector<std::string> next_words(const CommandInfo& command);

std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);
std::string powershell_completion(const CommandInfo& root);

}  // namespace slicewise::tools
