#pragma once

#include <cstddef>
#include <cstdint>

// Positions in the arrays of one run. Each is its own type: passing a GPU where a node is expected
// does not compile.
namespace slicewise {

enum class NodeId : std::uint32_t {};
enum class DomainId : std::uint32_t {};
enum class WorkloadId : std::uint32_t {};
enum class PoolId : std::uint32_t {};
enum class ResourceId : std::uint32_t {};

// The array position behind an id.
template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

template <class Id>
constexpr Id make_id(std::size_t position) {
  return static_cast<Id>(position);
}

}  // namespace slicewise
