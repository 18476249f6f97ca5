// Collects what a check finds. Of every code the first few by rank and node are kept, the others counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/checker.h"

namespace shardscape {

class Findings {
 public:
  static constexpr size_t kKept = 20;

  void error(const char* code, int64_t rank, int64_t node, std::string message) {
    add({true, code, rank, node, std::move(message)});
  }
  void warning(const char* code, int64_t rank, int64_t node, std::string message) {
    add({false, code, rank, node, std::move(message)});
  }
  void merge(Findings&& other);
  // Errors first, then by code, rank and node; the counted rest is one line per code.
  std::vector<Finding> take();

 private:
  struct Group {
    std::vector<Finding> kept;
    int64_t count = 0;
  };
  void add(Finding finding);
  static void trim(Group& group);
  std::map<std::pair<bool, std::string>, Group> groups_;  // key: is a warning, code
};

}  // namespace shardscape
