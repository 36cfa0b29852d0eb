#include <fmt/format.h>

#include "page_parts.hpp"

namespace slicewise::reports::html {

std::string apply_section(const HtmlReport& report) {
  if (!report.apply) return "";
  const ApplySection& apply = *report.apply;
  if (apply.files.empty()) {
    std::string out = paragraph(fmt::format("No files can be written for {}:", apply.option));
    std::vector<std::string> reasons;
    for (const Diagnostic& d : apply.refused) {
      reasons.push_back(fmt::format("{}: {}", info(d.code).name, d.message));
    }
    return section("apply", "How do I apply it?", out + list_of_lines(reasons));
  }
  std::string out = paragraph(fmt::format(
      "These files put {} in place. slicewise talks to no cluster: read them, save them "
      "in one folder, run apply.sh; rollback.sh takes it back, VERIFY.md says how to "
      "see that it works. `slicewise export --to bundle --out DIR` writes the same.",
      apply.option));
  for (std::size_t f = 0; f < apply.files.size(); ++f) {
    const ExportFile& file = apply.files[f];
    out += folded(file.path, code_block(fmt::format("apply-{}", f), file.path, file.text),
                  file.path == "apply.sh" || file.path == "rollback.sh");
  }
  return section("apply", "How do I apply it?", out);
}

}  // namespace slicewise::reports::html
