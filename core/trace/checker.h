// Checks a bundle by the rules of its consumers and plays it through under the simulator's resource rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace shardscape {

struct Finding {
  bool error = true;       // false: a warning
  std::string code;        // "GROUP_OF_ONE"
  int64_t rank = -1;       // -1: the bundle
  int64_t node = -1;       // -1: the file
  std::string message;
};

struct CheckReport {
  int64_t ranks = 0, nodes = 0, collectives = 0, sends = 0, bytes = 0;
  bool finished = false;   // every rank ran all its nodes in the play
  std::vector<Finding> findings;
  bool ok() const;         // finished and no error
};

CheckReport check_bundle(const std::filesystem::path& bundle,
                         const std::function<void(double fraction)>& progress = {}, std::stop_token stop = {});
std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace shardscape
