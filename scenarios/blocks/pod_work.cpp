#include "blocks.hpp"

// What one pod does on a GPU and what it takes there.
namespace slicewise::scenarios {
namespace {

using T = FieldType;

constexpr Word kAllocators[] = {{"OnDemand", Allocator::OnDemand},
                                {"Greedy", Allocator::Greedy},
                                {"Capped", Allocator::Capped}};
constexpr Word kHostPhases[] = {{"Overlapped", Work::HostPhase::Overlapped},
                                {"Serial", Work::HostPhase::Serial}};

constexpr Field kMeasuredFields[] = {
    field<&Measured::device>("device", "V100-SXM2-16GB",
                             "GPU model on which the figures hold (slicewise get gpus).")
        .positive()
        .otherwise("the pool's own GPU"),
    field<&Measured::unit_time>("unitTime", "18s",
                                "Wall time of a work unit, one pod alone on one GPU.")
        .positive(),
    field<&Measured::unit_time_cv>("unitTimeVariation", "5%",
                                   "Coefficient of variation of unitTime between pods.")
        .as(T::Percent),
    field<&Measured::gpu_busy>(
        "gpuBusy", "38%",
        "Share of the time in which some kernel runs: DCGM_FI_PROF_GR_ENGINE_ACTIVE. Drives "
        "time-slicing. Not of a Service: its requests have serving.cpuBefore, bursts and "
        "cpuBetween.")
        .as(T::Percent),
    field<&Measured::gpu_util>(
        "gpuUtil", "60%",
        "nvidia-smi's utilization, DCGM_FI_DEV_GPU_UTIL, in place of gpuBusy, which it overstates.")
        .as(T::Percent),
    field<&Measured::turn_use>("turnUse", "30%",
                               "Part of a turn that batch work uses before it has nothing to do "
                               "for a moment, under time-slicing beside others that have it, too: "
                               "who waits for its host between short kernels gives most of each "
                               "turn away. `slicewise calibrate` finds it beside one neighbour.")
        .as(T::Percent)
        .otherwise("turns in proportion to gpuBusy"),
    field<&Measured::batch>("batch", "8", "Items in the step or request that was measured.")
        .between(1, 1'000'000)
        .otherwise("the profile's, else 1"),
    field<&Measured::capacity_share>(
        "capacityShare", "44%",
        "Share of the whole GPU's capacity that it takes while it runs alone, for a Service while "
        "it answers a request. At most gpuBusy or gpuUtil. Drives MPS and MIG.")
        .as(T::Percent),
    field<&Measured::sm_active>(
        "smActive", "21%",
        "Share of the time in which an SM is busy, averaged over the SMs (DCGM). Without a "
        "capacityShare that is taken as this, as sqrt(smActive x gpuUtil) where gpuUtil was "
        "counted, too, and of a Service, whose kernels run while it has the GPU, as sqrt(smActive) "
        "(at most 1.4 times smActive).")
        .as(T::Percent),
    field<&Measured::dram_active>(
        "dramActive", "15%",
        "Share of the time in which device memory is read or written: DCGM_FI_PROF_DRAM_ACTIVE. "
        "Kernels run for as long at least, where gpuBusy is not known.")
        .as(T::Percent),
    field<&Measured::cpu>("cpu", "2600m", "Host CPU that a running pod uses on average.")
        .up_to(10'000'000),
    field<&Measured::request_gpu_time>("requestGpuTime", "{p50: 31ms, p99: 44ms}",
                                       "GPU time of one request of a Service, alone on the GPU.")
        .of(kRandomTime),
    field<&Measured::extra_per_item>("extraPerItem", "4ms",
                                     "GPU time of one more request in a batch (Service).")
        .otherwise("what the law of smActive gives: requestGpuTime at 100 %, less below"),
    field<&Measured::kernel_time>(
        "kernelTime", "85us",
        "Mean length of its kernels (nsys stats, cuda_gpu_kern_sum). Under MPS kernels take turns "
        "with those of neighbours that have it, too: long ones make short ones wait.")
        .positive()
        .otherwise("the profile's, else neighbours share in proportion to what each asks for"),
    field<&Measured::longest_kernel>("longestKernel", "12ms",
                                     "Longest of its kernels. It changes nothing: GPUs since "
                                     "Pascal stop a kernel when its turn is over.")
        .positive(),
    field<&Measured::bandwidth_share>(
        "bandwidthShare", "30%", "Share of the work that memory bandwidth limits, not the SMs.")
        .as(T::Percent),
    field<&Measured::norm_p>("normP", "2",
                             "Exponent p of the execution law T = (T0^p + (W/f)^p)^(1/p): 1 when "
                             "fixed and scalable work take turns, more the better they overlap.")
        .between(1, 1'000)
        .otherwise("the profile's, else 3 (published work lies between 1 and 6), 1 where its host "
                   "phase is Serial"),
    field<&Measured::sensitivity>("sensitivity", "0.6",
                                  "How much it suffers under MPS: neighbours of pressure c slow it "
                                  "down by 1 + sensitivity * (sum of c).")
        .up_to(1'000),
    field<&Measured::pressure>(
        "pressure", "0.5",
        "How much its neighbours suffer under MPS, per unit of their sensitivity.")
        .up_to(1'000),
    field<&Measured::provenance>("provenance", "Measured",
                                 "Where the figures come from; reports count them.")
        .one_of(kProvenances),
};

constexpr Field kGpuMemoryFields[] = {
    field<&GpuMemory::allocator>("allocator", "Greedy",
                                 "OnDemand takes what it needs, Greedy (TensorFlow's default) maps "
                                 "the whole GPU at start, Capped keeps to a set limit.")
        .one_of(kAllocators),
    field<&GpuMemory::resident>("resident", "1400Mi",
                                "GPU memory after start-up, without the CUDA context."),
    field<&GpuMemory::peak>("peak", "3000Mi",
                            "The most GPU memory it ever holds: from when it has loaded and begins "
                            "to work; until then it holds `resident`.")
        .otherwise("resident"),
};

constexpr Field kStartupFields[] = {
    field<&Startup::image_pull>("imagePull", "40s",
                                "Time to pull the image, for the first pod on a node."),
    field<&Startup::model_load>("modelLoad", "12s",
                                "Time from container start to ready, every start."),
    field<&Startup::cold>("cold", "true",
                          "Of a Service: whether its replicas start with the run. Else those that "
                          "have a node at once are ready before the first request.")
        .otherwise("false"),
};

constexpr Field kAllReduceFields[] = {
    field<&AllReduce::bytes_per_step>(
        "bytesPerStep", "98Mi",
        "What each GPU of the pod contributes to a step: the size of the gradients. It takes bytes "
        "/ rate of the links between the GPUs that the pod was given, on top of the measured unit "
        "and not beside it.")
        .needed(),
};
constexpr FieldList kAllReduce = block<AllReduce>(kAllReduceFields);

constexpr Field kWorkFields[] = {
    field<&Work::units>("units", "100", "Units of work of one pod: epochs, files, ...")
        .needed()
        .positive(),
    field<&Work::unit_name>("unitName", "epoch", "What a unit is called in reports.").positive(),
    field<&Work::steps_per_unit>("stepsPerUnit", "1563",
                                 "GPU bursts in a unit, such as training steps in an epoch.")
        .positive(),
    field<&Work::host_phase>("hostPhase", "Serial",
                             "Overlapped: the host prepares the next steps while the GPU works "
                             "(data loaders, asynchronous launches). Serial: the two take turns.")
        .one_of(kHostPhases),
    field<&Work::all_reduce>(
        "allReduce", "{bytesPerStep: 98Mi}",
        "Gradients that the GPUs of a pod with several add up at the end of each step. Absent: the "
        "measured unit has them in it, whatever GPUs the pod gets. Needs stepsPerUnit.")
        .of(kAllReduce),
};

}  // namespace

constinit const FieldList kMeasured = block<Measured>(kMeasuredFields);
constinit const FieldList kGpuMemory = block<GpuMemory>(kGpuMemoryFields);
constinit const FieldList kStartup = block<Startup>(kStartupFields);
constinit const FieldList kWork = block<Work>(kWorkFields);

}  // namespace slicewise::scenarios
