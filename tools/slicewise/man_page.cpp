#include <string>
#include <string_view>

#include <fmt/format.h>

#include "slicewise/reports/reference.hpp"
#include "slicewise/version.hpp"

#include "command_line.hpp"

// The manual page in the macros of man(7).
namespace slicewise::tools {
namespace {

// A line that begins with a dot or an apostrophe would be a request; a hyphen would be a dash.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool at_start = out.empty() || out.back() == '\n';
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string flag_names(const FlagInfo& flag) {
  std::string names;
  for (const std::string& name : flag.names) {
    names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  }
  return flag.takes_value ? names + " \\fI" + roff(flag.value) + "\\fR" : names;
}

std::string flag_entries(const CommandInfo& command) {
  std::string out;
  for (const FlagInfo& flag : command.flags) {
    out += fmt::format(".TP\n{}\n{}\n", flag_names(flag), roff(flag.description));
  }
  return out;
}

std::string positional_entries(const CommandInfo& command) {
  std::string out;
  for (const PositionalInfo& positional : command.positionals) {
    const std::string choices =
        split_choices(positional.value).empty() ? std::string() : " (" + positional.value + ")";
    out += fmt::format(".TP\n\\fI{}\\fR{}\n{}\n", roff(positional.name), roff(choices),
                       roff(positional.description));
  }
  return out;
}

std::string example_block(const std::string& examples) {
  return examples.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(examples));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree of verbs
std::string verb_entries(const CommandInfo& command, const std::string& parent) {
  std::string out;
  for (const CommandInfo& verb : command.commands) {
    const std::string name = parent + " " + verb.name;
    out += fmt::format(".SS {}{}\n{}.\n{}{}{}", roff(name), roff(positional_line(verb)),
                       roff(verb.description), example_block(verb.examples),
                       positional_entries(verb), flag_entries(verb));
    out += verb_entries(verb, name);
  }
  return out;
}

}  // namespace

std::string man_page(const CommandInfo& root) {
  std::string exits;
  for (const reports::ExitCodeInfo& exit : reports::exit_codes()) {
    exits += fmt::format(".TP\n\\fB{}\\fR\n{}\n", exit.code, roff(exit.meaning));
  }
  return fmt::format(
      ".TH SLICEWISE 1 \"\" \"slicewise {}\" \"User Commands\"\n.SH NAME\nslicewise \\- know what "
      "GPU sharing will do before you apply it\n.SH SYNOPSIS\n\\fBslicewise\\fR \\fIVERB\\fR "
      "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n{}.SH VERBS\n{}.SH ENVIRONMENT\nA variable "
      "SLICEWISE_FLAG stands in for \\fB\\-\\-flag\\fR when that is absent: SLICEWISE_SEED=7. "
      "NO_COLOR switches colour off.\n.SH EXIT STATUS\n{}.SH SEE ALSO\nslicewise explain lists "
      "what "
      "every code, field and model means.\n",
      kVersion, roff(root.description), example_block(root.examples),
      verb_entries(root, "slicewise"), exits);
}

}  // namespace slicewise::tools
