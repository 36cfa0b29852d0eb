#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/scenarios/import.hpp"

namespace slicewise::scenarios {

// The trace that an importer makes of texts, and what it says about them.
struct ImportedJobs {
  JobTrace trace;
  ImportLog log;
  Diagnostics errors;

  // Whether there is a remark that contains `what`.
  bool says(std::string_view what) const {
    return std::ranges::any_of(log.remarks, [&](const ImportRemark& remark) {
      return remark.what.find(what) != std::string::npos;
    });
  }

  // How often the remark that contains `what` was made; 0 when it was not.
  std::int64_t count(std::string_view what) const {
    for (const ImportRemark& remark : log.remarks) {
      if (remark.what.find(what) != std::string::npos) return remark.count;
    }
    return 0;
  }
};

inline ImportedJobs imported_jobs(ImportKind kind, const std::vector<std::string>& texts,
                                  const ImportOptions& options = {}) {
  std::vector<SourceText> files;
  for (const std::string& text : texts) {
    files.push_back({"f" + std::to_string(files.size() + 1), text});
  }
  Expected<Imported> imported = import_log(kind, files, options);
  if (!imported) return {{}, {}, std::move(imported.error())};
  return {std::get<JobTrace>(std::move(imported->content)), std::move(imported->log), {}};
}

}  // namespace slicewise::scenarios
