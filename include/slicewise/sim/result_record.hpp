#pragma once

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/describe.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result.hpp"

// The figures of a result: what each is called and means, wherever it shows. A new figure is a
// member in result.hpp, its computation and one line in its sim/result/*_record.cpp.
namespace slicewise::sim {

inline constexpr std::string_view kResultApiVersion = "slicewise.dev/result.v1alpha1";

Record declared(Of<Stamp>);
Record declared(Of<TimeSummary>);
Record declared(Of<NumberSummary>);
Record declared(Of<LostShare>);
Record declared(Of<ObjectiveResult>);
Record declared(Of<RequestCounts>);
Record declared(Of<TokenFigures>);
Record declared(Of<ScalingFigures>);
Record declared(Of<NotebookFigures>);
Record declared(Of<ScheduleFigures>);
Record declared(Of<QuotaFigures>);
Record declared(Of<GpuSetFigures>);
Record declared(Of<GangFigures>);
Record declared(Of<GpuNeighbour>);
Record declared(Of<PlacementSpread>);
Record declared(Of<BillPart>);
Record declared(Of<BillGroup>);
Record declared(Of<BillSplit>);
Record declared(Of<RecordedFigures>);
Record declared(Of<WorkloadResult>);
Record declared(Of<GpuResult>);
Record declared(Of<NodeResult>);
Record declared(Of<NodeDynamics>);
Record declared(Of<NodeStartUpFigures>);
Record declared(Of<SpotRisk>);
Record declared(Of<NodePoolResult>);
template <>
struct Spelling<scenarios::Apart> {
  using Apart = scenarios::Apart;
  static constexpr bool kListed = true;
  static constexpr Apart kAll[] = {Apart::NoTime,        Apart::UnknownTime,   Apart::OtherGpus,
                                   Apart::NoGpu,         Apart::Gang,          Apart::TimeLimit,
                                   Apart::PartOfSeveral, Apart::OtherResource, Apart::NodeGpus,
                                   Apart::NodeCpu,       Apart::NodeMemory};
  static std::string_view of(Apart why) {
    constexpr std::string_view kWords[] = {
        "noTime",        "unknownTime",   "otherGpus", "noGpu",   "gang",      "timeLimit",
        "partOfSeveral", "otherResource", "nodeGpus",  "nodeCpu", "nodeMemory"};
    return kWords[static_cast<std::size_t>(why)];
  }
};
template <>
struct Spelling<scenarios::AmountUnit> {
  using U = scenarios::AmountUnit;
  static constexpr bool kListed = true;
  static constexpr U kAll[] = {U::Dollars,   U::DollarsPerHour, U::Seconds, U::Bytes,
                               U::PerSecond, U::Ratio,          U::Cores,   U::Count};
  static constexpr std::string_view of(U unit) {
    constexpr std::string_view kWords[] = {"usd",       "usdPerHour", "seconds", "bytes",
                                           "perSecond", "ratio",      "cores",   "number"};
    return kWords[static_cast<std::size_t>(unit)];
  }
};
Record declared(Of<FigureRange>);
template <>
struct Spelling<models::Evidence> {
  using E = models::Evidence;
  static constexpr bool kListed = true;
  static constexpr E kAll[] = {E::Nothing,    E::TimeAlone, E::Utilisation, E::Settings,
                               E::CoLocation, E::Neighbour, E::Pairs};
  static std::string_view of(E evidence) { return models::evidence_name(evidence); }
};
Record declared(Of<models::ExpectedError>);
Record declared(Of<UnsureGain>);
template <>
struct Spelling<GpuRoom::Bound> {
  using Bound = GpuRoom::Bound;
  static constexpr bool kListed = true;
  static constexpr Bound kAll[] = {Bound::Memory, Bound::ProcessLimit, Bound::Replicas,
                                   Bound::Cpu,    Bound::HostMemory,   Bound::Pods,
                                   Bound::Parts,  Bound::OwnShare,     Bound::NodePods};
  static constexpr std::string_view of(Bound bound) {
    constexpr std::string_view kWords[] = {"memory", "processLimit", "replicas",
                                           "cpu",    "hostMemory",   "pods",
                                           "parts",  "ownShare",     "nodePods"};
    return kWords[static_cast<std::size_t>(bound)];
  }
};
Record declared(Of<GpuRoom::Tenant>);
Record declared(Of<GpuRoom>);
Record declared(Of<PodCounts>);
Record declared(Of<ProvenanceCounts>);
Record declared(Of<PolicyResult::Figure>);
Record declared(Of<PolicyResult>);
Record declared(Of<Verdict::Reason>);
Record declared(Of<Verdict>);
Record declared(Of<Diagnostic>);  // with its place
Record declared(Of<VariantResult>);
Record declared(Of<Result>);

// Where a CSV says whether a row stands, and after that why not.
inline constexpr int kVerdictColumn = 71;
// ... and two of who sat where.
inline constexpr int kPlacementColumn = 82;

// Code, severity and message, for documents about several runs: which file it comes from is left
// out.
const Record& finding_record();

// "cost" of a variant; its fields are of the variant.
const Record& cost_record();

// What limits its workloads, and which: "GPU (asr, tts), batch window (chat)"; "" where nothing
// does.
std::string bounds_of(const VariantResult& variant);

// "asr, tts"; of more than `most` how many they are: "15 workloads".
std::string few_names(const std::vector<std::string>& names, std::size_t most = 3);

template <>
struct Spelling<PolicyResult::Verdict> {
  using Verdict = PolicyResult::Verdict;
  static constexpr bool kListed = true;
  static constexpr Verdict kAll[] = {Verdict::Pass, Verdict::Fail, Verdict::Unknown};
  static constexpr std::string_view of(Verdict verdict) {
    return verdict == Verdict::Pass ? "pass" : verdict == Verdict::Fail ? "fail" : "unknown";
  }
};

template <>
struct Spelling<Verdict::Cause> {
  static constexpr bool kListed = true;
  static constexpr auto kAll = [] {
    std::array<Verdict::Cause, kCauses> causes{};
    for (std::size_t c = 0; c < kCauses; ++c) causes[c] = static_cast<Verdict::Cause>(c);
    return causes;
  }();
  static std::string_view of(Verdict::Cause cause) { return cause_name(cause); }
};

// A field of the stamp of a result, for its metadata.
template <class T>
Field stamp_field(std::string_view key) {
  return record_of<Stamp>().like(key).template from<&T::stamp>();
}

// "seconds", "ratio", "perSecond", "number", and the value in that unit.
std::string_view unit_word(const scenarios::FigureValue& value);
double in_its_unit(const scenarios::FigureValue& value);

}  // namespace slicewise::sim
