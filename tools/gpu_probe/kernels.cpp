#include "kernels.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace slicewise::gpu_probe {
namespace {

// Volta is the oldest that slicewise models; newer GPUs compile the text when they load it.
constexpr std::string_view kHeader = ".version 6.0\n.target sm_70\n.address_size 64\n";

// Registers: rd1 report, rd2 data, rd3 words, rd4 deadline, rd5 now, rd6 last, rd7 units, rd8
// pauses, rd9 begin, r1 number of the thread, r2 all threads, r3 mask of words, r4 position; p1
// first thread.
constexpr std::string_view kPrologue = R"(
.visible .entry {name}(.param .u64 report, .param .u64 data, .param .u64 words, .param .u64 span)
{{
  .reg .pred %p<6>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<24>;
  .reg .f32 %f<12>;
  ld.param.u64 %rd1, [report];
  ld.param.u64 %rd2, [data];
  ld.param.u64 %rd3, [words];
  ld.param.u64 %rd4, [span];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r5;
  mov.u32 %r5, %nctaid.x;
  mul.lo.u32 %r2, %r2, %r5;
  setp.eq.u32 %p1, %r1, 0;
  cvt.u32.u64 %r3, %rd3;
  sub.u32 %r3, %r3, 1;
  mov.u32 %r4, %r1;
  mov.u32 %r6, 0;
  cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F800001;
  mov.f32 %f3, 0f3F000000;
  mov.u64 %rd7, 0;
  mov.u64 %rd8, 0;
  mov.u64 %rd9, %globaltimer;
  mov.u64 %rd6, %rd9;
  add.u64 %rd4, %rd4, %rd9;
ROUND:
)";

constexpr std::string_view kEpilogue = R"(
  add.u64 %rd7, %rd7, 1;
  mov.u64 %rd5, %globaltimer;
  @!%p1 bra GOES_ON;
  sub.u64 %rd10, %rd5, %rd6;
  setp.lt.u64 %p2, %rd10, {pause};
  setp.ge.u64 %p3, %rd8, {most};
  or.pred %p2, %p2, %p3;
  @%p2 bra NO_PAUSE;
  shl.b64 %rd11, %rd8, 4;
  add.u64 %rd11, %rd11, %rd1;
  st.global.u64 [%rd11+32], %rd6;
  st.global.u64 [%rd11+40], %rd5;
  add.u64 %rd8, %rd8, 1;
NO_PAUSE:
  mov.u64 %rd6, %rd5;
GOES_ON:
  setp.lt.u64 %p4, %rd5, %rd4;
  @%p4 bra ROUND;
  red.global.add.u64 [%rd1+16], %rd7;
  setp.eq.u32 %p5, %r6, 0x7FEDCBA9;
  @%p5 st.global.u32 [%rd2], %r6;
  setp.eq.f32 %p5, %f1, 0f7F7FFFFF;
  @%p5 st.global.f32 [%rd2], %f1;
  @!%p1 bra END;
  st.global.u64 [%rd1], %rd9;
  st.global.u64 [%rd1+8], %rd5;
  st.global.u64 [%rd1+24], %rd8;
END:
  ret;
}}
)";

constexpr int kSteps = 16;  // of a round: some microseconds at most, so that pauses stand out

// Each waits for the one before: the arithmetic units are busy, the memory idle.
std::string compute_round() {
  std::string text;
  for (int step = 0; step < 4 * kSteps; ++step) text += "  fma.rn.f32 %f1, %f1, %f2, %f3;\n";
  return text;
}

// Reads that do not wait for each other, the threads of a warp side by side.
std::string bandwidth_round() {
  std::string text;
  for (int step = 0; step < kSteps; ++step) {
    text += fmt::format(
        "  and.b32 %r5, %r4, %r3;\n  mul.wide.u32 %rd12, %r5, 4;\n  add.u64 %rd12, %rd12, %rd2;\n"
        "  ld.global.cg.u32 %r{0}, [%rd12];\n  add.u32 %r4, %r4, %r2;\n",
        20 + step);
  }
  for (int step = 0; step < kSteps; ++step) {
    text += fmt::format("  xor.b32 %r6, %r6, %r{};\n", 20 + step);
  }
  return text;
}

// Each address is what the last read brought.
std::string latency_round() {
  std::string text = "  and.b32 %r4, %r4, %r3;\n";
  for (int step = 0; step < kSteps / 4; ++step) {
    text +=
        "  mul.wide.u32 %rd12, %r4, 4;\n  add.u64 %rd12, %rd12, %rd2;\n"
        "  ld.global.cg.u32 %r4, [%rd12];\n";
  }
  return text + "  xor.b32 %r6, %r6, %r4;\n";
}

std::string entry(Kernel kernel, const std::string& round) {
  return fmt::format(kPrologue, fmt::arg("name", name_of(kernel))) + round +
         fmt::format(kEpilogue, fmt::arg("pause", kPause), fmt::arg("most", kMostPauses));
}

}  // namespace

std::optional<Kernel> kernel_called(std::string_view name) {
  const auto* const found = std::ranges::find(kKernelNames, name);
  if (found == kKernelNames.end()) return std::nullopt;
  return static_cast<Kernel>(found - kKernelNames.begin());
}

std::string ptx_text() {
  return std::string(kHeader) + entry(Kernel::Compute, compute_round()) +
         entry(Kernel::Bandwidth, bandwidth_round()) + entry(Kernel::Latency, latency_round());
}

}  // namespace slicewise::gpu_probe
