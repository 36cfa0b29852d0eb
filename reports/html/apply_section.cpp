#include <fmt/format.h>

#include "page_parts.hpp"

namespace slicewise::reports::html {

Markup apply_section(const HtmlReport& report) {
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
  constexpr std::size_t kMostPods = 4;  // files of pods, which are alike
  std::size_t pods = 0;
  for (std::size_t f = 0; f < apply.files.size(); ++f) {
    const ExportFile& file = apply.files[f];
    const bool of_pod =
        file.path.starts_with("pods/") && !file.path.ends_with("kustomization.yaml");
    if (of_pod && ++pods > kMostPods) continue;
    out += folded(file.path, code_block(fmt::format("apply-{}", f), file.path, file.text),
                  file.path == "apply.sh" || file.path == "rollback.sh");
  }
  if (pods > kMostPods) {
    out += paragraph(fmt::format(
        "{} more files in pods/ are not in this page: take all of them from `slicewise export`.",
        pods - kMostPods));
  }
  return section("apply", "How do I apply it?", out);
}

}  // namespace slicewise::reports::html
