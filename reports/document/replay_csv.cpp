#include <algorithm>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "slicewise/reports/studies.hpp"

#include "csv_documents.hpp"
#include "csv_rows.hpp"
#include "replay_origin_fields.hpp"

namespace slicewise::reports {

using nlohmann::json;

namespace {

constexpr int kLastColumn = std::numeric_limits<int>::max();

std::int64_t lost_jobs(const sim::ReplayResult& result) {
  return result.never_fit +
         (result.sharing ? result.sharing->refused() + result.sharing->failed : 0);
}

// The row of all jobs.
json total_row(const json& scheduler, const sim::ReplayStudy& study,
               const sim::ReplayResult& result) {
  json row = scheduler;
  row["name"] = "all";
  if (study.group_by != sim::GroupBy::Nothing) row["lost"] = lost_jobs(result);
  if (study.shares()) row["fitNoShare"] = result.sharing->refused();
  return row;
}

// What a group has in common with all others: how its jobs were scheduled, and if that is enough.
json way_of_group(const json& scheduler) {
  json way = json::object();
  for (const char* key : {"queue", "placement", "sharing", "verdict"}) {
    if (scheduler.contains(key)) way[key] = scheduler[key];
  }
  return way;
}

// A row of a group, with all that is known of a size of jobs.
json group_row(const json& scheduler, const json& group, bool by_size) {
  json row = group;
  if (by_size) {
    const json& sizes = scheduler["sizes"];
    const auto size = std::ranges::find_if(
        sizes, [&](const json& each) { return each["name"] == group["name"]; });
    if (size != sizes.end()) row.update(*size);
  } else if (group["finished"] != 0) {
    row["waitSeconds"] = {{"mean", group["waitMeanSeconds"]}};
    row["completionSeconds"] = {{"mean", group["completionMeanSeconds"]}};
  }
  return row;
}

}  // namespace

// A size of job, or a group, stands where other reports have a workload.
std::string csv_of(const sim::ReplayStudy& study) {
  const json document = document_of(study);
  DocumentCsv table(sim::record_of<sim::ReplayStudy>(),
                    study.shares() ? kLastColumn : sim::kSharingColumn);
  if (study.shares()) table.add(kLastColumn, "fitNoShare", "/fitNoShare", 2);
  if (study.group_by != sim::GroupBy::Nothing) table.add(7, "lost", "/lost", 2);
  std::string out = table.header();
  auto outcome = study.outcomes.begin();
  for (const json& scheduler : document["schedulers"]) {
    out += table.row(document, scheduler, total_row(scheduler, study, (outcome++)->result));
    if (study.group_by == sim::GroupBy::Nothing) {
      for (const json& size : scheduler["sizes"]) out += table.row(document, scheduler, size);
      continue;
    }
    for (const json& group : scheduler.value("groups", json::array())) {
      json own = way_of_group(scheduler);
      if (study.shares()) own["company"]["slowdown"] = group.value("slowdown", json::object());
      const bool by_size = study.group_by == sim::GroupBy::Size;
      out += table.row(document, own, group_row(scheduler, group, by_size));
    }
  }
  return out;
}

}  // namespace slicewise::reports
