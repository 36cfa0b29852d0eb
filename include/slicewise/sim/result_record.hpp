#pragma once

#include "slicewise/diagnostics.hpp"
#include "slicewise/sim/describe.hpp"
#include "slicewise/sim/judge.hpp"
#include "slicewise/sim/result.hpp"

// The figures of a result: what each is called and means, wherever it shows. A new figure is a
// member in result.hpp, its computation and one line in its sim/result/*_record.cpp.
namespace slicewise::sim {

inline constexpr std::string_view kResultApiVersion = "slicewise.dev/result.v1alpha1";

template <>
const Record& record_of<Stamp>();
template <>
const Record& record_of<TimeSummary>();
template <>
const Record& record_of<NumberSummary>();
template <>
const Record& record_of<LostShare>();
template <>
const Record& record_of<ObjectiveResult>();
template <>
const Record& record_of<RequestCounts>();
template <>
const Record& record_of<TokenFigures>();
template <>
const Record& record_of<ScalingFigures>();
template <>
const Record& record_of<NotebookFigures>();
template <>
const Record& record_of<ScheduleFigures>();
template <>
const Record& record_of<QuotaFigures>();
template <>
const Record& record_of<GpuSetFigures>();
template <>
const Record& record_of<GangFigures>();
template <>
const Record& record_of<GpuNeighbour>();
template <>
const Record& record_of<PlacementSpread>();
template <>
const Record& record_of<BillPart>();
template <>
const Record& record_of<BillGroup>();
template <>
const Record& record_of<BillSplit>();
template <>
const Record& record_of<RecordedFigures>();
template <>
const Record& record_of<WorkloadResult>();
template <>
const Record& record_of<GpuResult>();
template <>
const Record& record_of<NodeResult>();
template <>
const Record& record_of<NodeDynamics>();
template <>
const Record& record_of<NodeStartUpFigures>();
template <>
const Record& record_of<SpotRisk>();
template <>
const Record& record_of<NodePoolResult>();
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
template <>
const Record& record_of<FigureRange>();
template <>
struct Spelling<models::Evidence> {
  using E = models::Evidence;
  static constexpr bool kListed = true;
  static constexpr E kAll[] = {E::Nothing,  E::TimeAlone,  E::Utilisation,
                               E::Settings, E::CoLocation, E::Pairs};
  static std::string_view of(E evidence) { return models::evidence_name(evidence); }
};
template <>
const Record& record_of<models::ExpectedError>();
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
template <>
const Record& record_of<GpuRoom::Tenant>();
template <>
const Record& record_of<GpuRoom>();
template <>
const Record& record_of<PodCounts>();
template <>
const Record& record_of<ProvenanceCounts>();
template <>
const Record& record_of<PolicyResult::Figure>();
template <>
const Record& record_of<PolicyResult>();
template <>
const Record& record_of<Verdict::Reason>();
template <>
const Record& record_of<Verdict>();
template <>
const Record& record_of<Diagnostic>();  // with its place
template <>
const Record& record_of<VariantResult>();
template <>
const Record& record_of<Result>();

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
