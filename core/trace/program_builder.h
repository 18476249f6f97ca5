// Appends nodes to a rank's program and adds the control dependencies that fix the order a simulator must keep.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/rank_program.h"

namespace shardscape {

// All communication forms one chain in program order. The first compute node of an action follows the last one of the
// action before, so that few nodes are ready at a time. Control dependencies implied by others are left out.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(RankProgram& program) : program_(program) {}

  void begin_action();
  // Data dependencies of the next node; 0 (nothing) is skipped.
  void depend(uint32_t id);
  // Returns the node's id.
  uint32_t add(uint32_t op, int32_t microbatch, int32_t layer, int32_t position, int32_t chunk = -1,
               int32_t message = -1);

 private:
  struct Reach {
    uint32_t comm = 0, gate = 0;  // how far along each chain this node or one before it lies
  };
  void control(uint32_t id);

  RankProgram& program_;
  std::vector<uint32_t> data_;
  std::vector<uint32_t> ctrl_;
  std::vector<Reach> reach_;        // by id - 1
  uint32_t comm_count_ = 0, last_comm_ = 0;
  uint32_t gate_count_ = 0, gate_ = 0;  // last compute node of the action before
  uint32_t last_comp_ = 0;              // within this action
};

}  // namespace shardscape
