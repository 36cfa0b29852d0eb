#pragma once

#include <string>
#include <vector>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// The trace that an importer makes of texts, as a file, and what it says about them.
struct ImportedCsv {
  std::string csv;      // the trace, or "" when the import failed
  std::string remarks;  // "count what", one a line
  Diagnostics errors;

  std::string first_error() const {
    if (errors.empty()) return "";
    const SourceLocation& at = errors[0].where;
    return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
           errors[0].message;
  }
};

inline ImportedCsv imported_csv(ImportKind kind, const std::vector<std::string>& texts,
                                const ImportOptions& options = {}) {
  std::vector<SourceText> files;
  for (const std::string& text : texts) files.push_back({"f", text});
  const auto imported = import_log(kind, files, options);
  if (!imported) return {"", "", imported.error()};
  ImportedCsv result{trace_csv(*imported), "", {}};
  for (const ImportRemark& remark : imported->log.remarks) {
    result.remarks += std::to_string(remark.count) + " " + remark.what + "\n";
  }
  return result;
}

inline ImportedCsv imported_table(const std::string& text, const std::string& columns = "",
                                  ImportOptions options = {}) {
  options.columns = columns;
  return imported_csv(ImportKind::Jobs, {text}, options);
}

}  // namespace slicewise::scenarios
