// Findings of a bundle check. For every code, the first findings by rank and node are stored; the others are
// counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shardscape {

struct Finding {
  bool error = true;  // false: a warning
  std::string code;   // "GROUP_OF_ONE"
  int64_t rank = -1;  // -1: the bundle as a whole
  int64_t node = -1;  // -1: the file as a whole
  std::string message;
  int64_t count = 1;  // more: an entry for findings that are not stored
};

class Findings {
 public:
  static constexpr size_t kStoredPerCode = 20;

  void error(const char* code, int64_t rank, int64_t node, std::string message) {
    add({true, code, rank, node, std::move(message)});
  }
  void warning(const char* code, int64_t rank, int64_t node, std::string message) {
    add({false, code, rank, node, std::move(message)});
  }
  void merge(Findings&& other);
  // All findings: errors first, then by code, rank and node. One line per code counts the findings that are
  // not stored.
  std::vector<Finding> take();

 private:
  struct Group {
    std::vector<Finding> stored;
    int64_t count = 0;
  };
  void add(Finding finding);
  static void trim(Group& group);
  std::map<std::pair<bool, std::string>, Group> groups_;  // key: is a warning, code
};

}  // namespace shardscape
