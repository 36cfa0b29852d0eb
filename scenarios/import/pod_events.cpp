#include "pod_events.hpp"

#include <algorithm>

#include "../traces/trace_files.hpp"

namespace slicewise::scenarios {
namespace {

// firstTimestamp is null for events of events.k8s.io.
PodRecord::Time first_time(JsonValue event) {
  for (const JsonValue time :
       {event["firstTimestamp"], event["eventTime"], event["metadata"]["creationTimestamp"]}) {
    if (const auto found = time_of(time)) return found;
  }
  return std::nullopt;
}

PodRecord::Time last_time(JsonValue event) {
  for (const JsonValue time : {event["lastTimestamp"], event["series"]["lastObservedTime"]}) {
    if (const auto found = time_of(time)) return found;
  }
  return first_time(event);
}

}  // namespace

PodRecord::Time time_of(JsonValue text) {
  if (text.kind() != JsonValue::Kind::Text) return std::nullopt;
  const auto time = parse_trace_time(text.raw_scalar());
  return time && *time >= 0 && *time <= kLatest ? time : std::nullopt;
}

void PodEvents::add(JsonValue event, const SourceLocation& place, ImportReport& report) {
  JsonValue about = event["involvedObject"];
  if (!about.is_object()) about = event["regarding"];
  const std::string uid = about["uid"].scalar();
  if (about["kind"].raw_scalar() != "Pod" || uid.empty()) {
    report.skipped("events that are not about a pod", place);
    return;
  }
  Facts& facts = by_uid_.try_emplace(uid).first->second;
  if (facts.where.file.empty()) facts.where = place;
  const std::string_view reason = event["reason"].raw_scalar();
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
