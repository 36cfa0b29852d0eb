// M/M/1 on the kernel of slicewise. Argument: customers. Prints the mean sojourn.
#include <cstdio>
#include <cstdlib>

#include "../mm1.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::printf("%.4f\n", slicewise::sim::Mm1().run(std::atoll(argv[1])));
  return 0;
}
