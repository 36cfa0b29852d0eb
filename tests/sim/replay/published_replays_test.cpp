#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slicewise/models/execution_law.hpp"
#include "slicewise/models/validation.hpp"
#include "slicewise/scenarios/import.hpp"
#include "slicewise/sim/replay/sharing.hpp"

#include "job_samples.hpp"

// Real traces against figures that others published for them.
namespace slicewise::sim {
namespace {

// nullopt when the traces are not beside the checkout.
std::optional<scenarios::JobTrace> shared_trace(const std::string& path, const char* columns) {
  const std::string name = std::string(SLICEWISE_SHARED_DIR) + "/traces/" + path;
  std::ifstream file(name, std::ios::binary);
  if (!file) return std::nullopt;
  const std::vector<SourceText> sources = {
      {name, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}}};
  scenarios::ImportOptions options;
  options.columns = columns;
  auto imported = scenarios::import_log(scenarios::ImportKind::Jobs, sources, options);
  EXPECT_TRUE(imported.has_value()) << imported.error().front().message;
  if (!imported) return std::nullopt;
  return std::get<scenarios::JobTrace>(std::move(imported->content));
}

// The definition, in a few lines: each job in row order starts when it has arrived, its
// predecessor has started and enough GPUs are free.
std::vector<TimePoint> strict_starts(const scenarios::JobTrace& trace, std::int64_t gpus) {
  using End = std::pair<TimePoint, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::vector<TimePoint> starts;
  TimePoint now;
  for (std::size_t row = 0; row < trace.size(); ++row) {
    now = std::max(now, TimePoint{trace.arrival[row].ns});
    while (!ends.empty() && (ends.top().first <= now || gpus < trace.gpus[row])) {
      now = std::max(now, ends.top().first);
      gpus += ends.top().second;
      ends.pop();
    }
    gpus -= trace.gpus[row];
    ends.emplace(now + trace.run[row], trace.gpus[row]);
    starts.push_back(now);
  }
  return starts;
}

TEST(ThoroughTraces, PhillyWaitsAreThoseOfStrictFcfsJobByJob) {
  const auto trace = shared_trace("philly/philly_attempts.csv", "philly");
  if (!trace) GTEST_SKIP() << "traces/philly/philly_attempts.csv is not here";
  ASSERT_EQ(trace->size(), 151'816U);
  struct Published {
    std::int64_t gpus;
    double mean_wait_s;
  };
  std::cout << "GPUS   MEAN WAIT S    PUBLISHED\n";
  for (const Published& published :
       {Published{1'500, 578'819.6}, Published{2'000, 23'282.18}, Published{3'000, 14.8993}}) {
    const auto result = replay(*trace, on_pool(published.gpus, QueuePolicy::Fifo));
    ASSERT_TRUE(result.has_value());
    const std::vector<TimePoint> starts = strict_starts(*trace, published.gpus);
    std::int64_t different = 0;
    for (std::size_t row = 0; row < trace->size(); ++row) {
      different += result->job_times[row].start == starts[row] ? 0 : 1;
    }
    const double mean = to_seconds(result->wait.mean());
    std::cout << published.gpus << "   " << mean << "   " << published.mean_wait_s << '\n';
    EXPECT_EQ(different, 0) << "with " << published.gpus << " GPUs";
    // The published mean of 2,000 GPUs is 0.02 s off the definition above, one part in a million.
    EXPECT_NEAR(mean / published.mean_wait_s, 1, 1e-5);
  }
}

struct MuriFigure {
  const char* trace;
  QueuePolicy queue;
  double completion_s;
  double makespan_s;  // 0: not published
};

// Source: Zhao et al., "Multi-resource interleaving for deep learning training", SIGCOMM'22, and
// its artefact's results for trace 3 and 4, 64 GPUs as 8 x 8.
constexpr MuriFigure kMuri[] = {
    {"trace3", QueuePolicy::ShortestTime, 193'082, 8'174'135},
    {"trace3", QueuePolicy::ShortestService, 185'022, 0},
    {"trace4", QueuePolicy::ShortestTime, 581'983, 14'787'991},
    {"trace4", QueuePolicy::ShortestService, 487'167, 0},
    {"trace3", QueuePolicy::Muri, 88'687, 8'174'135},
    {"trace3", QueuePolicy::AntMan, 305'454, 8'174'140},
    {"trace4", QueuePolicy::Muri, 429'175, 10'918'239},
    {"trace4", QueuePolicy::AntMan, 2'212'463, 12'292'271},
};

TEST(ThoroughTraces, MuriTracesComeCloseToThePublishedCompletionTimes) {
  std::cout << "TRACE   QUEUE  MEAN COMPLETION S  PUBLISHED  RATIO  MAKESPAN S  PUBLISHED  RATIO\n";
  for (const MuriFigure& figure : kMuri) {
    const std::string file = std::string("philly_muri/") + figure.trace + ".csv";
    const auto trace = shared_trace(file, "muri");
    if (!trace) GTEST_SKIP() << "traces/" << file << " is not here";
    const auto result = replay(*trace, on_nodes(8, 8, figure.queue));
    ASSERT_TRUE(result.has_value());
    ASSERT_EQ(result->finished, static_cast<std::int64_t>(trace->size()));
    const double completion = to_seconds(result->completion.mean()) / figure.completion_s;
    const double last_end = to_seconds(result->last_end - TimePoint{});
    std::cout << figure.trace << "  " << policy_name(figure.queue) << "   "
              << to_seconds(result->completion.mean()) << "  " << figure.completion_s << "  "
              << completion << "  " << last_end << "  " << figure.makespan_s << "  "
              << (figure.makespan_s > 0 ? last_end / figure.makespan_s : 0) << '\n';
    // Ideal preemption without cost must be somewhat better than what was measured.
    EXPECT_GE(completion, 0.90);
    const bool interleaves =
        figure.queue == QueuePolicy::Muri || figure.queue == QueuePolicy::AntMan;
    EXPECT_LE(completion, interleaves ? 1.10 : 1.02);
    if (figure.makespan_s > 0) {
      EXPECT_NEAR(last_end / figure.makespan_s, 0.96, 0.06);
    }
  }
}

// Two jobs on one GPU from the same moment on, of which the trace says something.
using Says = std::function<void(scenarios::JobTrace&)>;

// Speeds while both run.
std::array<double, 2> replayed_pair(const ReplaySettings& settings, const Says& says) {
  constexpr double kRun_s = 1e5;
  auto trace = trace_of({{0, 100'000, 1}, {0, 100'000, 1}});
  says(trace);
  const auto result = replay(trace, settings);
  EXPECT_TRUE(result.has_value());
  const double ends[] = {to_seconds(result->job_times[0].end - TimePoint{}),
                         to_seconds(result->job_times[1].end - TimePoint{})};
  const std::size_t first = ends[0] <= ends[1] ? 0 : 1;
  std::array<double, 2> speeds{};
  speeds[first] = kRun_s / ends[first];
  // The other one is alone from then on.
  speeds[1 - first] = (kRun_s - (ends[1 - first] - ends[first])) / ends[first];
  return speeds;
}

double error_percent(const std::array<double, 2>& speeds, const models::MeasuredPair& pair) {
  return 50 *
         (std::abs(speeds[0] / pair.first_speed - 1) + std::abs(speeds[1] / pair.second_speed - 1));
}

// Whether Gavel's rule lets a pair share a GPU.
bool is_packed(const std::array<double, 2>& speeds) { return speeds[0] + speeds[1] > 1.5; }

// Pairs of training jobs on an RTX 3090, replayed from nothing but their GPU utilisation on the
// nearest GPU that EC2 has.
TEST(Traces, PairsThatLucidMeasuredSlowEachOtherDownInAReplay) {
  const std::string name =
      std::string(SLICEWISE_SHARED_DIR) + "/facts/measurements/lucid_pairs_half.csv";
  std::ifstream file(name, std::ios::binary);
  if (!file) GTEST_SKIP() << name << " is not here";
  const auto source = models::read_pairs(
      {name, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
  ASSERT_TRUE(source.has_value());
  const ReplaySettings settings = on_instances("g5.xlarge", 1, "time-slicing:2");
  double error = 0;
  double without_company = 0;
  int pairs = 0;
  int as_gavel = 0;
  for (const models::MeasuredPair& pair : source->pairs) {
    if (!pair.first_utilisation || !pair.second_utilisation) continue;
    const auto permille = [](double share) {
      return static_cast<std::int32_t>(std::lround(1000 * share));
    };
    const auto speeds = replayed_pair(settings, [&](scenarios::JobTrace& trace) {
      trace.gpu_permille.owned = {permille(*pair.first_utilisation),
                                  permille(*pair.second_utilisation)};
    });
    error += error_percent(speeds, pair);
    as_gavel += is_packed(speeds) == is_packed({pair.first_speed, pair.second_speed}) ? 1 : 0;
    without_company += error_percent({1, 1}, pair);
    ++pairs;
  }
  std::cout << pairs << " pairs of Lucid: mean error of the speeds " << error / pairs
            << " %, of a replay without sharing " << without_company / pairs << " %\n";
  // Gavel's rule says the same of 94 % of them as it would by the measurements.
  EXPECT_GE(as_gavel, 0.93 * pairs);
  EXPECT_GT(pairs, 600);
  EXPECT_LE(error / pairs, 9);
  EXPECT_LE(error, 0.7 * without_company);
}

// Pairs of unlike jobs, from what pairs of equals say of each job: the part of the GPU's time that
// it takes, as a trace has it.
TEST(Traces, PairsThatGavelMeasuredSlowEachOtherDownInAReplay) {
  const models::ValidationSet set = models::load_validation_set();
  const ReplaySettings settings = on_instances("p3.2xlarge", 1, "time-slicing:2");
  const models::TimeSlice& slice = settings.sharing->pools.front().driver_slice;
  const double overhead = to_seconds(slice.switch_cost) / to_seconds(slice.turn);
  for (const auto& [id, bound] : {std::pair{"gavel-p100", 19.0}, std::pair{"gavel-k80", 17.0}}) {
    const auto source = std::ranges::find(set.sources, id, &models::MeasurementSource::id);
    ASSERT_NE(source, set.sources.end());
    std::map<std::string, std::int32_t> duty_milli;
    for (const models::MeasuredPair& pair : source->pairs) {
      if (pair.first != pair.second) continue;
      std::int32_t milli = 1;
      const auto speed = [&] {
        return 1 / models::overlapped_slowdown(milli / 1000.0, milli / 500.0, overhead);
      };
      while (milli < 1000 && speed() > pair.first_speed) ++milli;
      duty_milli[pair.first] = milli;
    }
    double error = 0;
    int pairs = 0;
    for (const models::MeasuredPair& pair : source->pairs) {
      const auto first = duty_milli.find(pair.first);
      const auto second = duty_milli.find(pair.second);
      const bool known = first != duty_milli.end() && second != duty_milli.end();
      if (!known || pair.first == pair.second) continue;
      const auto speeds = replayed_pair(settings, [&](scenarios::JobTrace& trace) {
        trace.gpu_milli.owned = {first->second, second->second};
      });
      error += error_percent(speeds, pair);
      // None of them gains enough, measured or predicted.
      EXPECT_FALSE(is_packed({pair.first_speed, pair.second_speed}));
      EXPECT_FALSE(is_packed(speeds));
      ++pairs;
    }
    std::cout << pairs << " pairs of " << id << ": mean error of the speeds " << error / pairs
              << " %\n";
    EXPECT_GT(pairs, 100);
    EXPECT_LE(error / pairs, bound);
  }
}

}  // namespace
}  // namespace slicewise::sim
