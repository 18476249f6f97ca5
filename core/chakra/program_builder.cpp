#include "chakra/program_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shardscape {

void ProgramBuilder::begin_action(std::string_view name) {
  program_.actions.push_back(name);
  set_gate();
}

void ProgramBuilder::begin_replay() {
  set_gate();
  in_replay_ = true;
}

void ProgramBuilder::set_gate() {
  if (last_comp_ == 0) return;
  gate_ = last_comp_;
  reach_[gate_ - 1].gate = ++gate_count_;
  last_comp_ = 0;
}

void ProgramBuilder::depend(uint32_t id) {
  if (id != 0) data_.push_back(id);
}

void ProgramBuilder::control(uint32_t id) {
  if (std::find(data_.begin(), data_.end(), id) == data_.end()) ctrl_.push_back(id);
}

uint32_t ProgramBuilder::add(uint32_t op, int32_t microbatch, int32_t layer, int32_t position, int32_t chunk,
                             int32_t message) {
  if (data_.size() > 1) {
    std::sort(data_.begin(), data_.end());
    data_.erase(std::unique(data_.begin(), data_.end()), data_.end());
  }
  Reach reach;
  for (const uint32_t id : data_) {
    reach.comm = std::max(reach.comm, reach_[id - 1].comm);
    reach.gate = std::max(reach.gate, reach_[id - 1].gate);
  }
  const bool compute = program_.ops[op].type == chakra::NodeType::Comp;
  const auto id = static_cast<uint32_t>(program_.nodes.size() + 1);
  if (compute) {
    if ((last_comp_ == 0 || in_replay_) && gate_ != 0 && reach.gate < gate_count_) control(gate_);
    // A node without any dependency would be ready from the start of the step.
    if (data_.empty() && ctrl_.empty() && id > 1) control(last_comp_ != 0 ? last_comp_ : id - 1);
  } else if (last_comm_ != 0 && reach.comm < comm_count_) {
    control(last_comm_);
  }
  for (const uint32_t before : ctrl_) {
    reach.comm = std::max(reach.comm, reach_[before - 1].comm);
    reach.gate = std::max(reach.gate, reach_[before - 1].gate);
  }
  if (compute) {
    last_comp_ = id;
  } else {
    last_comm_ = id;
    reach.comm = ++comm_count_;
  }
  reach_.push_back(reach);

  program_.nodes.push_back({op, microbatch, layer, chunk, position,
                            static_cast<uint32_t>(program_.deps.size()), static_cast<uint32_t>(ctrl_.size()),
                            static_cast<uint32_t>(data_.size()), message,
                            static_cast<uint32_t>(std::max<size_t>(1, program_.actions.size()) - 1)});
  program_.deps.insert(program_.deps.end(), ctrl_.begin(), ctrl_.end());
  program_.deps.insert(program_.deps.end(), data_.begin(), data_.end());
  data_.clear();
  ctrl_.clear();
  return id;
}

void lengthen_first_nodes(RankProgram& program) {
  for (TraceNode& node : program.nodes) {
    const TraceOp& op = program.ops[node.op];
    if (op.type != chakra::NodeType::Comp || node.ctrl_count + node.data_count > 0 ||
        op.tensor_size >= kLeastFirstBytes)
      continue;
    TraceOp longer = op;  // other nodes of the op stay as they are
    longer.tensor_size = kLeastFirstBytes;
    node.op = static_cast<uint32_t>(program.ops.size());
    program.ops.push_back(std::move(longer));
  }
}

void write_durations(RankProgram& program) {
  constexpr double kPerSecond = 1e6;
  double left = 0;
  program.durations.clear();
  for (const TraceNode& node : program.nodes) {
    left += program.ops[node.op].seconds * kPerSecond;
    const double whole = std::max(0.0, std::round(left));
    program.durations.push_back(static_cast<uint32_t>(whole));
    left -= whole;
  }
}

}  // namespace shardscape
