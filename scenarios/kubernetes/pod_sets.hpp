#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "slicewise/scenarios/pod_file.hpp"

// Where the objects that people write say which pods they make. A kind that is new is a row here.
namespace slicewise::scenarios::manifests {

// Keys with dots between them, from the object on: "spec.template".
using KeyPath = std::string_view;

// One set of pods that are alike, which the objects of a kind make.
struct PodSet {
  std::string_view kind;
  std::string_view group = {};  // of its API; "" any that has the kind
  PodPurpose purpose = PodPurpose::Unsaid;
  // What the paths below start from: the object, or with "[]" or "{}" behind the last key each item
  // of a list or value of a mapping that is not switched off by `enabled: false`.
  KeyPath at = {};
  // What their names end in: the text of `named_by` in an item, the key of a mapping, or `suffix`.
  KeyPath named_by = {};
  std::string_view suffix = {};
  KeyPath pods = {};                                  // metadata and spec of a pod
  bool is_bare_spec = false;                          // ... or the spec alone
  std::span<const std::string_view> containers = {};  // keys there that hold one; "" itself is one
  std::string_view resources = "resources";           // of such a container
  std::array<KeyPath, 2> counts = {};                 // multiplied; each is 1 where nobody says it
  KeyPath backoff_limit = {};
  KeyPath cron = {};         // of the schedule and what belongs to it
  KeyPath completions = {};  // takes the place of the last count for the whole of a Job
  KeyPath succeeded = {};    // of these, as the API server says
  KeyPath fewest = {};       // replicas that an autoscaler of the kind leaves
  KeyPath most = {};
  std::int64_t by_default = 1;  // replicas where neither they nor the fewest are given
  // Pods that are of use together: so many, or ranks of which each has so many, times the stages of
  // a pipeline; one of them is another set's where `leader` is there.
  KeyPath group_size = {};
  KeyPath ranks_each = {};
  KeyPath stages = {};
  KeyPath leader = {};
  bool works_together = false;
};

std::span<const PodSet> pod_sets();

}  // namespace slicewise::scenarios::manifests
