#include <algorithm>

#include <fmt/format.h>

#include "../screens/result_nodes.hpp"
#include "../screens/result_notes.hpp"
#include "../screens/screens.hpp"
#include "../text/text_table.hpp"
#include "html_text.hpp"
#include "page_parts.hpp"

namespace slicewise::reports::html {
namespace {

struct SeenFinding {
  const Diagnostic* diagnostic;
  std::vector<std::string> variants;
};

std::vector<SeenFinding> seen_findings(const sim::Result& result) {
  std::vector<SeenFinding> seen;
  for (const sim::VariantResult& variant : result.variants) {
    for (const Diagnostic& d : variant.findings) {
      const auto known = std::ranges::find_if(seen, [&](const SeenFinding& f) {
        return f.diagnostic->code == d.code && f.diagnostic->message == d.message;
      });
      if (known == seen.end()) {
        seen.push_back({&d, {variant.name}});
      } else if (known->variants.back() != variant.name) {
        known->variants.push_back(variant.name);
      }
    }
  }
  std::ranges::stable_sort(seen, {}, [](const SeenFinding& f) { return f.diagnostic->severity; });
  return seen;
}

HtmlTable findings_table(std::string caption, const std::vector<SeenFinding>& seen) {
  HtmlTable table{
      std::move(caption), {{"Code"}, {"Finding"}, {"What to do"}, {"In"}}, {}, {}, true};
  for (const SeenFinding& finding : seen) {
    const Diagnostic& d = *finding.diagnostic;
    const std::string variants = joined(finding.variants);
    const bool note = d.severity == Severity::Note;
    table.rows.push_back({{std::string(info(d.code).name), std::nullopt, note ? "" : "bad"},
                          (note ? "note: " : "! ") + d.message,
                          d.help,
                          variants});
  }
  return table;
}

// Those of the option that leads; what was wrong with many others is folded.
std::string findings_markup(const HtmlReport& report) {
  constexpr std::size_t kFew = 6;
  std::vector<SeenFinding> seen = seen_findings(report.result);
  if (seen.empty()) return paragraph("No run found anything to warn of.");
  const std::string& lead = leading_variant(report)->name;
  std::vector<SeenFinding> of_lead;
  std::vector<SeenFinding> of_others;
  for (SeenFinding& finding : seen) {
    const bool leads = std::ranges::find(finding.variants, lead) != finding.variants.end();
    (leads ? of_lead : of_others).push_back(std::move(finding));
  }
  if (of_others.size() <= kFew) {
    of_lead.insert(of_lead.end(), of_others.begin(), of_others.end());
    return table_markup(findings_table("What the runs found", of_lead));
  }
  return (of_lead.empty()
              ? paragraph("No run of " + lead + " found anything to warn of.")
              : table_markup(findings_table("What the runs of " + lead + " found", of_lead))) +
         folded(fmt::format("What the runs of other options found ({} findings)", of_others.size()),
                table_markup(findings_table("What the runs of other options found", of_others)));
}

std::string inputs_markup(const HtmlReport& report) {
  sim::ProvenanceCounts counts;
  if (report.plan) {
    counts = report.plan->provenance;
  } else {
    counts.assumed_inputs = assumed_inputs(report.result.variants);
    for (const sim::VariantResult& variant : report.result.variants) {
      counts.measured = std::max(counts.measured, variant.provenance.measured);
      counts.catalog = std::max(counts.catalog, variant.provenance.catalog);
    }
  }
  const std::vector<std::string> assumed(counts.assumed_inputs.begin(),
                                         counts.assumed_inputs.end());
  std::string out = paragraph(fmt::format(
      "{} inputs were measured, {} come from the catalogue, {} are assumed: nobody measured them.",
      counts.measured, counts.catalog, assumed.size()));
  if (!assumed.empty()) {
    out += folded(fmt::format("The {} assumed inputs", assumed.size()), list_of_lines(assumed));
  }
  return out;
}

std::string pools_markup(const sim::Result& result) {
  HtmlTable table{"Node pools as simulated",
                  {{"Option"}, {"Nodes"}, {"What they advertise"}, {"Price from"}}};
  for (const sim::VariantResult& variant : result.variants) {
    for (const sim::NodePoolResult& pool : variant.node_pools) {
      table.rows.push_back(
          {variant.name, pool_sentence(pool), advertised_sentence(pool), pool.price_source});
    }
  }
  return folded("Node pools, prices and their sources", table_markup(table));
}

std::string not_modelled_markup() {
  HtmlTable table{"What is not modelled, and what that means", {{"Not modelled"}, {"So"}}};
  for (const NotModelled& item : not_modelled()) {
    table.rows.push_back({std::string(item.what), std::string(item.consequence)});
  }
  return folded(fmt::format("What is not modelled ({} points)", table.rows.size()),
                table_markup(table));
}

std::string validation_markup(const sim::ValidationResult& validation) {
  if (validation.studies.empty()) {
    return paragraph(
        "No published measurement checks the models of this page: whole GPUs run as "
        "they were measured.");
  }
  const auto [least, most] =
      std::ranges::minmax(validation.studies, {},
                          [](const sim::StudyResult& study) { return study.check.mean_percent; });
  return paragraph(
             fmt::format("Against published measurements of these ways of sharing the models "
                         "are {:.1f} to {:.1f} % off on average, by study; slicewise validate "
                         "has every row.",
                         least.check.mean_percent, most.check.mean_percent)) +
         folded(fmt::format("The {} studies", validation.studies.size()),
                screen_markup(screen_of(validation, kPageStyle, Detail::Comment)));
}

}  // namespace

Markup evidence_section(const HtmlReport& report) {
  std::string out = findings_markup(report) + inputs_markup(report);
  out += pools_markup(report.result) + validation_markup(report.validation);
  out += not_modelled_markup();
  return section("evidence", "Should I trust it?", out);
}

}  // namespace slicewise::reports::html
