#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a result holds, as its declarations say (sim/result/result_record.cpp): for `explain` and
// for RESULT.md.
namespace slicewise::reports {

struct DeclaredValue {
  std::string path;  // "variants[].pods.oomKilled"
  std::string type;  // "number", "seconds", "list"
  std::string_view meaning;
  bool may_be_absent = false;
  std::vector<std::string> csv;       // columns
  std::vector<std::string> policies;  // "pods.oomKills", "workloads.NAME.latencyP99"
  std::vector<std::string> diff;      // figures of `slicewise diff`, with their conditions
};

// In the order declared; objects before what they hold.
const std::vector<DeclaredValue>& values_of_results();

// By its path, with or without "result." or "variants[].", or by what policies, CSV or `diff` call
// it; nullptr: there is none.
const DeclaredValue* find_value(std::string_view name);

}  // namespace slicewise::reports
