#include "trace/lower.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "cost/grad_plan.h"
#include "trace/bound_segment.h"
#include "trace/program_builder.h"

namespace shardscape {
namespace {

MeshDegrees degrees_of(const Design& design) {
  const ParallelSpec& p = design.parallel;
  return {.tp = p.tp, .cp = p.cp, .dp = p.dp, .pp = p.pp, .kv_heads = design.model.kv_heads};
}

// Walks the actions of one stage.
class StageLowering {
 public:
  StageLowering(const Lowering& lowering, int stage, bool tensors)
      : lowering_(lowering), report_(lowering.report()), graph_(report_.graph()),
        stage_(report_.stages[static_cast<size_t>(stage)]), first_(stage == 0),
        last_(stage + 1 == static_cast<int>(report_.stages.size())), builder_(program_) {
    program_.stage = stage;
    program_.roles = static_cast<int>(lowering.roles().size());
    program_.tensors = tensors;
    place_segments();
    forward_base_.resize(static_cast<size_t>(lowering.schedule().microbatches) * instances_.size());
    stream_.resize(static_cast<size_t>(lowering.schedule().microbatches) * (instances_.size() + 1));
    backward_base_.resize(instances_.size(), 0);
    bind_transfers();
  }

  RankProgram run(const std::stop_token& stop) {
    for (const Action& action : lowering_.schedule().actions[static_cast<size_t>(program_.stage)]) {
      if (stop.stop_requested()) break;
      builder_.begin_action();
      switch (action.kind) {
        case ActionKind::Forward: forward(action.microbatch); break;
        case ActionKind::Backward: backward(action.microbatch); break;
        case ActionKind::ReceiveForward: stream(action.microbatch, 0) = transfer(receive_forward_, action, 0, position_in_); break;
        case ActionKind::SendForward:
          transfer(send_forward_, action, stream(action.microbatch, instances_.size()), position_out_);
          break;
        case ActionKind::ReceiveBackward:
          stream_grad_ = transfer(receive_backward_, action, 0, position_out_);
          break;
        case ActionKind::SendBackward: transfer(send_backward_, action, stream_grad_, position_in_); break;
        case ActionKind::GradReduce: reduce_gradients(); break;
        case ActionKind::Optimizer: optimize(); break;
      }
    }
    return std::move(program_);
  }

 private:
  struct Instance {
    int segment = 0;      // index into Graph::segments
    int32_t layer = -1;
    int32_t position = 0;
  };

  const Segment& segment(size_t instance) const {
    return graph_.segments[static_cast<size_t>(instances_[instance].segment)];
  }
  const BoundSegment& bound(size_t instance) const { return bound_.at(instances_[instance].segment); }
  uint32_t& forward_base(int microbatch, size_t instance) {
    return forward_base_[static_cast<size_t>(microbatch) * instances_.size() + instance];
  }
  // What produced the stream into this instance; beyond the last: out of the stage.
  uint32_t& stream(int microbatch, size_t instance) {
    return stream_[static_cast<size_t>(microbatch) * (instances_.size() + 1) + instance];
  }

  void place_segments() {
    const int64_t layers = std::accumulate(report_.stages.begin(), report_.stages.end(), int64_t{0},
                                           [](int64_t n, const StageReport& s) { return n + s.layers; });
    position_in_ = static_cast<int32_t>(1 + lowering_.first_layer(program_.stage));
    position_out_ = position_in_ + static_cast<int32_t>(stage_.layers);
    if (first_) instances_.push_back({0, -1, 0});
    for (int64_t i = 0; i < stage_.layers; ++i) {
      const auto layer = static_cast<int32_t>(lowering_.first_layer(program_.stage) + i);
      const int kind = graph_.layer_pattern[static_cast<size_t>(layer) % graph_.layer_pattern.size()];
      instances_.push_back({1 + kind, layer, 1 + layer});
    }
    if (last_) instances_.push_back({graph_.head(), -1, static_cast<int32_t>(1 + layers)});
    for (const Instance& instance : instances_)
      if (!bound_.contains(instance.segment))
        bound_[instance.segment] = bind_segment(lowering_, graph_.segments[static_cast<size_t>(instance.segment)],
                                                stage_.binding, program_);
  }

  // Both ends of a transfer carry what the upstream stage's last segment puts out.
  uint32_t add_transfer(bool send, bool backward, int64_t bytes) {
    TraceOp op{.name = std::string(action_name(backward ? (send ? ActionKind::SendBackward : ActionKind::ReceiveBackward)
                                                        : (send ? ActionKind::SendForward : ActionKind::ReceiveForward))),
               .type = send ? chakra::NodeType::Send : chakra::NodeType::Recv,
               .comm_size = bytes, .to_next = send != backward, .backward = backward};
    if (program_.tensors) {
      const TraceTensor tensor{"", backward ? NameScope::StreamGradIn : NameScope::StreamIn, bytes};
      (send ? op.inputs : op.outputs).push_back(tensor);
    }
    program_.ops.push_back(std::move(op));
    return static_cast<uint32_t>(program_.ops.size() - 1);
  }

  // The residual stream is the same tensor everywhere, so that both ends agree; a stage may have no segment at all.
  void bind_transfers() {
    const Segment& embedding = graph_.segments.front();
    const int64_t bytes = bound_value(local_bytes(embedding.tensor(embedding.output)), stage_.binding,
                                      "pipeline transfer: bytes");
    if (!first_) {
      receive_forward_ = add_transfer(false, false, bytes);
      send_backward_ = add_transfer(true, true, bytes);
    }
    if (!last_) {
      send_forward_ = add_transfer(true, false, bytes);
      receive_backward_ = add_transfer(false, true, bytes);
    }
  }

  uint32_t transfer(uint32_t op, const Action& action, uint32_t producer, int32_t position) {
    builder_.depend(producer);
    return builder_.add(op, action.microbatch, -1, position);
  }

  void stamp(const std::vector<BoundNode>& part, int microbatch, size_t instance, uint32_t base, uint32_t previous) {
    const Instance& at = instances_[instance];
    const uint32_t forward = forward_base(microbatch, instance);
    for (const BoundNode& node : part) {
      for (const SourceRef ref : node.deps) {
        switch (ref.source) {
          case Source::Forward: builder_.depend(forward + ref.index); break;
          case Source::Backward: builder_.depend(base + ref.index); break;
          case Source::StreamIn: builder_.depend(stream(microbatch, instance)); break;
          case Source::StreamGrad: builder_.depend(stream_grad_); break;
          case Source::Previous: builder_.depend(previous == 0 ? 0 : previous + ref.index); break;
        }
      }
      builder_.add(node.op, microbatch, at.layer, at.position);
    }
  }

  uint32_t next_id() const { return static_cast<uint32_t>(program_.nodes.size() + 1); }

  void forward(int microbatch) {
    for (size_t i = 0; i < instances_.size(); ++i) {
      const uint32_t base = forward_base(microbatch, i) = next_id();
      const BoundSegment& s = bound(i);
      stamp(s.forward, microbatch, i, base, 0);
      stream(microbatch, i + 1) = s.output >= 0 ? base + static_cast<uint32_t>(s.output) : stream(microbatch, i);
    }
  }

  void backward(int microbatch) {
    if (last_) stream_grad_ = 0;
    for (size_t i = instances_.size(); i-- != 0;) {
      const uint32_t base = next_id();
      const BoundSegment& s = bound(i);
      stamp(s.backward, microbatch, i, base, backward_base_[i]);
      backward_base_[i] = base;
      if (s.input_grad >= 0) stream_grad_ = base + static_cast<uint32_t>(s.input_grad);
    }
  }

  void depend_on_gradients() {
    for (size_t i = 0; i < instances_.size(); ++i)
      for (const uint32_t node : bound(i).gradients)
        if (backward_base_[i] != 0) builder_.depend(backward_base_[i] + node);
  }

  void reduce_gradients() {
    for (const GradReduction& r : plan_grad_reduce(graph_, first_, last_, stage_.layers > 0)) {
      const int role = r.embedding_group ? lowering_.embedding_role() : lowering_.role_of(r.axes);
      const std::string group = r.embedding_group ? "embedding" : group_name(r.axes);
      const int64_t bytes = bound_value(r.bytes, stage_.binding, "gradient reduction over " + group + ": bytes");
      if (role < 0 || bytes == 0) continue;
      TraceOp op{.name = "grad_reduce." + group, .type = chakra::NodeType::Coll,
                 .collective = chakra::CollectiveType::AllReduce, .role = role, .comm_size = bytes};
      if (program_.tensors) {
        op.inputs.push_back({"gradients." + group + ".local", NameScope::Rank, bytes});
        op.outputs.push_back({"gradients." + group, NameScope::Rank, bytes});
      }
      program_.ops.push_back(std::move(op));
      if (last_reduction_ != 0)
        builder_.depend(last_reduction_);
      else
        depend_on_gradients();
      last_reduction_ = builder_.add(static_cast<uint32_t>(program_.ops.size() - 1), -1, -1, 0);
    }
  }

  void optimize() {
    const OptimizerCost cost = optimizer_cost(graph_, first_, last_, stage_.layers > 0);
    const int64_t read = bound_value(cost.read_bytes, stage_.binding, "optimizer: bytes");
    const int64_t written = bound_value(cost.written_bytes, stage_.binding, "optimizer: bytes");
    TraceOp op{.name = "optimizer.adam",
               .num_ops = std::max<int64_t>(1, bound_value(cost.flops, stage_.binding, "optimizer: FLOPs")),
               .tensor_size = std::max<int64_t>(1, read + written)};
    if (program_.tensors) {
      op.inputs.push_back({"optimizer.state", NameScope::Rank, read});
      op.outputs.push_back({"optimizer.updated", NameScope::Rank, written});
    }
    program_.ops.push_back(std::move(op));
    if (last_reduction_ != 0)
      builder_.depend(last_reduction_);
    else
      depend_on_gradients();
    builder_.add(static_cast<uint32_t>(program_.ops.size() - 1), -1, -1, 0);
  }

  const Lowering& lowering_;
  const Report& report_;
  const Graph& graph_;
  const StageReport& stage_;
  bool first_, last_;
  RankProgram program_;
  ProgramBuilder builder_;
  std::vector<Instance> instances_;
  std::map<int, BoundSegment> bound_;       // by index into Graph::segments
  int32_t position_in_ = 0, position_out_ = 0;  // of the stage's ends along the residual stream
  std::vector<uint32_t> forward_base_, stream_;
  std::vector<uint32_t> backward_base_;     // of the latest microbatch; 0 before the first
  uint32_t stream_grad_ = 0, last_reduction_ = 0;
  uint32_t receive_forward_ = 0, send_forward_ = 0, receive_backward_ = 0, send_backward_ = 0;
};

}  // namespace

Lowering::Lowering(const Report& report)
    : report_(report), mesh_(degrees_of(report.design), report.design.parallel.order),
      schedule_(make_schedule(report.design.parallel.schedule, static_cast<int>(report.stages.size()),
                              static_cast<int>(report.microbatches))) {
  const Graph& graph = report.graph();
  for (const Segment& segment : graph.segments)
    for (const Op& op : segment.ops)
      if (is_collective(op.kind)) add_role({op.group, false});
  int64_t layer = 0;
  for (size_t s = 0; s < report.stages.size(); ++s) {
    first_layer_.push_back(layer);
    layer += report.stages[s].layers;
    for (const GradReduction& r :
         plan_grad_reduce(graph, s == 0, s + 1 == report.stages.size(), report.stages[s].layers > 0))
      add_role({r.axes, r.embedding_group});
  }
}

void Lowering::add_role(const GroupRole& role) {
  std::vector<int64_t> group = role_group(mesh_, role, 0);
  if (group.size() < 2 || std::find(representatives_.begin(), representatives_.end(), group) != representatives_.end())
    return;
  roles_.push_back(role);
  representatives_.push_back(std::move(group));
}

int Lowering::role_of(const MeshAxes& axes) const {
  const auto it = std::find(representatives_.begin(), representatives_.end(), role_group(mesh_, {axes, false}, 0));
  return it == representatives_.end() ? -1 : static_cast<int>(it - representatives_.begin());
}

int Lowering::embedding_role() const {
  const auto it = std::find(representatives_.begin(), representatives_.end(), role_group(mesh_, {{}, true}, 0));
  return it == representatives_.end() ? -1 : static_cast<int>(it - representatives_.begin());
}

RankProgram Lowering::stage(int stage, bool tensors, std::stop_token stop) const {
  return StageLowering(*this, stage, tensors).run(stop);
}

RankProgram lower(const Report& report, int stage, bool tensors) { return Lowering(report).stage(stage, tensors); }

}  // namespace shardscape
