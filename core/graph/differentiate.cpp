// Differentiates the placed forward graph. Redistributions are identities with another placement: their adjoints follow
// from bringing each gradient to its tensor's placement. An operand that was Replicate beside a sharded one gets a
// Partial gradient by the same rule that makes forward contractions Partial.
#include <algorithm>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

class Differentiator {
 public:
  explicit Differentiator(SegmentBuilder& builder) : b_(builder), s_(builder.segment()) {}

  void run() {
    b_.begin_backward();
    s_.backward_begin = static_cast<OpId>(s_.ops.size());
    contributions_.resize(s_.tensors.size());
    s_.output_grad = gradient_tensor(s_.output, b_.tensor(s_.output).placement, "");
    contribute(s_.output, s_.output_grad);
    for (OpId id = s_.backward_begin - 1; id >= 0; --id) backward_of(id);
    if (s_.input >= 0) s_.input_grad = gradient(s_.input);
    for (Param& param : s_.params) param.gradient = gradient(param.tensor);
  }

 private:
  bool differentiable(TensorId id) const {
    const TensorRole role = s_.tensor(id).role;
    return role != TensorRole::Constant && role != TensorRole::Statistic;
  }

  // Blocks of a ring: their gradients gather on the way, in float32.
  bool travels(TensorId id) const {
    const OpId producer = s_.tensor(id).producer;
    return producer >= 0 && s_.op(producer).kind == OpKind::RingPass;
  }

  TensorId gradient_tensor(TensorId of, Placement placement, const std::string& suffix) {
    const Tensor source = s_.tensor(of);
    const bool weight = source.role == TensorRole::Parameter;
    const TensorId id = b_.add_tensor(source.name + ".grad" + suffix, source.axes, std::move(placement),
                                      weight ? b_.structure().grad_dtype : travels(of) ? DType::FP32 : source.dtype,
                                      weight ? TensorRole::ParameterGradient : TensorRole::Gradient);
    b_.tensor(id).gradient_of = of;
    return id;
  }

  void contribute(TensorId of, TensorId gradient) {
    if (contributions_.size() <= static_cast<size_t>(of)) contributions_.resize(static_cast<size_t>(of) + 1);
    contributions_[static_cast<size_t>(of)].push_back(gradient);
  }

  // Partial over a part of a declared group only (replicas of KV heads) rides through the backward, which is linear in
  // the gradient: the operand's own gradient is summed over the whole group anyway.
  bool may_stay_partial(TensorId of) const { return s_.tensor(of).producer >= 0; }

  // Sum of all contributions, still in the placement that they have in common; -1 when there are none.
  TensorId summed(TensorId of, const Placement& target) {
    if (static_cast<size_t>(of) >= contributions_.size()) return -1;
    std::vector<TensorId> all = contributions_[static_cast<size_t>(of)];
    if (all.size() < 2) return all.empty() ? -1 : all[0];
    const Placement first = s_.tensor(all[0]).placement;
    if (std::any_of(all.begin(), all.end(), [&](TensorId id) { return s_.tensor(id).placement != first; }))
      for (TensorId& id : all) id = b_.redistribute(id, target, Phase::Backward, "the sum of gradients of " + s_.tensor(of).name);
    const Tensor source = s_.tensor(of);
    Op op;
    op.kind = OpKind::Add;
    op.phase = Phase::Backward;
    op.inputs = all;
    op.block = block_of(of);
    std::string letters;
    for (size_t d = 0; d < source.axes.size(); ++d) letters += static_cast<char>('a' + d);
    OpSpec spec{std::vector<std::string>(all.size(), letters), letters, false};
    op.spec = spec.text();
    const TensorId result = gradient_tensor(of, s_.tensor(all[0]).placement, ".total");
    op.outputs = {result};
    op.name = s_.tensor(result).name;
    op.label = "Sum of gradients";
    b_.add_op(std::move(op));
    contributions_[static_cast<size_t>(of)] = {result};
    return result;
  }

  int64_t consumers(TensorId id) const {
    return std::count_if(s_.ops.begin(), s_.ops.begin() + s_.backward_begin, [&](const Op& op) {
      return std::find(op.inputs.begin(), op.inputs.end(), id) != op.inputs.end();
    });
  }

  int block_of(TensorId id) const {
    const OpId producer = s_.tensor(id).producer;
    if (producer >= 0) return s_.op(producer).block;
    for (OpId i = 0; i < s_.backward_begin; ++i) {
      const auto& in = s_.op(i).inputs;
      if (std::find(in.begin(), in.end(), id) != in.end()) return s_.op(i).block;
    }
    return -1;
  }

  // The gradient in its tensor's placement (Partial of the forward tensor becomes Replicate: every summand's gradient is
  // the gradient of the sum). Parameters keep theirs Partial: the sync plan reduces them once a step.
  TensorId gradient(TensorId of) {
    const Tensor& t = s_.tensor(of);
    Placement target = t.placement;
    target.partial.clear();
    target.reduce = Reduce::Sum;
    const TensorId sum = summed(of, target);
    if (sum < 0 || s_.tensor(of).role == TensorRole::Parameter) return sum;
    const MeshAxes& open = s_.tensor(sum).placement.partial;
    if (may_stay_partial(of) && std::find(open.begin(), open.end(), MeshAxis::TpRep) != open.end() &&
        std::find(open.begin(), open.end(), MeshAxis::TpKv) == open.end())
      target.partial = {MeshAxis::TpRep};
    const std::string consumer = s_.tensor(of).producer >= 0 ? "the backward of " + s_.op(s_.tensor(of).producer).label
                                                              : std::string("the section before");
    return b_.redistribute(sum, target, Phase::Backward, consumer);
  }

  // What the backward reads of a forward operand: kept before an all-gather (smaller) and gathered again, else after.
  TensorId kept(TensorId id) const {
    const OpId producer = s_.tensor(id).producer;
    if (producer < 0 || producer >= s_.backward_begin) return id;
    const Op& op = s_.op(producer);
    if (op.kind == OpKind::RingPass) return op.outputs.size() > 1 ? op.outputs[1] : op.inputs[0];
    return op.kind == OpKind::AllGather ? op.inputs[0] : id;
  }

  struct Wanted {
    int operand;  // gradient of this operand
    std::string letters;
  };

  void emit(const Op& forward, OpId forward_id, OpKind kind, const OpSpec& align_spec, std::vector<TensorId> inputs,
            const std::vector<Wanted>& wanted, const LetterShards& seed, GradRole role, const std::string& suffix,
            const std::vector<TensorId>& statistics) {
    MeshAxes also_partial = s_.tensor(inputs[0]).placement.partial;
    const std::string label = forward.label + (role == GradRole::Weight ? ", weight gradient" : ", gradient");
    const LetterShards shards = b_.align(kind, align_spec, inputs, seed, Phase::Backward, label);
    inputs.insert(inputs.end(), statistics.begin(), statistics.end());
    Op op;
    op.name = forward.name + ".grad" + suffix;
    op.label = label;
    op.kind = kind;
    op.phase = Phase::Backward;
    op.grad = role;
    op.block = forward.block;
    op.inputs = inputs;
    op.forward = forward_id;
    op.causal = forward.causal;
    op.window = forward.window;
    op.soft_cap = forward.soft_cap;
    op.alibi = forward.alibi;
    op.ring = forward.ring;
    op.operand = wanted.size() == 1 ? wanted[0].operand : -1;
    OpSpec spec = align_spec;
    spec.out = wanted[0].letters;
    op.spec = spec.text();
    for (const Wanted& w : wanted) {
      const TensorId of = forward.inputs[static_cast<size_t>(w.operand)];
      const TensorId out = gradient_tensor(of, SegmentBuilder::result_placement(w.letters, shards, also_partial), "");
      op.outputs.push_back(out);
      contribute(of, out);
    }
    b_.add_op(std::move(op));
  }

  void backward_of(OpId id) {
    const Op forward = s_.op(id);
    const TensorId out = forward.outputs[0];
    if (forward.kind == OpKind::ReduceMax) return;  // its gradient cancels in log-sum-exp
    if (forward.kind == OpKind::RingPass) return;   // its attention has sent the gradients home
    if (is_collective(forward.kind) || forward.kind == OpKind::Slice) {
      Placement target = s_.tensor(out).placement;
      target.partial.clear();
      const TensorId sum = summed(out, target);
      if (sum < 0) return;
      contribute(forward.inputs[0], sum);
      // In the reverse order of the forward's redistributions, where nothing else is to be added first.
      if (consumers(forward.inputs[0]) == 1) gradient(forward.inputs[0]);
      return;
    }
    const TensorId g = gradient(out);
    if (g < 0) return;
    const OpSpec spec = *parse_op_spec(forward.spec);
    switch (forward.kind) {
      case OpKind::Add:
        for (TensorId in : forward.inputs) contribute(in, g);
        return;
      case OpKind::Einsum: return einsum(forward, id, spec, g);
      case OpKind::BiasAdd:
      case OpKind::PositionAdd:
        contribute(forward.inputs[0], g);
        return reduce_to_parameter(forward, id, spec, g);
      case OpKind::Embed: {
        const LetterShards seed = parameter_seed(forward.inputs[1], spec.in[1]);
        return emit(forward, id, forward.kind, {{spec.out, spec.in[0]}, spec.in[1], false}, {g, kept(forward.inputs[0])},
                    {{1, spec.in[1]}}, seed, GradRole::Weight, "_w", statistics(forward));
      }
      default: pointwise(forward, id, spec, g);
    }
    if (forward.ring == Ring::None) return;
    for (TensorId in : forward.inputs)
      if (travels(in)) send_home(s_.op(s_.tensor(in).producer));
  }

  // The adjoint of a ring's pass, made with the attention whose steps it follows.
  void send_home(const Op pass) {
    const TensorId partial = contributions_[static_cast<size_t>(pass.outputs[0])].back();
    Placement target = s_.tensor(partial).placement;
    std::erase_if(target.partial, [&](MeshAxis axis) { return std::find(pass.group.begin(), pass.group.end(), axis) != pass.group.end(); });
    target.shards = s_.tensor(pass.inputs[0]).placement.shards;
    contribute(pass.inputs[0], b_.redistribute(partial, target, Phase::Backward, "the rank that owns the block"));
  }

  LetterShards parameter_seed(TensorId param, const std::string& letters) const {
    LetterShards seed;
    const Tensor& t = s_.tensor(param);
    if (t.role == TensorRole::Parameter)
      for (size_t d = 0; d < letters.size(); ++d) seed.emplace(letters[d], t.placement.shards[d]);
    return seed;
  }

  std::vector<TensorId> statistics(const Op& forward) const {
    return {forward.outputs.begin() + 1, forward.outputs.end()};
  }

  // The gradient of an einsum is two einsums.
  void einsum(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    for (int i = 0; i < 2; ++i) {
      const TensorId mine = forward.inputs[static_cast<size_t>(i)], other = forward.inputs[static_cast<size_t>(1 - i)];
      if (!differentiable(mine)) continue;
      const std::string &letters = spec.in[static_cast<size_t>(i)], &others = spec.in[static_cast<size_t>(1 - i)];
      const bool weight = s_.tensor(mine).role == TensorRole::Parameter;
      emit(forward, id, OpKind::Einsum, {{spec.out, others}, letters, false}, {g, kept(other)}, {{i, letters}},
           parameter_seed(mine, letters), weight ? GradRole::Weight : GradRole::Input, weight ? "_w" : "_x", {});
    }
    if (!b_.profile().reduce_per_consumer) return;
    for (TensorId in : forward.inputs)
      if (differentiable(in) && s_.tensor(in).role != TensorRole::Parameter) reduce_alone(in);
  }

  // Where the profile does not sum first: what this consumer sends back is reduced on its own.
  void reduce_alone(TensorId of) {
    Placement target = s_.tensor(of).placement;
    if (!target.partial.empty()) return;
    TensorId& last = contributions_[static_cast<size_t>(of)].back();
    last = b_.redistribute(last, target, Phase::Backward, "each consumer of " + s_.tensor(of).name);
  }

  // Biases and position tables: the gradient is summed over the letters that the parameter does not have. Row p of a
  // position table serves position p, so its rows are never split.
  void reduce_to_parameter(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    const std::string& letters = spec.in[1];
    emit(forward, id, forward.kind, {{spec.out}, letters, false}, {g}, {{1, letters}}, parameter_seed(forward.inputs[1], letters),
         GradRole::Weight, "_w", statistics(forward));
  }

  // One kernel makes the gradients of all operands: norms, rotary, attention, activations, pieces of the loss.
  void pointwise(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    const KernelRule* rule = b_.profile().rule(std::string(template_name(forward.kind)));
    std::vector<TensorId> inputs{g};
    OpSpec align_spec{{spec.out}, spec.out, false};
    auto read = [&](int operand) {
      inputs.push_back(kept(forward.inputs[static_cast<size_t>(operand)]));
      align_spec.in.push_back(spec.in[static_cast<size_t>(operand)]);
    };
    std::vector<bool> reads(forward.inputs.size(), false);
    if (rule)
      for (int operand : rule->saves_inputs) reads[static_cast<size_t>(operand)] = true;
    if (rule)
      for (const KernelStat& stat : rule->stats)
        if (stat.replaces >= 0 && b_.keeps(stat)) reads[static_cast<size_t>(stat.replaces)] = false;
    std::vector<Wanted> wanted;
    for (size_t i = 0; i < forward.inputs.size(); ++i) {
      const bool parameter = s_.tensor(forward.inputs[i]).role == TensorRole::Parameter;
      if (reads[i] || parameter) read(static_cast<int>(i));
      const bool constant = !differentiable(forward.inputs[i]) || is_maximum(forward.inputs[i]);
      if (!constant) wanted.push_back({static_cast<int>(i), spec.in[i]});
    }
    if (wanted.empty()) return;
    std::vector<TensorId> extra = statistics(forward);
    if (rule && rule->saves_output) extra.insert(extra.begin(), forward.outputs[0]);
    // The index space is the forward op's: letters that only unread operands have keep their shards.
    // KV heads, where a copy stands for them, follow the heads of the queries.
    const bool all = forward.kind == OpKind::Attention && !std::all_of(reads.begin(), reads.end(), [](bool read) { return read; });
    LetterShards seed;
    for (size_t i = 0; i < forward.inputs.size(); ++i)
      if (all || !reads[i])
        for (size_t d = 0; d < spec.in[i].size(); ++d) seed.emplace(spec.in[i][d], s_.tensor(forward.inputs[i]).placement.shards[d]);
    emit(forward, id, forward.kind, align_spec, inputs, wanted, seed, GradRole::Input, "", extra);
  }

  bool is_maximum(TensorId id) const {
    OpId producer = s_.tensor(id).producer;
    while (producer >= 0 && s_.op(producer).kind == OpKind::AllReduce) producer = s_.tensor(s_.op(producer).inputs[0]).producer;
    return producer >= 0 && s_.op(producer).kind == OpKind::ReduceMax;
  }

  SegmentBuilder& b_;
  Segment& s_;
  std::vector<std::vector<TensorId>> contributions_;
};

}  // namespace

void differentiate(SegmentBuilder& builder) { Differentiator(builder).run(); }

}  // namespace shardscape
