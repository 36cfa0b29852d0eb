# PowerShell completion of slicewise: slicewise completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName slicewise -ScriptBlock {
  param($current, $ast, $cursor)
  $words = @{
@words@
  }
  $values = @{
@values@
  }
  $route = ''
  $previous = ''
  foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {
    if ($element.Extent.EndOffset -ge $cursor -and $current) { break }
    $previous = $element.ToString()
    if ($words.ContainsKey("$route/$previous")) { $route = "$route/$previous" }
  }
  $next = if ($values.ContainsKey("$route $previous")) { $values["$route $previous"] } else { $words[$route] }
  $next | Where-Object { $_ -like "$current*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
