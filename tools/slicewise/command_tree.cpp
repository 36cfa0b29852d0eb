#include "command_tree.hpp"

#include <algorithm>
#include <sstream>

namespace slicewise::tools {

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
    std::string word = positional.name;
    std::ranges::transform(word, word.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    if (positional.several) word += "...";
    line += positional.required ? " " + word : " [" + word + "]";
  }
  return line;
}

}  // namespace slicewise::tools
