// What a few lines of C++ do: strict first come, first served on one pool of GPUs, with
// std::priority_queue. Rows of philly_attempts.csv: index, run time, submit time, GPUs.
//   fcfs_loop philly_attempts.csv 3000
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::FILE* file = std::fopen(argv[1], "r");
  if (file == nullptr) return 5;
  char header[256];
  if (std::fgets(header, sizeof header, file) == nullptr) return 3;
  long index = 0;
  long run = 0;
  long submit = 0;
  long gpus = 0;
  long free = std::atol(argv[2]);
  long now = 0;
  long jobs = 0;
  long waited = 0;
  using End = std::pair<long, long>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  while (std::fscanf(file, "%ld,%ld,%ld,%ld", &index, &run, &submit, &gpus) == 4) {
    now = submit > now ? submit : now;
    while (!ends.empty() && (ends.top().first <= now || free < gpus)) {
      now = ends.top().first > now ? ends.top().first : now;
      free += ends.top().second;
      ends.pop();
    }
    free -= gpus;
    ends.emplace(now + run, gpus);
    waited += now - submit;
    ++jobs;
  }
  std::fclose(file);
  std::printf("%ld jobs, mean wait %.2f s\n", jobs,
              static_cast<double>(waited) / static_cast<double>(jobs));
}
