#include "slicewise/models/gpu_names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "slicewise/lookup.hpp"
#include "slicewise/nearest_name.hpp"

namespace slicewise::models {
namespace {

using Words = std::vector<std::string>;

// The words of a GPU's name, however it is written: "A100_80GB" and "NVIDIA A100-80GB" are {a100,
// 80gb}. GPU feature discovery ends the product in SHARED where pods share it.
Words words_of(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNoWords = {"", "nvidia", "tesla", "geforce", "shared"};
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (!contains(kNoWords, word)) words.push_back(word);
    word.clear();
  };
  for (const char c : name) {
    const char small = lower(c);
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) {
      word += small;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

std::string plain(std::string_view name) {
  return fmt::format("{}", fmt::join(words_of(name), "-"));
}

std::vector<std::string_view> names_of(const GpuModel& gpu) {
  std::vector<std::string_view> names = {gpu.name};
  names.insert(names.end(), gpu.aliases.begin(), gpu.aliases.end());
  if (!gpu.kubernetes_product.empty()) names.emplace_back(gpu.kubernetes_product);
  return names;
}

// How many of the words some name of the GPU has.
std::size_t words_in(const GpuModel& gpu, const Words& asked) {
  Words known;
  for (const std::string_view name : names_of(gpu)) {
    const Words words = words_of(name);
    known.insert(known.end(), words.begin(), words.end());
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(asked, [&](const std::string& word) { return contains(known, word); }));
}

// The variants of one model, "A100", with the most words of the name.
std::vector<std::string> variants_of(const std::vector<GpuModel>& gpus, const Words& asked) {
  std::vector<std::string> found;
  std::size_t most = 1;
  for (const GpuModel& gpu : gpus) {
    const Words own = words_of(gpu.name);
    if (asked.empty() || own.empty() || own.front() != asked.front()) continue;
    const std::size_t common = words_in(gpu, asked);
    if (common < most) continue;
    if (common > most) found.clear();
    most = common;
    found.push_back(gpu.name);
  }
  return found;
}

}  // namespace

const GpuModel* Catalogue::find_gpu(std::string_view name) const {
  const auto find = [&](const auto& is_it) -> const GpuModel* {
    return find_if_or_null(gpus, is_it);
  };
  const auto* as_written = find([&](const GpuModel& gpu) {
    return same_name(gpu.name, name) || std::ranges::any_of(gpu.aliases, [&](const auto& alias) {
             return same_name(alias, name);
           });
  });
  if (as_written != nullptr) return as_written;
  const std::string asked = plain(name);
  if (asked.empty()) return nullptr;
  return find([&](const GpuModel& gpu) {
    return std::ranges::any_of(names_of(gpu), [&](auto known) { return plain(known) == asked; });
  });
}

std::vector<std::string> Catalogue::gpus_like(std::string_view unknown) const {
  constexpr std::size_t kShortestPart = 2;
  const std::string asked = plain(unknown);
  std::vector<std::string> known;
  std::vector<std::string> begin_with;
  std::vector<std::string> hold;
  for (const GpuModel& gpu : gpus) {
    known.push_back(gpu.name);
    known.insert(known.end(), gpu.aliases.begin(), gpu.aliases.end());
    const std::size_t part = plain(gpu.name).find(asked);
    if (part == 0 && !asked.empty()) begin_with.push_back(gpu.name);
    if (part != std::string::npos && asked.size() >= kShortestPart) hold.push_back(gpu.name);
  }
  if (!begin_with.empty()) return begin_with;
  if (!hold.empty()) return hold;
  if (const auto nearest = nearest_name(asked, known)) return {*nearest};
  return variants_of(gpus, words_of(unknown));
}

std::string gpus_meant(const Catalogue& catalogue, std::string_view unknown) {
  const std::vector<std::string> like = catalogue.gpus_like(unknown);
  if (like.empty()) return "`slicewise get gpus` lists all; --catalogue adds others";
  return fmt::format("did you mean {}?", fmt::join(like, " or "));
}

std::vector<const GpuModel*> gpus_called(const Catalogue& catalogue, std::string_view name) {
  if (const GpuModel* gpu = catalogue.find_gpu(name)) return {gpu};
  const Words asked = words_of(name);
  std::vector<const GpuModel*> meant;
  for (const GpuModel& gpu : catalogue.gpus) {
    if (!asked.empty() && words_in(gpu, asked) == asked.size()) meant.push_back(&gpu);
  }
  return meant;
}

const GpuModel* gpu_called(const Catalogue& catalogue, std::string_view name) {
  if (const InstanceType* type = catalogue.find_instance(name)) {
    return catalogue.find_gpu(type->gpu_model);
  }
  const std::vector<const GpuModel*> meant = gpus_called(catalogue, name);
  return meant.size() == 1 ? meant.front() : nullptr;
}

}  // namespace slicewise::models
