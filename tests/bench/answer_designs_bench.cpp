// Prints the flags of the designs whose answers tests/answers/record stores: every named design of the trace
// tests, and N random valid designs with --random N (default 450). One design per line: "NAME<tab>FLAGS".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "design/knobs/command_flags.h"
#include "support/random_designs.h"
#include "support/trace_designs.h"

using namespace shardscape;

namespace {

// Without quotes: the script splits the flags at spaces.
std::string flags(const Design& design) {
  std::string line;
  for (const std::string& word : command_flags(design)) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  int wanted = 450;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--random") == 0) wanted = std::atoi(argv[i + 1]);
  for (const test::NamedDesign& named : test::trace_designs())
    std::printf("%s\t%s\n", named.name, flags(named.design).c_str());
  std::mt19937 random(20261123);
  for (int made = 0; made < wanted;) {
    const auto design = test::repaired(test::random_design(random), random);
    if (design) std::printf("random-%d\t%s\n", made++, flags(*design).c_str());
  }
}
