#pragma once

#include <cstdint>
#include <vector>

// Round robin over processes that have a kernel, as a GPU under time-slicing does it.
namespace fake_gpu {

struct Record {
  int process = 0;
  int kernel = 0;  // 0 compute, 1 bandwidth, 2 latency
  bool fills = false;
  std::uint64_t from = 0;  // launch
  std::uint64_t to = 0;    // when its time is over
};

struct Span {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// When `mine` has the GPU. `all` are sorted by `from` and include `mine`; times in nanoseconds.
inline std::vector<Span> turns_of(const Record& mine, const std::vector<Record>& all,
                                  std::uint64_t turn, std::uint64_t change) {
  std::uint64_t now = 0;  // the last time before `mine` at which the GPU began to be busy
  std::uint64_t idle_at = 0;
  for (const Record& record : all) {
    if (record.from > mine.from) break;
    if (record.from >= idle_at) now = record.from;
    idle_at = record.to > idle_at ? record.to : idle_at;
  }
  std::vector<Span> out;
  int last = -1;
  while (now < mine.to) {
    const Record* next = nullptr;  // the process after `last`, in a circle
    std::uint64_t soonest = mine.to;
    const auto distance = [&](int process) { return process > last ? process : process + 1000; };
    for (const Record& record : all) {
      if (record.from > now) {
        soonest = record.from < soonest ? record.from : soonest;
        break;
      }
      if (record.to <= now) continue;
      if (next == nullptr || distance(record.process) < distance(next->process)) next = &record;
    }
    if (next == nullptr) {
      now = soonest;
      continue;
    }
    if (last >= 0 && next->process != last) now += change;
    last = next->process;
    const std::uint64_t end = now + turn < next->to ? now + turn : next->to;
    if (last == mine.process && end > now) {
      if (!out.empty() && out.back().to == now) {
        out.back().to = end;
      } else {
        out.push_back({now, end});
      }
    }
    now = end > now ? end : now;
  }
  return out;
}

}  // namespace fake_gpu
