#include "completion_routes.hpp"

namespace slicewise::tools {
namespace {

std::string list(const std::vector<std::string>& words) {
  return "@('" + joined(words, "', '") + "')";
}

}  // namespace

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
  return "# PowerShell completion of slicewise: slicewise completion powershell | Out-String | "
         "Invoke-Expression\n"
         "Register-ArgumentCompleter -Native -CommandName slicewise -ScriptBlock {\n"
         "  param($current, $ast, $cursor)\n  $words = @{\n" +
         words + "  }\n  $values = @{\n" + values +
         "  }\n"
         "  $route = ''\n  $previous = ''\n"
         "  foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {\n"
         "    if ($element.Extent.EndOffset -ge $cursor -and $current) { break }\n"
         "    $previous = $element.ToString()\n"
         "    if ($words.ContainsKey(\"$route/$previous\")) { $route = \"$route/$previous\" }\n"
         "  }\n"
         "  $next = if ($values.ContainsKey(\"$route $previous\")) { $values[\"$route $previous\"] "
         "} else { $words[$route] }\n"
         "  $next | Where-Object { $_ -like \"$current*\" } | ForEach-Object {\n"
         "    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)\n"
         "  }\n}\n";
}

}  // namespace slicewise::tools
