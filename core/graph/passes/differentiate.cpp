// Differentiates the placed forward graph. A redistribution is an identity between two placements: its
// adjoint redistributes each gradient to the placement of its tensor. The gradient of a Replicate operand
// next to a sharded operand is Partial, by the same rule that makes forward contractions Partial.
#include <algorithm>
#include <map>

#include "graph/op_traits.h"
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
    begin_carried();
    for (OpId id = s_.backward_begin - 1; id >= 0; --id) backward_of(id);
    if (s_.input >= 0 && differentiable(s_.input)) s_.input_grad = gradient(s_.input);
    for (Carried& carried : s_.carried)
      if (carried.in >= 0 && differentiable(carried.in)) carried.in_grad = gradient(carried.in);
    for (Param& param : s_.params) {
      if (param.frozen) param.copies = b_.copies_of(s_.tensor(param.tensor));
      if (!differentiable(param.tensor)) continue;
      param.gradient = gradient(param.tensor);
      if (param.gradient < 0) param.gradient = zero_gradient(param.tensor);
    }
  }

 private:
  // The gradient of a carried tensor comes from later layers, as the sum of their shares.
  void begin_carried() {
    for (size_t i = 0; i < s_.carried.size(); ++i) {
      const TensorId out = s_.carried[i].out;
      if (out < 0 || !differentiable(out)) continue;
      s_.carried[i].out_grad = gradient_tensor(out, b_.tensor(out).placement, ".later");
      contribute(out, s_.carried[i].out_grad);
    }
  }

  bool differentiable(TensorId id) const {
    const TensorRole role = s_.tensor(id).role;
    if (const Param* param = role == TensorRole::Parameter ? s_.param(id) : nullptr; param && param->frozen)
      return false;
    return role != TensorRole::Constant && role != TensorRole::Dequantized && role != TensorRole::Statistic &&
           !is_integer(s_.tensor(id).dtype);
  }

  // Of a parameter that the loss does not depend on, as an optimizer with all parameters holds it: zero on
  // every replica.
  TensorId zero_gradient(TensorId of) {
    Placement placement = s_.tensor(of).placement;
    for (const MeshAxes& axes : b_.stream_placement({Axis::Batch, Axis::Seq}).shards)
      placement.partial.insert(placement.partial.end(), axes.begin(), axes.end());
    std::sort(placement.partial.begin(), placement.partial.end());
    return gradient_tensor(of, placement, "");
  }

  // Whether the tensor is a block that moves round a ring. Each rank adds to its gradient, in float32.
  bool is_ring_block(TensorId id) const {
    const OpId producer = s_.tensor(id).producer;
    return producer >= 0 && s_.op(producer).kind == OpKind::RingPass;
  }

  TensorId gradient_tensor(TensorId of, Placement placement, const std::string& suffix) {
    const Tensor source = s_.tensor(of);
    const bool weight = source.role == TensorRole::Parameter;
    const DType type = is_quantized(source.dtype) ? b_.structure().dtype : source.dtype;
    const TensorId id = b_.add_tensor(source.name + ".grad" + suffix, source.axes, std::move(placement),
                                      weight              ? b_.structure().grad_dtype
                                      : is_ring_block(of) ? DType::FP32
                                                          : type,
                                      weight ? TensorRole::ParameterGradient : TensorRole::Gradient);
    b_.tensor(id).gradient_of = of;
    return id;
  }

  void contribute(TensorId of, TensorId gradient) {
    if (contributions_.size() <= static_cast<size_t>(of)) contributions_.resize(static_cast<size_t>(of) + 1);
    contributions_[static_cast<size_t>(of)].push_back(gradient);
  }

  // Axes along which a gradient stays Partial before the backward of its tensor's producer, which is linear
  // in the gradient. Part of a declared group (replicas of KV heads): the operand's own gradient is summed
  // over the whole group anyway. Routing: the reduction of the smaller result moves fewer bytes.
  MeshAxes axes_left_partial(TensorId of, const Placement& target, const MeshAxes& open) const {
    if (s_.tensor(of).producer < 0) return {};
    MeshAxes out;
    // RoPE and the convolution of B and C: their backward runs before the gradients of the heads that share
    // the operand are added.
    if (op_traits(s_.op(s_.tensor(of).producer).kind).accepts_partial_gradient) {
      for (MeshAxis axis : open)
        if (target.shard_dim(axis) < 0) out.push_back(axis);
    } else {
      const auto has = [&](MeshAxis axis) { return std::find(open.begin(), open.end(), axis) != open.end(); };
      for (const KvSplit& split : kKvSplits)
        if (has(split.copies) && !has(split.heads)) out.push_back(split.copies);
    }
    return out;
  }

  // Sum of all contributions, in their common placement if they have one, otherwise in `target`. -1 if there
  // are none.
  TensorId summed(TensorId of, const Placement& target) {
    if (static_cast<size_t>(of) >= contributions_.size()) return -1;
    std::vector<TensorId> all = contributions_[static_cast<size_t>(of)];
    if (all.size() < 2) return all.empty() ? -1 : all[0];
    // GEMMs of frozen weights leave Partial gradients next to those of their adapters: one reduction serves
    // all gradients with one placement.
    if (const auto groups = by_placement(s_, all); b_.structure().lora && groups.size() > 1) {
      all.clear();
      for (const std::vector<TensorId>& group : groups) all.push_back(added(of, group));
    }
    const Placement first = s_.tensor(all[0]).placement;
    if (std::any_of(all.begin(), all.end(), [&](TensorId id) { return s_.tensor(id).placement != first; }))
      for (TensorId& id : all)
        id = b_.redistribute(id, target, Phase::Backward, "the sum of gradients of " + s_.tensor(of).name);
    const TensorId result = added(of, all);
    contributions_[static_cast<size_t>(of)] = {result};
    return result;
  }

  TensorId added(TensorId of, const std::vector<TensorId>& all) {
    if (all.size() == 1) return all[0];
    Op op;
    op.kind = OpKind::Add;
    op.phase = Phase::Backward;
    op.inputs = all;
    op.block = block_of_tensor(s_, of);
    std::string letters;
    for (size_t d = 0; d < s_.tensor(of).axes.size(); ++d) letters += static_cast<char>('a' + d);
    op.spec = OpSpec{std::vector<std::string>(all.size(), letters), letters}.text();
    const TensorId result = gradient_tensor(of, s_.tensor(all[0]).placement, ".total");
    op.outputs = {result};
    op.name = s_.tensor(result).name;
    op.label = "Sum of gradients";
    b_.add_op(std::move(op));
    return result;
  }

  TensorId quantized(TensorId gradient, int block) {
    if (is_quantized(s_.tensor(gradient).dtype)) return gradient;
    const auto [it, fresh] = quantized_.try_emplace(gradient, -1);
    if (fresh) it->second = b_.quantize(gradient, Phase::Backward, block, b_.structure().compute);
    return it->second;
  }

  int64_t consumers(TensorId id) const {
    return std::count_if(s_.ops.begin(), s_.ops.begin() + s_.backward_begin, [&](const Op& op) {
      return std::find(op.inputs.begin(), op.inputs.end(), id) != op.inputs.end();
    });
  }

  // The gradient in the placement of its tensor. Partial of the forward tensor becomes Replicate: the
  // gradient of every summand is the gradient of the sum. Gradients of parameters stay Partial: the sync plan
  // reduces them once a step.
  TensorId gradient(TensorId of) {
    const Tensor& t = s_.tensor(of);
    Placement target = t.placement;
    target.partial.clear();
    target.reduce = Reduce::Sum;
    TensorId sum = summed(of, target);
    if (sum < 0 || s_.tensor(of).role == TensorRole::Parameter) return sum;
    // A gradient that only quantized GEMMs read is quantized before it is gathered, if it is not Partial.
    const OpId producing_op = s_.tensor(of).producer;
    const auto& axes = s_.tensor(of).axes;
    const bool sent = b_.structure().fp8_dispatch ||
                      std::find(axes.begin(), axes.end(), Axis::Slots) == axes.end();
    if (sent && producing_op >= 0 && is_quantized(s_.op(producing_op).compute) &&
        s_.tensor(sum).placement.partial.empty())
      sum = quantized(sum, s_.op(producing_op).block);
    target.partial = axes_left_partial(of, target, s_.tensor(sum).placement.partial);
    const std::string consumer = s_.tensor(of).producer >= 0
                                     ? "the backward of " + s_.op(s_.tensor(of).producer).label
                                     : std::string("the section before");
    return b_.redistribute(sum, target, Phase::Backward, consumer);
  }

  // The tensor that the backward reads for a forward operand. A gathered operand is saved before its
  // all-gather (smaller) and gathered again; others are saved as they are, or recomputed where the profile
  // says so.
  TensorId saved_operand(TensorId id) {
    const OpId producer = s_.tensor(id).producer;
    // Tokens that are gathered for experts are saved after the gather: only tensor-parallel layers gather
    // again.
    const std::vector<Axis>& axes = s_.tensor(id).axes;
    const bool routed = std::any_of(axes.begin(), axes.end(),
                                    [](Axis axis) { return axis == Axis::Slots || axis == Axis::Tokens; });
    if (producer >= 0 && producer < s_.backward_begin && s_.op(producer).kind == OpKind::RingPass)
      return s_.op(producer).outputs.size() > 1 ? s_.op(producer).outputs[1] : s_.op(producer).inputs[0];
    const auto stays_gathered = [&](const Op& gather) {
      return b_.profile().saves_gathered && redistribution(gather).group == MeshAxes{MeshAxis::Tp};
    };
    if (!routed && producer >= 0 && producer < s_.backward_begin &&
        s_.op(producer).kind == OpKind::AllGather && !stays_gathered(s_.op(producer)))
      return saved_or_recomputed(s_.op(producer).inputs[0]);
    return saved_or_recomputed(id);
  }
  TensorId saved_or_recomputed(TensorId id) {
    const OpId producer = s_.tensor(id).producer;
    return producer >= 0 && s_.op(producer).recomputed_in_backward ? recomputed_output(producer) : id;
  }

  // Repeats, once, a forward op that its kernel recomputes within the backward. Only the first output is
  // recomputed; the others (statistics) are saved.
  TensorId recomputed_output(OpId id) {
    const auto known = recomputed_.find(id);
    if (known != recomputed_.end()) return known->second;
    Op op = s_.op(id);
    for (TensorId& in : op.inputs) {
      const Placement placement = s_.tensor(in).placement;
      in = b_.redistribute(saved_operand(in), placement, Phase::Backward, op.label + ", recomputed");
    }
    op.name += ".recompute";
    op.label += ", recomputed";
    op.phase = Phase::Backward;
    op.forward = id;
    op.recomputed_in_backward = false;
    const Tensor first = s_.tensor(op.outputs[0]);
    const TensorId result = b_.add_tensor(first.name + ".recompute", first.axes, first.placement, first.dtype,
                                          first.role);
    op.outputs = {result};
    b_.add_op(std::move(op));
    return recomputed_[id] = result;
  }

  struct WantedGradient {
    int operand;  // operand whose gradient is wanted
    std::string letters;
  };

  // Shards of the gradient's letters. Ranks may hold more of a parameter than they read (sinks of heads that
  // Ulysses spreads). Its gradient then has the shards that ranks hold and is Partial over the ranks that
  // read different parts.
  LetterShards stored_shards(TensorId of, const std::string& letters, const LetterShards& shards) const {
    constexpr char kNoLetter = '\0';  // axes that shard it make the gradient Partial
    LetterShards out = shards;
    const Tensor& t = s_.tensor(of);
    if (t.role != TensorRole::Parameter) return out;
    for (size_t d = 0; d < letters.size(); ++d) {
      const MeshAxes &stored = t.placement.shards[d], read = out[letters[d]];
      if (read.size() <= stored.size() || !std::equal(stored.begin(), stored.end(), read.begin())) continue;
      out[kNoLetter].insert(out[kNoLetter].end(), read.begin() + static_cast<std::ptrdiff_t>(stored.size()),
                            read.end());
      out[letters[d]] = stored;
    }
    return out;
  }

  // Replaces the mixers' parts of cp by cp in a Partial placement, because the sync plan reduces gradients
  // over cp.
  void merge_mixer_cp(MeshAxes& partial) const {
    const MeshAxes of_mixers = mixer_cp_axes(b_.structure()), whole = cp_axes(b_.structure());
    const auto has = [&](MeshAxis axis) {
      return std::find(partial.begin(), partial.end(), axis) != partial.end();
    };
    if (of_mixers == whole || !std::all_of(of_mixers.begin(), of_mixers.end(), has)) return;
    std::erase_if(partial, [&](MeshAxis axis) {
      return std::find(of_mixers.begin(), of_mixers.end(), axis) != of_mixers.end();
    });
    partial.insert(partial.end(), whole.begin(), whole.end());
    std::sort(partial.begin(), partial.end());
  }

  // Adds the backward op of the forward's kind that makes the wanted gradients.
  void add_backward_op(const Op& forward, OpId forward_id, const OpSpec& align_spec,
                       std::vector<TensorId> inputs, const std::vector<WantedGradient>& wanted,
                       const LetterShards& seed, GradRole role, const std::string& suffix,
                       const std::vector<TensorId>& statistics) {
    MeshAxes also_partial = s_.tensor(inputs[0]).placement.partial;
    const std::string label = forward.label + (role == GradRole::Weight ? ", weight gradient" : ", gradient");
    const LetterShards shards = b_.align(forward.kind, align_spec, inputs, seed, Phase::Backward, label);
    inputs.insert(inputs.end(), statistics.begin(), statistics.end());
    Op op;
    op.name = forward.name + ".grad" + suffix;
    op.label = label;
    op.kind = forward.kind;
    op.phase = Phase::Backward;
    op.grad = role;
    op.block = forward.block;
    op.inputs = inputs;
    op.forward = forward_id;
    op.attributes = forward.attributes;
    op.compute = forward.compute;
    op.operand = wanted.size() == 1 ? wanted[0].operand : -1;
    OpSpec spec = align_spec;
    spec.out = wanted[0].letters;
    op.spec = spec.text();
    for (const WantedGradient& w : wanted) {
      const TensorId of = forward.inputs[static_cast<size_t>(w.operand)];
      Placement placement = b_.result_placement(w.letters, stored_shards(of, w.letters, shards),
                                                also_partial);
      if (s_.tensor(of).role == TensorRole::Parameter) merge_mixer_cp(placement.partial);
      const TensorId out = gradient_tensor(of, placement, "");
      if (is_relabelling(forward.kind)) b_.tensor(out).storage = s_.tensor(inputs[0]).storage;
      op.outputs.push_back(out);
      contribute(of, out);
    }
    b_.add_op(std::move(op));
  }

  void backward_of(OpId id) {
    const Op forward = s_.op(id);
    const GradientRule rule = op_traits(forward.kind).gradient;
    // Rules that accept a Partial gradient come first.
    if (rule == GradientRule::None) return;
    if (rule == GradientRule::Redistribution) return redistribution_back(forward);
    if (rule == GradientRule::Part) return part_back(forward, id);
    const TensorId g = gradient(forward.outputs[0]);
    if (g < 0) return;
    const OpSpec spec = *parse_op_spec(forward.spec);
    switch (rule) {
      case GradientRule::None:
      case GradientRule::Redistribution:
      case GradientRule::Part: return;
      case GradientRule::Identity: return copy_to_operands(forward, g);
      case GradientRule::StraightThrough: return contribute(forward.inputs[0], g);
      case GradientRule::Contraction:
        return einsum(forward, id, spec, is_quantized(forward.compute) ? quantized(g, forward.block) : g);
      case GradientRule::ToParameter:
        contribute(forward.inputs[0], g);
        return forward.inputs.size() > 2 ? weighed_bias(forward, id, spec, g)
                                         : reduce_to_parameter(forward, id, spec, g);
      case GradientRule::Lookup: {
        if (!differentiable(forward.inputs[1])) return;
        const LetterShards seed = parameter_seed(forward.inputs[1], spec.in[1]);
        return add_backward_op(forward, id, {{spec.out, spec.in[0]}, spec.in[1]},
                               {g, saved_operand(forward.inputs[0])}, {{1, spec.in[1]}}, seed,
                               GradRole::Weight, "_w", statistics(forward));
      }
      case GradientRule::Routing: return routing(forward, id, spec, g);
      case GradientRule::LastVector:
        contribute(forward.inputs[0], g);
        return add_backward_op(forward, id, {{spec.out}, spec.in[1]}, {g}, {{1, spec.in[1]}}, {},
                               GradRole::Input, "", {});
      case GradientRule::OneKernel: break;
    }
    pointwise(forward, id, spec, g);
    if (ring_of(forward) == Ring::None) return;
    for (TensorId in : forward.inputs)
      if (is_ring_block(in)) ring_pass_back(s_.op(s_.tensor(in).producer));
  }

  // A redistribution is an identity between two placements.
  void redistribution_back(const Op& forward) {
    const TensorId in = forward.inputs[0];
    Placement target = s_.tensor(forward.outputs[0]).placement;
    target.partial.clear();
    TensorId sum = summed(forward.outputs[0], target);
    if (sum < 0) return;
    // The all-to-all of the backward comes before any other sum.
    if (forward.kind == OpKind::AllToAll) {
      Placement original = s_.tensor(in).placement;
      original.partial.clear();
      original.partial = axes_left_partial(in, original, s_.tensor(sum).placement.partial);
      sum = b_.redistribute(sum, original, Phase::Backward, "the backward of " + forward.label);
    }
    contribute(in, sum);
    // Redistributions are differentiated in the reverse order of the forward, unless other contributions come
    // first.
    if (consumers(in) != 1) return;
    const TensorId moved = gradient(in);
    // The gradient of a tensor that was gathered and then sliced takes the same steps in reverse.
    const OpId producing_op = s_.tensor(in).producer;
    if (forward.kind == OpKind::Slice && producing_op >= 0 && s_.op(producing_op).kind == OpKind::AllGather &&
        redistribution(s_.op(producing_op)).group == redistribution(forward).group)
      contributions_[static_cast<size_t>(in)] = {moved};
  }

  // The adjoint of a ring pass: sends the gradients of a block to its owner, together with the steps of the
  // attention's backward.
  void ring_pass_back(const Op pass) {
    const TensorId partial = contributions_[static_cast<size_t>(pass.outputs[0])].back();
    Placement target = s_.tensor(partial).placement;
    const MeshAxes& group = redistribution(pass).group;
    std::erase_if(target.partial,
                  [&](MeshAxis axis) { return std::find(group.begin(), group.end(), axis) != group.end(); });
    target.shards = s_.tensor(pass.inputs[0]).placement.shards;
    contribute(pass.inputs[0],
               b_.redistribute(partial, target, Phase::Backward, "the rank that owns the block"));
  }

  // The gradients of a routing op have the placements of its operands. They are Partial where the incoming
  // gradient is Partial, and along axes over which an operand is summed.
  void routing(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    const KernelRule* rule = b_.profile().rule(std::string(template_name(forward.kind)));
    Op op;
    op.name = forward.name + ".grad";
    op.label = forward.label + ", gradient";
    op.kind = forward.kind;
    op.phase = Phase::Backward;
    op.grad = GradRole::Input;
    op.block = forward.block;
    op.forward = id;
    op.attributes = forward.attributes;
    op.inputs = {g};
    OpSpec shape{{spec.out}, ""};
    for (int operand : rule->saves_inputs) {
      op.inputs.push_back(forward.inputs[static_cast<size_t>(operand)]);
      shape.in.push_back(spec.in[static_cast<size_t>(operand)]);
    }
    for (size_t i = 0; i < forward.inputs.size(); ++i) {
      if (static_cast<int>(i) == op_traits(forward.kind).choices_operand ||
          !differentiable(forward.inputs[i]))
        continue;
      Placement p = s_.tensor(forward.inputs[i]).placement;
      MeshAxes partial = s_.tensor(g).placement.partial;
      p.partial.clear();
      const auto summed_over = [&](const Placement& other, const std::string& letters) {
        partial.insert(partial.end(), other.partial.begin(), other.partial.end());
        if (is_relabelling(forward.kind)) return;
        for (size_t d = 0; d < letters.size(); ++d)
          if (spec.in[i].find(letters[d]) == std::string::npos)
            partial.insert(partial.end(), other.shards[d].begin(), other.shards[d].end());
      };
      summed_over(s_.tensor(g).placement, spec.out);
      for (size_t j = 0; j < forward.inputs.size(); ++j)
        if (j != i) summed_over(s_.tensor(forward.inputs[j]).placement, spec.in[j]);
      for (MeshAxis axis : partial)
        if (!p.uses(axis)) p.partial.push_back(axis);
      std::sort(p.partial.begin(), p.partial.end());
      const TensorId out = gradient_tensor(forward.inputs[i], p, "");
      if (rule->in_place) b_.tensor(out).storage = s_.tensor(g).storage;
      op.outputs.push_back(out);
      if (shape.out.empty()) shape.out = spec.in[i];
    }
    op.spec = shape.text();
    const std::vector<TensorId> extra = statistics(forward);
    op.inputs.insert(op.inputs.end(), extra.begin(), extra.end());
    const std::vector<TensorId> made = op.outputs;
    b_.add_op(std::move(op));
    for (size_t i = 0; i < made.size(); ++i) contribute(s_.tensor(made[i]).gradient_of, made[i]);
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

  // Every operand of a sum gets the gradient unchanged, in its own type.
  void copy_to_operands(const Op& forward, TensorId g) {
    std::map<DType, TensorId> typed{{s_.tensor(g).dtype, g}};
    for (TensorId in : forward.inputs) {
      const DType type = is_quantized(s_.tensor(in).dtype) ? b_.structure().dtype : s_.tensor(in).dtype;
      if (!typed.contains(type)) typed[type] = b_.cast(g, type, Phase::Backward);
      contribute(in, typed.at(type));
    }
  }

  // The gradient of the whole is the gradient of the part, zero elsewhere. A Partial gradient stays Partial:
  // one reduction serves all parts.
  void part_back(const Op& forward, OpId id) {
    Placement target = s_.tensor(forward.outputs[0]).placement;
    target.partial.clear();
    const TensorId sum = summed(forward.outputs[0], target);
    if (sum < 0) return;
    const OpSpec spec = *parse_op_spec(forward.spec);
    const Tensor& whole = s_.tensor(forward.inputs[0]);
    OpSpec back{{spec.out}, spec.in[0]};
    back.axis = whole.axes[spec.in[0].find_first_not_of(spec.out)];
    add_backward_op(forward, id, back, {sum}, {{0, spec.in[0]}}, {}, GradRole::Input, "", {});
  }

  // The gradient of an einsum is two einsums.
  void einsum(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    for (int i = 0; i < 2; ++i) {
      const TensorId operand = forward.inputs[static_cast<size_t>(i)],
                     other = forward.inputs[static_cast<size_t>(1 - i)];
      if (!differentiable(operand)) continue;
      const std::string &letters = spec.in[static_cast<size_t>(i)],
                        &others = spec.in[static_cast<size_t>(1 - i)];
      const bool weight = s_.tensor(operand).role == TensorRole::Parameter;
      add_backward_op(forward, id, {{spec.out, others}, letters},
                      {g, saved_operand(router_copy(forward, 1 - i, other))}, {{i, letters}},
                      parameter_seed(operand, letters), weight ? GradRole::Weight : GradRole::Input,
                      weight ? "_w" : "_x", {});
    }
    if (!b_.profile().reduce_per_consumer) return;
    for (TensorId in : forward.inputs)
      if (differentiable(in) && s_.tensor(in).role != TensorRole::Parameter) reduce_consumer_gradient(in);
  }

  // The copy of an operand in the router's precision, if the profile has one; otherwise `id`.
  TensorId router_copy(const Op& forward, int operand, TensorId id) const {
    if (forward.outputs.size() < 2) return id;
    size_t at = 1;
    for (const KernelStat& stat : b_.profile().rule(std::string(kRouterRule))->stats) {
      if (!b_.has_statistic(stat)) continue;
      if (stat.replaces == operand) return forward.outputs[at];
      at += static_cast<size_t>(stat.copies);
    }
    return id;
  }

  // For profiles with reduce_per_consumer: reduces the gradient of this consumer alone.
  void reduce_consumer_gradient(TensorId of) {
    Placement target = s_.tensor(of).placement;
    if (!target.partial.empty()) return;
    TensorId& last = contributions_[static_cast<size_t>(of)].back();
    last = b_.redistribute(last, target, Phase::Backward, "each consumer of " + s_.tensor(of).name);
  }

  // Biases and position tables: the gradient is summed over the letters that the parameter lacks. Row p of a
  // position table serves position p, so its rows are never split.
  void reduce_to_parameter(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    if (!differentiable(forward.inputs[1])) return;
    const std::string& letters = spec.in[1];
    add_backward_op(forward, id, {{spec.out}, letters}, {g}, {{1, letters}},
                    parameter_seed(forward.inputs[1], letters), GradRole::Weight, "_w", statistics(forward));
  }

  // A bias of slots of experts, times their weights: one kernel makes both gradients. A frozen bias has none.
  void weighed_bias(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    const std::string &bias = spec.in[1], &weights = spec.in[2];
    std::vector<WantedGradient> wanted{{2, weights}};
    if (differentiable(forward.inputs[1])) wanted.insert(wanted.begin(), {1, bias});
    add_backward_op(forward, id, {{spec.out, bias, weights}, bias},
                    {g, forward.inputs[1], saved_operand(forward.inputs[2])}, wanted,
                    parameter_seed(forward.inputs[1], bias), GradRole::Weight, "_w", statistics(forward));
  }

  // One kernel makes the gradients of all operands: norms, rotary, attention, activations, steps of the loss.
  void pointwise(const Op& forward, OpId id, const OpSpec& spec, TensorId g) {
    const KernelRule* rule = b_.profile().rule(std::string(template_name(forward.kind)));
    std::vector<TensorId> inputs{g};
    OpSpec align_spec{{spec.out}, spec.out};
    auto read = [&](int operand) {
      inputs.push_back(saved_operand(forward.inputs[static_cast<size_t>(operand)]));
      align_spec.in.push_back(spec.in[static_cast<size_t>(operand)]);
    };
    std::vector<bool> reads(forward.inputs.size(), false);
    if (rule)
      for (const int operand : rule->saves_inputs)
        if (operand < static_cast<int>(reads.size())) reads[static_cast<size_t>(operand)] = true;
    // Compressed keys and positions of picked keys: the backward reads them.
    if (op_traits(forward.kind).family == OpFamily::Attention)
      for (size_t i = 3; i < forward.inputs.size(); ++i)
        reads[i] = is_integer(s_.tensor(forward.inputs[i]).dtype) ||
                   s_.tensor(forward.inputs[i]).axes.size() == 3;
    if (rule)
      for (const KernelStat& stat : rule->stats)
        if (stat.replaces >= 0 && b_.has_statistic(stat)) reads[static_cast<size_t>(stat.replaces)] = false;
    std::vector<WantedGradient> wanted;
    for (size_t i = 0; i < forward.inputs.size(); ++i) {
      const bool parameter = s_.tensor(forward.inputs[i]).role == TensorRole::Parameter;
      if (reads[i] || parameter || is_buffer(s_, forward.inputs[i])) read(static_cast<int>(i));
      const bool constant = !differentiable(forward.inputs[i]) || is_maximum(forward.inputs[i]);
      if (!constant) wanted.push_back({static_cast<int>(i), spec.in[i]});
    }
    if (wanted.empty()) return;
    std::vector<TensorId> extra = statistics(forward);
    if (rule && rule->saves_output) extra.insert(extra.begin(), saved_operand(forward.outputs[0]));
    // The index space is that of the forward op: letters that only unread operands have keep their shards.
    // Where a statistic replaces KV heads, they follow the heads of the queries.
    const bool all = b_.is_mixer_under_cp(forward.kind) ||
                     (op_traits(forward.kind).family == OpFamily::Attention &&
                      !std::all_of(reads.begin(), reads.end(), [](bool read) { return read; }));
    LetterShards seed;
    for (size_t i = 0; i < forward.inputs.size(); ++i)
      if (all || !reads[i])
        for (size_t d = 0; d < spec.in[i].size(); ++d)
          seed.emplace(spec.in[i][d], s_.tensor(forward.inputs[i]).placement.shards[d]);
    add_backward_op(forward, id, align_spec, inputs, wanted, seed, GradRole::Input, "", extra);
  }

  bool is_maximum(TensorId id) const {
    OpId producer = s_.tensor(id).producer;
    while (producer >= 0 && s_.op(producer).kind == OpKind::AllReduce)
      producer = s_.tensor(s_.op(producer).inputs[0]).producer;
    return producer >= 0 && op_traits(s_.op(producer).kind).accumulates_max;
  }

  SegmentBuilder& b_;
  Segment& s_;
  std::vector<std::vector<TensorId>> contributions_;
  std::map<OpId, TensorId> recomputed_;     // forward op -> its repeated result
  std::map<TensorId, TensorId> quantized_;  // gradient -> its quantized copy
};

}  // namespace

void differentiate(SegmentBuilder& builder) { Differentiator(builder).run(); }

}  // namespace shardscape
