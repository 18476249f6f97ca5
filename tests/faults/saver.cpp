// Saves a document with one compared design as the window does: fault_saver study NAME FILE.
#include <cstdio>
#include <string>

#include "base/fatal.h"
#include "explore/study.h"

int main(int argc, char** argv) {
  using namespace shardscape;
  handle_fatal_states();
  if (argc != 4) return 2;
  Study study;
  study.compared.push_back({.name = argv[2], .design = study.design});
  const auto problem = save_study(study, argv[3]);
  if (problem) std::fprintf(stderr, "error: %s\n", to_string(*problem).c_str());
  return problem ? 3 : 0;
}
