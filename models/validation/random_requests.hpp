#pragma once

#include <string>
#include <vector>

#include "slicewise/models/measurements.hpp"

#include "csv_table.hpp"

namespace slicewise::models {

// Requests that came at random: sharing, workload, beside, rate_per_s, seconds, seed, requests,
// mean_ms, p50_ms, p99_ms. A process is due to answer at sums of random.Random(seed).expovariate of
// Python. Beside another workload, that sends a request as soon as its last one is answered; beside
// "copies", the rows that follow each other with growing seeds are one company. `alone`: rows of
// the same workloads alone. A row that is wrong throws std::runtime_error.
std::vector<MeasuredCompany> read_random_requests(const CsvTable& table,
                                                  const std::vector<Measurement>& alone,
                                                  const std::string& gpu, const std::string& file);

}  // namespace slicewise::models
