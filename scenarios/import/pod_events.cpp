#include "pod_events.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "../kubernetes/manifest_reader.hpp"
#include "../traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

using manifests::node_below, manifests::text_below;

using PathOfKeys = std::initializer_list<std::string_view>;

PodRecord::Time first_of(const Node& event, std::initializer_list<PathOfKeys> paths) {
  for (const PathOfKeys path : paths) {
    if (const auto found = time_of(node_below(&event, path))) return found;
  }
  return std::nullopt;
}

// firstTimestamp is null for events of events.k8s.io.
PodRecord::Time first_time(const Node& event) {
  return first_of(event, {{"firstTimestamp"}, {"eventTime"}, {"metadata", "creationTimestamp"}});
}

PodRecord::Time last_time(const Node& event) {
  const auto last = first_of(event, {{"lastTimestamp"}, {"series", "lastObservedTime"}});
  return last ? last : first_time(event);
}

}  // namespace

PodRecord::Time time_of(const Node* text) {
  if (text == nullptr || text->kind != Node::Kind::Text) return std::nullopt;
  const auto time = parse_trace_time(text->text);
  return time && *time >= 0 && *time <= kLatest ? time : std::nullopt;
}

void PodEvents::add(const Node& event, ImportReport& report) {
  const Node* about = event.find("involvedObject");
  if (!manifests::is_map(about)) about = event.find("regarding");
  const std::string uid = text_below(about, {"uid"});
  if (text_below(about, {"kind"}) != "Pod" || uid.empty()) {
    report.skipped("events that are not about a pod", event.where);
    return;
  }
  Facts& facts = by_uid_.try_emplace(uid).first->second;
  if (facts.where.file.empty()) facts.where = event.where;
  const std::string reason = text_below(&event, {"reason"});
  if (reason == "Scheduled") {
    facts.scheduled = first_time(event);
  } else if (reason == "Killing") {
    const auto time = last_time(event);
    facts.killed = facts.killed && time ? std::max(facts.killed, time) : time;
  } else if (reason == "FailedScheduling") {
    facts.failed_scheduling = true;
  } else if (reason == "Preempted") {
    facts.preempted = true;
  }
}

void PodEvents::complete(PodRecord& pod, const std::string& uid, ImportReport& report) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  Facts& facts = found->second;
  facts.is_listed = true;
  if (!pod.scheduled && facts.scheduled) {
    pod.scheduled = facts.scheduled;
    report.repaired("pods whose scheduling is known from events alone", facts.where);
  }
  const bool over = pod.state == JobState::Completed || pod.state == JobState::Failed ||
                    pod.state == JobState::Cancelled || pod.state == JobState::TimedOut;
  if (over && !pod.ended && facts.killed) {
    pod.ended = facts.killed;
    report.repaired("pods whose end is known from events alone", facts.where);
  }
  if (facts.failed_scheduling) {
    report.noted("pods that fitted nowhere at first (FailedScheduling)", facts.where);
  }
  if (facts.preempted) {
    report.noted("pods that were preempted", facts.where);
  }
}

void PodEvents::report_unknown_pods(ImportReport& report) const {
  for (const auto& entry : by_uid_) {
    if (entry.second.is_listed) continue;
    report.skipped("pods known from events alone: what they asked for is not known",
                   entry.second.where);
  }
}

}  // namespace slicewise::scenarios
