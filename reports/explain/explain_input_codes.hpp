#pragma once

#include <array>

#include "explain_topics.hpp"

// Codes about the files a user writes, in the order of codes.hpp.
namespace slicewise::reports {

inline constexpr std::string_view kQuantitySource =
    "https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/";
inline constexpr std::string_view kNamesSource =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/";
inline constexpr std::string_view kSchemaSource =
    "slicewise schema scenario; slicewise explain FIELD.PATH";
inline constexpr std::string_view kGetSource = "slicewise get lists the catalogue with its sources";

inline constexpr std::array kInputCodes = {
    CodeExplanation{Code::FileUnreadable,
                    "The file does not exist, is a directory, or you may not read it. Nothing was "
                    "simulated; the exit code is 5.",
                    "", "Check the path and its permissions. `-f -` reads standard input.", ""},
    CodeExplanation{Code::YamlSyntax,
                    "The text is neither YAML 1.2 nor JSON. The usual causes are a tab used for "
                    "indentation, a missing space after a colon and an unclosed bracket or quote.",
                    "", "Correct the text at the caret.", "https://yaml.org/spec/1.2.2/"},
    CodeExplanation{
        Code::FieldUnknown,
        "The format has no such key. A key that is silently ignored is the commonest reason why a "
        "setting has no effect: Helm and the device plugin both drop keys they do not know, so "
        "slicewise refuses them.",
        "",
        "Use the suggested name, or move the key to where it belongs: `renameByDefault` under "
        "`flags` instead of `sharing.timeSlicing`, for example, does nothing.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1433"},
    CodeExplanation{Code::FieldMissing, "A key that has no default is not there.", "",
                    "Add the key; the message names it.", kSchemaSource},
    CodeExplanation{Code::FieldDuplicate,
                    "The same key stands twice in one mapping. YAML forbids it, and many parsers "
                    "keep the last one without a word.",
                    "", "Delete one of the two.",
                    "https://yaml.org/spec/1.2.2/#3213-node-comparison"},
    CodeExplanation{
        Code::FieldType,
        "The value has another type than the key takes, a list where a mapping belongs for "
        "example. The device plugin's own parser is strict here, too: quoted or fractional "
        "replicas stop it at start.",
        "cannot unmarshal string into Go struct field ... of type int",
        "Write the type that the message names. Numbers must not be quoted.", kSchemaSource},
    CodeExplanation{
        Code::UnitUnknown,
        "The unit is not one that Kubernetes knows. GB is ambiguous: it may mean 10^9 or 2^30 "
        "bytes, 7 % apart; a GPU sold as 16 GB has about 16 GiB.",
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        "Write G for 10^9 bytes or Gi for 2^30 bytes; durations as 2ms, 18s, 1m30s, 24h.",
        kQuantitySource},
    CodeExplanation{
        Code::UnitMissing,
        "A bare number stands where a unit is needed. Kubernetes would read `memory: 8` as 8 "
        "bytes; slicewise does not guess.",
        "", "Add the unit: 8Gi, 500m, 18s, 12/s.", kQuantitySource},
    CodeExplanation{Code::EnumUnknown, "The word is not one of those that the key takes.", "",
                    "Use one of the words in the message; spelling and case count.", kSchemaSource},
    CodeExplanation{Code::ValueRange,
                    "The value has the right type but lies outside the allowed range.", "",
                    "Use a value in the range that the message gives.", kSchemaSource},
    CodeExplanation{Code::ApiVersionUnknown,
                    "The document has an apiVersion or kind that is not read here, or none.", "",
                    "Start the file with `apiVersion: slicewise.dev/v1alpha1` and `kind: "
                    "Scenario`.",
                    kSchemaSource},
    CodeExplanation{
        Code::NameInvalid,
        "Kubernetes would refuse an object of this name: object names are lower-case RFC 1123 "
        "labels or subdomains.",
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
        "or '.', and must start and end with an alphanumeric character",
        "Use lower-case letters, digits and '-', at most 63 characters.", kNamesSource},
    CodeExplanation{Code::NameDuplicate,
                    "Two entries of a list have the same name. Variants are merged by name, so it "
                    "would be unclear which entry a patch means.",
                    "", "Rename one of the two.", kNamesSource},
    CodeExplanation{Code::SettingConflict,
                    "Two settings cannot both hold. Neither is chosen for you.", "",
                    "Remove one of the two; the message names both.", kSchemaSource},
    CodeExplanation{Code::PathUnknown,
                    "A path in `sweep`, in a variant's patch, in --set or after `explain` leads "
                    "nowhere. Entries of lists are addressed by name: nodePools.v100.nodes.",
                    "", "Use the suggested path. `slicewise explain spec` lists the fields.",
                    kSchemaSource},
    CodeExplanation{
        Code::PolicySyntax,
        "The text of policies[].assert is not an assertion. One is made of comparisons of a figure "
        "with a value (`cost.monthly <= 1500`, `workloads.chat.latencyP99 < 500ms`, `strategy == "
        "mig`), figures that are true or false by themselves (`slo.pass`), `all(slo.pass, workload "
        "in [chat, embed])`, `not`, `and`, `or` and parentheses; `and` binds tighter than `or`.",
        "",
        "Write the figure first and its unit with the value: 500ms, 20%, 12/s, plain dollars. The "
        "message lists the figures where one is unknown.",
        kSchemaSource},
    CodeExplanation{Code::VariantUnknown, "The scenario has no variant of that name.", "",
                    "Use one of the names in the message.", ""},
    CodeExplanation{
        Code::ReplicasTooFew,
        "The device plugin refuses the file: its pod goes into CrashLoopBackOff and the node "
        "advertises no GPU at all.",
        "number of replicas must be >= 2",
        "Write 2 or more. To switch sharing off, leave `sharing` out instead of writing 1.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1022"},
    CodeExplanation{
        Code::MpsWithTimeSlicing,
        "The two modes exclude each other, but the device plugin does not check it: MPS wins "
        "without a message, and the time-slicing block has no effect.",
        "", "Keep one of the two. Different modes need different node pools and configs.",
        "https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus"},
    CodeExplanation{
        Code::PluginFieldIgnored,
        "The device plugin parses this key and then ignores it, with no more than a line in its "
        "log: `devices`, `rename` and the `resources` block. All GPUs of a node get the same "
        "number of replicas.",
        "", "Remove the key. GPUs with different replicas must be on different nodes.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/1786"},
    CodeExplanation{
        Code::MigUnsupported,
        "The GPU has no MIG: the node keeps nvidia.com/mig.capable=false and the label "
        "nvidia.com/mig.config changes nothing. On EC2, P4d, P4de, P5, P6 and G7e have MIG; P3, "
        "G4dn, G5, G6 and G6e have not.",
        "", "Use time-slicing, or an instance type with MIG (slicewise get mig-profiles).",
        "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/"},
    CodeExplanation{
        Code::MigConfigUnknown,
        "The layout does not exist on this board, or its instances do not fit together. Profile "
        "names carry the memory of the board: 1g.5gb exists on the A100 with 40 GB, not on the "
        "one with 80 GB.",
        "error attempting multiple config orderings",
        "Choose a layout of this GPU: slicewise get mig-profiles --gpu NAME.",
        "https://github.com/NVIDIA/gpu-operator/issues/603"},
    CodeExplanation{Code::MigLayoutImpossible,
                    "A GPU instance may only sit at certain memory slices, and no two may overlap. "
                    "mig-parted does not check that: it accepts the file and fails on the GPU.",
                    "error attempting multiple config orderings",
                    "Take fewer or smaller instances: slicewise get mig-profiles --gpu NAME lists "
                    "slices and counts.",
                    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/"},
    CodeExplanation{
        Code::MigNotUniform,
        "With migStrategy single the device plugin calls every instance nvidia.com/gpu, so all of "
        "them must be of one profile, on all GPUs of the node.",
        "more than one MIG device type present on node",
        "Use mig.strategy: mixed, or one profile for all GPUs.",
        "https://github.com/NVIDIA/gpu-operator/issues/460"},
    CodeExplanation{
        Code::MigNotAdvertised,
        "With migStrategy none the device plugin counts GPUs, not instances: a container gets a "
        "GPU with MIG switched on, and CUDA opens its first instance. The others stay idle.",
        "", "Use mig.strategy: single or mixed.",
        "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/"},
    CodeExplanation{
        Code::MpsTooManyClients,
        "An MPS server takes a limited number of client processes per GPU: 48 on Volta and later, "
        "60 from CUDA 13.1 on. The stock device plugin allows 16 replicas below compute capability "
        "7.5, V100 included; its control daemon then does not start and the node offers no GPU.",
        "invalid MPS configuration: invalid device maximum allowed replicas exceeded: 64 > 48",
        "Fewer replicas, or fewer processes per pod; mps.clientLimit says what a newer driver "
        "takes.",
        "https://docs.nvidia.com/deploy/mps/"},
    CodeExplanation{
        Code::MpsOnMig,
        "The hardware runs an MPS server inside a MIG instance, and NVIDIA's DRA driver configures "
        "it, but the device plugin stops when it is asked to.",
        "sharing using MPS is not supported for MIG devices",
        "Time-slice the instances, or use the DRA driver; mps.force: true simulates it.",
        "https://github.com/NVIDIA/k8s-device-plugin"},
    CodeExplanation{
        Code::GpuExclusiveProcess,
        "The plugin's MPS daemon switches its GPUs to compute mode EXCLUSIVE_PROCESS. A process "
        "that does not connect to the MPS server cannot open them.",
        "CUDA error: all CUDA-capable devices are busy or unavailable",
        "Let every pod ask for the shared resource, or keep others off the nodes with a taint.",
        "https://github.com/NVIDIA/k8s-device-plugin/issues/647"},
    CodeExplanation{
        Code::ExportUnfit,
        "The kind of file that `export --to` was asked for has no way to say what the scenario "
        "says. Nothing is written: a file that says less would not give the simulated result.",
        "",
        "Choose another kind: `slicewise explain export` lists what each can say, and on which "
        "nodes it applies.",
        "https://bottlerocket.dev/en/os/1.54.x/api/settings/kubelet-device-plugins/ ; "
        "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"},
    CodeExplanation{Code::StrategyNotModelled,
                    "The file is right, but this version does not simulate what it asks for. It "
                    "stops rather than give numbers of something else.",
                    "", "The help line says what is simulated in its place.", ""},
    CodeExplanation{Code::InstanceUnknown, "The catalogue has no such EC2 instance type.", "",
                    "Use the suggested name, or see slicewise get instances.", kGetSource},
    CodeExplanation{Code::GpuUnknown, "The catalogue has no such GPU model.", "",
                    "Use the suggested name, or see slicewise get gpus.", kGetSource},
    CodeExplanation{Code::ProfileUnknown, "The catalogue has no such workload profile.", "",
                    "See slicewise get profiles, or give `measured` figures of your own.",
                    kGetSource},
    CodeExplanation{Code::RegionUnknown, "The catalogue has no prices for this region.", "",
                    "Choose a region that the message lists, or bring prices with --prices FILE.",
                    kGetSource},
    CodeExplanation{
        Code::PriceUnknown,
        "Nobody recorded a price for this instance type, region and purchase option. An unknown "
        "price is never taken as zero: every cost would be wrong.",
        "",
        "Choose another region or option, or bring the price with --prices FILE, a JSON file: "
        "{\"date\": \"2026-11-01\", \"prices\": [{\"instanceType\": \"g5.xlarge\", \"region\": "
        "\"eu-north-1\", \"purchase\": \"on-demand\", \"usdPerHour\": 1.067, \"source\": \"invoice "
        "of October\"}]}; purchase is on-demand, spot or reserved.",
        kGetSource},
};

}  // namespace slicewise::reports
