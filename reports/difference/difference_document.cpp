#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "slicewise/reports/difference.hpp"
#include "slicewise/version.hpp"

#include "../document/document_text.hpp"
#include "../document/record_json.hpp"

namespace slicewise::sim {

namespace {

using reports::DocumentDifference;
using reports::FigureDifference;
using reports::ItemDifference;
using reports::SettingDifference;
using reports::StoredFigure;

constexpr std::string_view kDifferenceApiVersion = "slicewise.dev/difference.v1alpha1";

std::string_view workload_of_figure(const FigureDifference& f) { return f.shown().workload; }
std::string_view name_of_figure(const FigureDifference& f) { return f.shown().name; }
std::string_view unit_of_figure(const FigureDifference& f) { return f.shown().unit; }
std::optional<bool> significance(const FigureDifference& f) {
  return f.differs() ? std::optional(f.is_significant()) : std::nullopt;
}

std::string_view only_side(const ItemDifference& item) {
  using Side = ItemDifference::Side;
  return item.side == Side::Both ? "" : item.side == Side::OldOnly ? "old" : "new";
}

std::vector<std::string> new_briefs(const ItemDifference& item) {
  std::vector<std::string> briefs;
  for (const Verdict::Reason& reason : item.new_reasons()) briefs.push_back(reason.brief);
  return briefs;
}

std::string_view version_of_difference(const DocumentDifference&) { return kVersion; }

const Record& compared_documents() {
  using D = DocumentDifference;
  static const Record declared{
      "what was compared",
      {field<&D::kind>("kind", "of both documents"),
       field<&D::scenario>("scenario", "of the new document"), field<&D::old_name>("old", "file"),
       field<&D::new_name>("new", "file"),
       field<&version_of_difference>("version", "version of slicewise")}};
  return declared;
}

}  // namespace

template <>
const Record& record_of<StoredFigure>() {
  using S = StoredFigure;
  static const Record declared{
      "",
      {field<&S::value>("value").optional().of(Unit::Signed),
       field<&S::ci95>("ci95").of(Unit::Signed), field<&S::limit>("limit").of(Unit::Signed),
       field<&S::pass>("pass", "the objective is met")}};
  return declared;
}

template <>
const Record& record_of<FigureDifference>() {
  using F = FigureDifference;
  static const Record declared{
      "a figure on both sides",
      {field<&workload_of_figure>("workload", "absent: of the whole item").optional(),
       field<&name_of_figure>("name", "as in the documents"),
       field<&unit_of_figure>("unit", "as in the documents; usd for money"),
       field<&F::before>("old", "absent: not in OLD"),
       field<&F::after>("new", "absent: not in NEW"),
       field<&F::ratio>("changeRatio").of(Unit::Signed),
       field<&significance>("significant", "beyond the intervals of both sides"),
       field<&F::newly_fails>("newlyFails").optional(),
       field<&F::newly_passes>("newlyPasses").optional()}};
  return declared;
}

template <>
const Record& record_of<SettingDifference>() {
  using S = SettingDifference;
  static const Record declared{"a setting that changed",
                               {field<&S::name>("name", "which setting"),
                                field<&S::before>("old", "absent: it was not there").optional(),
                                field<&S::after>("new", "absent: it is gone").optional()}};
  return declared;
}

template <>
const Record& record_of<ItemDifference>() {
  using I = ItemDifference;
  static const Record declared{
      "a variant of a result, an option of a comparison",
      {field<&I::name>("name", "variant or option"),
       field<&only_side>("only", "absent: on both sides").one_of("old new").optional(),
       field<&I::figures>("figures", "costs, objectives, pods"),
       field<&I::settings>("settings", "configuration that changed"),
       field<&new_briefs>("newReasons", "why it does not stand, where OLD had no such reason")
           .each("in a few words")
           .optional()}};
  return declared;
}

template <>
const Record& record_of<DocumentDifference>() {
  using D = DocumentDifference;
  static const Record declared{
      "What `slicewise diff -o json` prints. Keys are added, never renamed.",
      {constant("apiVersion", kDifferenceApiVersion), constant("kind", "Difference"),
       group("metadata", &compared_documents),
       field<&D::differs>("differs", "anything but the version of slicewise"),
       field<&D::newly_failing>("newlyFailing", "objectives"),
       field<&D::stands>("stands",
                         "NEW does what it should: every variant; a comparison has a best option"),
       field<&D::failed>("failedConditions", "of --fail-on").each("condition and why").optional(),
       field<&D::metadata>("inputs", "seed, prices, scenario ...: what changed"),
       field<&D::items>("items", "in the order of the new document")}};
  return declared;
}

}  // namespace slicewise::sim

namespace slicewise::reports {

std::string difference_json(const DocumentDifference& difference) {
  return json_text(described_json(difference));
}

std::string difference_yaml(const DocumentDifference& difference) {
  return yaml_text(described_json(difference));
}

std::string difference_schema_json() {
  return json_text(document_schema(sim::record_of<DocumentDifference>(), "slicewise diff"));
}

}  // namespace slicewise::reports
