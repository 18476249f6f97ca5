#include "chakra/repeat_steps.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "chakra/lower.h"

namespace shardscape {
namespace {

// A node takes more than 32 bytes, so more nodes than this do not fit into a file of 2 GiB.
constexpr int64_t kMostNodes = int64_t{1} << 26;

void check_size(const RankProgram& step, int64_t steps, int64_t messages, int64_t microbatches) {
  const auto fits = [&](int64_t per_step, int64_t most) { return per_step <= most / steps; };
  const int64_t largest_tag = std::numeric_limits<int32_t>::max();
  if (!fits(static_cast<int64_t>(step.nodes.size()), kMostNodes) ||
      !fits(static_cast<int64_t>(step.deps.size()), std::numeric_limits<uint32_t>::max() / 2) ||
      !fits(std::max(messages, 2 * microbatches * step.chunks), largest_tag))
    throw LoweringError(std::to_string(steps) + " steps do not fit into the trace of one rank of stage " +
                        std::to_string(step.stage));
}

// Nodes that no other node waits for.
std::vector<uint32_t> last_nodes(const RankProgram& step) {
  std::vector<bool> awaited(step.nodes.size());
  for (const uint32_t id : step.deps) awaited[id - 1] = true;
  std::vector<uint32_t> out;
  for (uint32_t id = 1; id <= step.nodes.size(); ++id)
    if (!awaited[id - 1]) out.push_back(id);
  return out;
}

}  // namespace

RankProgram repeat_steps(RankProgram program, int64_t steps, int64_t microbatches) {
  if (steps <= 1 || program.nodes.empty()) return program;
  const RankProgram step = program;
  int32_t messages = 0;  // of rings, per step
  for (const TraceNode& node : step.nodes) messages = std::max(messages, node.message + 1);
  check_size(step, steps, messages, microbatches);
  const std::vector<uint32_t> ends = last_nodes(step);
  const auto nodes = static_cast<uint32_t>(step.nodes.size());
  program.nodes.reserve(static_cast<size_t>(steps) * nodes);
  for (int64_t s = 1; s < steps; ++s) {
    const auto number = static_cast<int32_t>(s);
    const uint32_t before = nodes * (static_cast<uint32_t>(s) - 1);
    for (TraceNode node : step.nodes) {
      const auto ctrl = step.ctrl_deps(node), data = step.data_deps(node);
      node.deps = static_cast<uint32_t>(program.deps.size());
      for (const auto& list : {ctrl, data})
        for (const uint32_t id : list) program.deps.push_back(before + nodes + id);
      if (ctrl.empty() && data.empty()) {
        for (const uint32_t id : ends) program.deps.push_back(before + id);
        node.ctrl_count = static_cast<uint32_t>(ends.size());
      }
      if (node.microbatch >= 0) node.microbatch += number * static_cast<int32_t>(microbatches);
      if (node.message >= 0) node.message += number * messages;
      program.nodes.push_back(node);
    }
    program.durations.insert(program.durations.end(), step.durations.begin(), step.durations.end());
  }
  return program;
}

}  // namespace shardscape
