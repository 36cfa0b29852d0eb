#include "slicewise/models/gpu_names.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace slicewise::models {
namespace {

// The words of a GPU's name, however it is written: "A100_80GB" and "a100-80gb" are {80gb, a100}.
std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) {
      word += lower;
    } else {
      words.insert(std::exchange(word, {}));
    }
  }
  words.insert(word);
  for (const char* maker : {"", "nvidia", "tesla", "geforce"}) words.erase(maker);
  return words;
}

}  // namespace

std::vector<const GpuModel*> gpus_called(const Catalogue& catalogue, std::string_view name) {
  if (const GpuModel* gpu = catalogue.find_gpu(name)) return {gpu};
  const std::set<std::string> asked = words_of(name);
  std::vector<const GpuModel*> meant;
  for (const GpuModel& gpu : catalogue.gpus) {
    if (!asked.empty() && std::ranges::includes(words_of(gpu.name), asked)) meant.push_back(&gpu);
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
