#include "random_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include "slicewise/portable_math.hpp"

namespace slicewise::models {
namespace {

// The state that Python's random.Random(seed) begins with: init_by_array of the reference
// implementation (Matsumoto and Nishimura, mt19937ar.c) with a key of one word.
class PythonSeed {
 public:
  using result_type = std::uint32_t;

  explicit PythonSeed(std::uint32_t seed) : seed_(seed) {}

  template <class Iterator>
  void generate(Iterator begin, Iterator end) const {
    const auto size = static_cast<std::uint32_t>(end - begin);
    const auto mixed = [&](std::uint32_t i, std::uint32_t factor) {
      const std::uint32_t before = begin[i - 1];
      return begin[i] ^ ((before ^ (before >> 30)) * factor);
    };
    begin[0] = 19650218;
    for (std::uint32_t i = 1; i < size; ++i) {
      const std::uint32_t before = begin[i - 1];
      begin[i] = 1812433253 * (before ^ (before >> 30)) + i;
    }
    std::uint32_t i = 1;
    const auto step = [&] {
      if (++i < size) return;
      begin[0] = begin[size - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < size; ++k, step()) begin[i] = mixed(i, 1664525) + seed_;
    for (std::uint32_t k = 1; k < size; ++k, step()) begin[i] = mixed(i, 1566083941) - i;
    begin[0] = 0x80000000;
  }

 private:
  std::uint32_t seed_;
};

// Sums of random.Random(seed).expovariate(rate) below `seconds`.
std::vector<Duration> arrivals(std::uint32_t seed, double rate, double seconds) {
  PythonSeed state(seed);
  std::mt19937 draw(state);
  std::vector<Duration> due;
  double at = 0;
  while (true) {
    const std::uint64_t high = draw() >> 5;
    const std::uint64_t low = draw() >> 6;
    const auto bits = static_cast<double>(high << 26 | low);  // all 53 of Python's random()
    at -= portable_log(1 - bits / 9007199254740992) / rate;
    if (at >= seconds) return due;
    due.push_back(from_seconds(at));
  }
}

double number_at(const CsvField& field, const std::string& file) {
  const auto value = number_in(field.text);
  if (value && *value > 0) return *value;
  throw std::runtime_error(file + ":" + std::to_string(field.line) + ": not a positive number");
}

MeasuredProcess alone_of(const std::vector<Measurement>& alone, const std::string& gpu,
                         const std::string& workload, const std::string& file) {
  MeasuredProcess process = process_alone(alone, gpu, workload, 1);
  if (process.alone.ns > 0) return process;
  throw std::runtime_error(file + ": nobody measured " + workload + " alone");
}

}  // namespace

std::vector<MeasuredCompany> read_random_requests(const CsvTable& table,
                                                  const std::vector<Measurement>& alone,
                                                  const std::string& gpu, const std::string& file) {
  constexpr std::size_t kFields = 10;
  constexpr double kMilliseconds = 1e-3;
  std::vector<MeasuredCompany> companies;
  double last_seed = 0;
  std::string last;
  for (const CsvRow& row : table.rows) {
    if (row.size() != kFields) throw std::runtime_error(file + ": a row of another length");
    const std::string& beside = row[2].text;
    const double seconds = number_at(row[4], file);
    const double seed = number_at(row[5], file);
    MeasuredProcess process = alone_of(alone, gpu, row[1].text, file);
    process.due = arrivals(static_cast<std::uint32_t>(seed), number_at(row[3], file), seconds);
    process.time = from_seconds(number_at(row[7], file) * kMilliseconds);
    process.p99 = from_seconds(number_at(row[9], file) * kMilliseconds);
    const std::string company = row[0].text + row[1].text;
    const bool is_copy = beside == "copies";
    if (is_copy && company == last && seed > last_seed) {
      companies.back().processes.push_back(std::move(process));
    } else {
      MeasuredCompany with;
      with.in_turns = row[0].text == "time-slicing";
      with.length = from_seconds(seconds);
      with.processes.push_back(std::move(process));
      if (!is_copy) with.processes.push_back(alone_of(alone, gpu, beside, file));
      companies.push_back(std::move(with));
    }
    last = is_copy ? company : "";
    last_seed = seed;
  }
  return companies;
}

}  // namespace slicewise::models
