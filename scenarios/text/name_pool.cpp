#include "name_pool.hpp"

#include <algorithm>

#include "characters.hpp"

namespace slicewise::scenarios {
namespace {

// FNV-1a; the low bits are well mixed, which is all that the table needs.
std::size_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return static_cast<std::size_t>(hash ^ hash >> 32U);
}

}  // namespace

NamePool::NamePool(std::vector<std::string>& names) : names_(names), slots_(64) {
  if (names_.empty()) names_.emplace_back();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (2 * i >= slots_.size()) grow();
    std::size_t slot = hash_of(names_[i]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(i) + 1;
  }
}

std::uint32_t NamePool::number_of(std::string_view name) {
  if (name.empty()) return 0;
  std::string clean;
  if (std::any_of(name.begin(), name.end(), is_control)) {
    clean = name;
    std::replace_if(clean.begin(), clean.end(), is_control, '?');
    name = clean;
  }
  std::size_t slot = hash_of(name) & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (names_[slots_[slot] - 1] == name) return slots_[slot] - 1;
  }
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  slots_[slot] = number + 1;
  if (2 * names_.size() > slots_.size()) grow();
  return number;
}

void NamePool::grow() {
  std::vector<std::uint32_t> larger(slots_.size() * 2);
  for (const std::uint32_t entry : slots_) {
    if (entry == 0) continue;
    std::size_t slot = hash_of(names_[entry - 1]) & (larger.size() - 1);
    while (larger[slot] != 0) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = entry;
  }
  slots_ = std::move(larger);
}

}  // namespace slicewise::scenarios
