#include "timing/host_launches.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "graph/op_traits.h"
#include "memory/graph_capture.h"
#include "memory/segment_memories.h"

namespace shardscape {
namespace {

class Host {
 public:
  Host(const Report& report, const Segment& segment, double launch)
      : report_(report),
        s_(segment),
        profile_(profile_of(report.graph())),
        graphs_(report.design.workload.cuda_graphs),
        capture_(report, segment),
        launch_(launch) {}

  // Seconds of the launches of an op. replayed: the captured modules that have been launched.
  double seconds(OpId id, std::array<bool, GraphCapture::kModules>& replayed) const {
    const GraphCapture::Module module = capture_.module_of(id);
    if (!capture_.captures(module)) return static_cast<double>(launched_kernels(report_, s_, id)) * launch_;
    const bool fresh = !std::exchange(replayed[static_cast<size_t>(module)], true);
    return fresh && graphs_ != CudaGraphs::Iteration ? launch_ : 0;
  }

  // Whether the host reads the routing during a part with these ops.
  bool reads_routing(const std::vector<OpId>& ops) const {
    const Structure& structure = report_.graph().structure;
    return profile_.host_reads_routing && !structure.padded_slots && graphs_ != CudaGraphs::Layer &&
           graphs_ != CudaGraphs::Iteration && behind_read(ops) != ops.end();
  }
  // The first op that the host launches after the read. The kernel that permutes tokens for an all-to-all
  // runs before; the kernels of flex include the exchange.
  std::vector<OpId>::const_iterator behind_read(const std::vector<OpId>& ops) const {
    const auto found = std::find_if(ops.begin(), ops.end(), [&](OpId id) {
      return s_.op(id).grad == GradRole::None && is_dispatch(s_.op(id).kind);
    });
    if (found == ops.end() || report_.design.parallel.dispatcher == Dispatcher::Flex) return found;
    return found + 1;
  }

 private:
  static bool is_dispatch(OpKind kind) { return kind == OpKind::Dispatch || kind == OpKind::DispatchNodes; }

  const Report& report_;
  const Segment& s_;
  const KernelProfile& profile_;
  const CudaGraphs graphs_;
  const GraphCapture capture_;
  const double launch_;
};

// The last bias of experts under a profile with separate kernels for it. Megatron-core weighs and adds the
// bias of one local expert after the other (_apply_bias in transformer/moe/experts.py): a product and a sum
// each, then a concatenation and a cast. The backward casts the gradient; per expert, it casts the gradient
// of the result, multiplies, sums and casts for the bias, multiplies and sums for the weights; then it
// concatenates the gradients of both splits.
bool is_expert_bias(const Report& report, const Segment& segment, const Op& op) {
  if (op.kind != OpKind::BiasAdd || !profile_of(report.graph()).expert_bias || op.inputs.empty())
    return false;
  const std::vector<Axis>& axes = segment.tensor(op.inputs[0]).axes;
  return axes.size() == 3 && axes.front() == Axis::Experts && axes.back() == Axis::Hidden;
}

}  // namespace

int64_t launched_kernels(const Report& report, const Segment& segment, OpId id) {
  const Op& op = segment.op(id);
  const auto local_experts = [&](TensorId tensor) {
    return std::max<int64_t>(1, static_cast<int64_t>(number(local_size(segment.tensor(tensor), 0),
                                                            report.stages.front().binding)));
  };
  if (const Kernel* kernel = segment.kernel(id); kernel && kernel->separate_experts)
    for (const TensorId in : op.inputs)
      if (in >= 0 && !segment.tensor(in).axes.empty() && segment.tensor(in).axes.front() == Axis::Experts)
        return local_experts(in);
  if (is_expert_bias(report, segment, op)) {
    const int64_t experts = local_experts(op.inputs[0]);
    return op.grad == GradRole::None ? 2 * experts + 2 : 6 * experts + 3;
  }
  const auto& launches = profile_of(report.graph()).launches;
  const auto known = launches.find(std::string(template_name(op.kind)));
  return known == launches.end() ? 1 : known->second[op.grad == GradRole::None ? 0 : 1];
}

HostTime host_time(const Report& report, const Segment& segment, const std::vector<OpTime>& times,
                   const std::vector<OpId>& ops, double launch) {
  HostTime out;
  if (launch <= 0) return out;
  const Host host(report, segment, launch);
  std::array<bool, GraphCapture::kModules> replayed{};
  std::vector<double> launches;
  for (const OpId id : ops) {
    launches.push_back(times[static_cast<size_t>(id)].seconds > 0 ? host.seconds(id, replayed) : 0);
    out.seconds += launches.back();
  }
  out.reads_routing = host.reads_routing(ops);
  if (!out.reads_routing) return out;
  const auto first = static_cast<size_t>(host.behind_read(ops) - ops.begin());
  double launched = 0, ended = 0, computed = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const size_t at = (first + i) % ops.size();
    const double seconds = times[static_cast<size_t>(ops[at])].seconds;
    if (seconds <= 0) continue;
    launched += launches[at];
    ended = std::max(ended, launched) + seconds;
    computed += seconds;
  }
  out.stall = ended - computed;
  return out;
}

}  // namespace shardscape
