// The dependency graph of a trace: positions in the file, about 30 bytes per node and 8 per dependency.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chakra/raw_node.h"

namespace shardscape {

class TraceGraph {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;
  void add(const RawNode& node);
  // Resolves ids to positions, after the last node.
  void finish();

  uint32_t size() const { return static_cast<uint32_t>(ids_.size()); }
  uint64_t id(uint32_t position) const { return ids_[position]; }
  uint64_t duration(uint32_t position) const { return durations_[position]; }  // microseconds
  // The first node with the id.
  std::optional<uint32_t> find(uint64_t id) const;
  // Positions that the node depends on; kMissing: no node has the id.
  std::vector<uint32_t> dependencies(uint32_t position) const;
  // Positions that depend on a node, by position of the node. Computed on each call.
  std::vector<std::vector<uint32_t>> dependents_of(const std::vector<uint32_t>& positions) const;
  int64_t dependency_count() const { return static_cast<int64_t>(deps_.size()); }
  int64_t missing_count() const { return missing_; }
  int64_t root_count() const { return roots_; }
  int64_t duplicate_count() const { return duplicates_; }
  uint64_t first_id() const { return first_id_; }
  uint64_t last_id() const { return last_id_; }
  bool dense_ids() const { return last_id_ - first_id_ + 1 == ids_.size() && duplicates_ == 0; }

  // The chain of dependencies with the longest sum of durations; of equal sums, that with the most nodes.
  struct Chain {
    uint64_t microseconds = 0;
    std::vector<uint32_t> nodes;  // in order of execution; empty if there is a cycle
    std::vector<uint32_t> cycle;  // nodes of which each depends on the next, the last on the first
    int64_t stuck = 0;            // nodes that can never run because of cycles
  };
  Chain longest_chain() const;

 private:
  template <class Visit>
  std::vector<bool> in_order(const Visit& visit) const;
  std::vector<uint32_t> cycle_among(const std::vector<bool>& stuck) const;
  std::vector<uint64_t> ids_, durations_;
  std::vector<uint64_t> deps_;  // ids, then positions
  std::vector<uint64_t> begin_{0};
  std::vector<uint32_t> by_id_;  // positions by id - first_id_, or positions sorted by id
  bool table_ = false;
  int64_t missing_ = 0, roots_ = 0, duplicates_ = 0;
  uint64_t first_id_ = 0, last_id_ = 0;
};

}  // namespace shardscape
