#include "support/op_machine.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

#include "design/validate/validate.h"
#include "design/vision.h"
#include "graph/build.h"
#include "graph/op_spec.h"
#include "graph/op_traits.h"
#include "support/caches.h"
#include "support/routing_kernels.h"

namespace shardscape::test {
namespace {

// Ops on some of the heads of a mixer use the part of their parameters that matches the shards of their data.
// The gradient of the rest is zero.
Tensor seen(const Segment& s, const Op& op, TensorId id) {
  Tensor t = s.tensor(id);
  const TensorId parameter = t.role == TensorRole::ParameterGradient ? t.gradient_of : id;
  if (op_traits(op.kind).mixer != MixerSpace::SomeHeads || s.tensor(parameter).role != TensorRole::Parameter)
    return t;
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const OpSpec spec = *parse_op_spec(forward.spec);
  std::map<char, MeshAxes> shards;
  for (size_t i = 0; i < spec.in.size(); ++i)
    if (const Tensor& data = s.tensor(forward.inputs[i]); data.role != TensorRole::Parameter)
      for (size_t d = 0; d < spec.in[i].size(); ++d) shards[spec.in[i][d]] = data.placement.shards[d];
  for (size_t i = 0; i < spec.in.size(); ++i)
    if (forward.inputs[i] == parameter)
      for (size_t d = 0; d < spec.in[i].size(); ++d)
        if (const auto it = shards.find(spec.in[i][d]); it != shards.end())
          t.placement.shards[d] = it->second;
  return t;
}

bool combines(OpKind kind) { return kind == OpKind::Combine || kind == OpKind::CombineSum; }

// Whether the router of the segment also selects experts that compute nothing.
bool routes_to_nothing(const Segment& s) {
  return std::any_of(s.tensors.begin(), s.tensors.end(), [](const Tensor& t) {
    return std::find(t.axes.begin(), t.axes.end(), Axis::AllRoutes) != t.axes.end();
  });
}

// The choices tensor of a Dispatch, of weights too, or a Combine. Within a node its shape is [nodes, node
// slots, choices].
const Tensor& choices_of(const Segment& s, const Op& op) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  return s.tensor(forward.inputs[combines(forward.kind) ? 1 : 0]);
}

bool arrives(const Segment& s, const Op& op) {
  return (op.kind == OpKind::Dispatch || op.kind == OpKind::DispatchWeights || combines(op.kind)) &&
         choices_of(s, op).axes.size() == 3;
}

}  // namespace

void fail(const std::string& what) { throw std::runtime_error(what); }

OpMachine::OpMachine(const Design& design, const ModelLibrary& library, const Serving* serving,
                     const GraphChange& change)
    : d_(effective_design(design)), binding_(bind_symbols(d_)), mesh_(device_mesh(d_)), serving_(serving) {
  const auto problems = validate(design);
  if (has_errors(problems)) fail(to_string(problems.front()));
  auto graph = build_graph(structure_of(design), library);
  if (auto* problem = std::get_if<Problem>(&graph)) fail(to_string(*problem));
  graph_ = std::get<0>(graph);
  if (change) {
    Graph changed = *graph_;
    std::vector<Segment> segments = changed.segments.all();
    change(segments);
    changed.segments = Segments(std::make_shared<const std::vector<Segment>>(std::move(segments)));
    graph_ = std::make_shared<const Graph>(std::move(changed));
  }
  for (int64_t r = 0; r < mesh_.ranks(); ++r) stage_ranks_[mesh_.coordinate(r, MeshAxis::Pp)].push_back(r);
}

Rows OpMachine::part(const Tensor& t, int64_t rank) const {
  Rows out;
  for (const int64_t size : sizes_of(t, binding_)) {
    std::vector<int64_t> rows(static_cast<size_t>(size));
    std::iota(rows.begin(), rows.end(), 0);
    const size_t d = out.size();
    for (MeshAxis axis : t.placement.shards[d]) {
      const bool zigzag = graph_->structure.zigzag &&
                          (t.axes[d] == Axis::Seq || t.axes[d] == Axis::Context) &&
                          MeshAxes{axis} == ring_axes(graph_->structure);
      const auto ranks = static_cast<size_t>(mesh_.degree(axis)),
                 at = static_cast<size_t>(mesh_.coordinate(rank, axis));
      const size_t blocks = zigzag ? 2 * ranks : ranks, width = rows.size() / blocks;
      if (rows.size() % blocks != 0) fail(t.name + " does not split");
      const auto block = [&](size_t i) {
        return std::vector<int64_t>(rows.begin() + static_cast<std::ptrdiff_t>(i * width),
                                    rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
      };
      std::vector<int64_t> mine = block(at);
      if (zigzag)
        for (int64_t row : block(blocks - 1 - at)) mine.push_back(row);
      rows = std::move(mine);
    }
    out.push_back(std::move(rows));
  }
  return out;
}

RealTensor OpMachine::local(const Tensor& t, const RealTensor& whole, int64_t rank) const {
  return cut(whole, part(t, rank));
}

int64_t OpMachine::stride() const { return serving_ ? serving_->tokens.shape[2] : d_.workload.seq; }

int64_t OpMachine::first_token() const {
  return d_.workload.mode == Mode::Decode ? d_.workload.context_length - 1 : 0;
}

// Positions in the sequence of rows of a dimension.
std::vector<int64_t> OpMachine::places(const Segment& s, Axis axis, std::vector<int64_t> rows) const {
  const int64_t first = axis == Axis::Seq             ? first_token()
                        : axis == Axis::WindowContext ? d_.workload.context_length - size_in(s, "We")
                        : axis == Axis::ChunkContext  ? d_.workload.context_length - size_in(s, "Wce")
                                                      : 0;
  const int64_t ratio = is_compressed(axis) ? size_in(s, "Cr") : 1;
  // A decoded token makes the key of its block, or would make it.
  const int64_t made = axis == Axis::Compressed && d_.workload.mode == Mode::Decode
                           ? (d_.workload.context_length - 1) / ratio
                           : 0;
  for (int64_t& row : rows) row = (row + made) * ratio + first;
  return rows;
}

int64_t OpMachine::size_in(const Segment& s, const char* symbol) const {
  const auto value = evaluate(s.scope.of(Expr(Symbol::intern(symbol))), binding_);
  const Wide* size = std::get_if<Wide>(&value);
  return size ? static_cast<int64_t>(*size) : 0;
}

// Numbers in a row of a norm in two steps, over all ranks; 0 for another op.
int64_t OpMachine::norm_width(const Segment& s, const Op& op) const {
  if (op.kind != OpKind::RmsScale) return 0;
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const std::vector<int64_t> values = sizes_of(s.tensor(forward.inputs[0]), binding_);
  const size_t rows = s.tensor(forward.inputs[1]).sizes.size();
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(rows), values.end(), int64_t{1},
                         std::multiplies<>());
}

void OpMachine::execute(const Segment& s, OpId begin, OpId end, int stage, RankValues& values,
                        CheckpointPolicy checkpoint_policy, bool deferrable) const {
  for (OpId id = begin; id < end; ++id) {
    const Op& op = s.op(id);
    if (!runs(op, checkpoint_policy) || op.deferrable != deferrable) continue;
    if (is_collective(op.kind))
      collective(s, op, stage, values);
    else
      for (int64_t rank : stage_ranks_.at(stage)) compute(s, op, rank, values[rank]);
  }
}

// The sizes of attention and of its compressed and picked keys that the kernel of `op` needs.
void OpMachine::describe_attention(const Segment& s, const Op& op, KernelCall& call) const {
  const Op& forward = s.op(forward_of(s, static_cast<OpId>(&op - s.ops.data())));
  const OpFamily family = op_traits(op.kind).family;
  if (family == OpFamily::Attention && s.tensor(forward.inputs[0]).axes.back() == Axis::LatentDim)
    call.score_width = size_in(s, "En") + size_in(s, "Er");
  for (size_t i = 0; family == OpFamily::Attention && i < op.inputs.size(); ++i) {
    const std::vector<Axis>& axes = s.tensor(op.inputs[i]).axes;
    if (!axes.empty() && axes.back() == Axis::Picked) call.picked = static_cast<int>(i);
    if (axes.size() == 3 && is_compressed(axes[1])) call.compressed = static_cast<int>(i);
  }
  if (call.compressed >= 0 || op.kind == OpKind::Compress ||
      (family == OpFamily::Index && is_compressed(s.tensor(op.inputs[1]).axes[1])))
    call.compress_ratio = size_in(s, "Cr");
}

void OpMachine::compute(const Segment& s, const Op& op, int64_t rank, std::vector<RealTensor>& v) const {
  const auto value = [&](TensorId id) -> RealTensor& { return v[static_cast<size_t>(id)]; };
  for (TensorId id : op.inputs)
    if (!value(id).defined())
      fail(op.name + " reads " + s.tensor(id).name + ", which is not there: not saved?");
  if (op.kind == OpKind::Slice) {
    value(op.outputs[0]) = cut(
        value(op.inputs[0]), within(part(s.tensor(op.inputs[0]), rank), part(s.tensor(op.outputs[0]), rank)));
    return;
  }
  if (op.kind == OpKind::Take || op.kind == OpKind::TakeLayer) {
    const std::vector<int64_t> shape = lengths(part(s.tensor(op.outputs[0]), rank));
    value(op.outputs[0]) = op.kind == OpKind::Take ? take(s, op, value(op.inputs[0]), shape)
                                                   : take_layer(s, op, value(op.inputs[0]), shape);
    return;
  }
  PreparedCall& prepared = this->prepared(s, op, rank);
  KernelCall& call = prepared.call;
  call.inputs.clear();
  std::deque<RealTensor> parts;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorId id = op.inputs[i];
    const Operand& of = prepared.inputs[i];
    if (value(id).shape != of.shape) fail(op.name + " reads " + s.tensor(id).name + " in another shape");
    call.inputs.push_back(of.used ? &parts.emplace_back(cut(value(id), *of.used)) : &value(id));
  }
  auto outputs = run_kernel(call);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Operand& of = prepared.outputs[i];
    RealTensor& out = value(op.outputs[i]);
    out = of.used ? RealTensor(of.shape) : std::move(outputs[i]);
    if (of.used) paste(out, outputs[i], *of.used);
  }
}

OpMachine::PreparedCall& OpMachine::prepared(const Segment& s, const Op& op, int64_t rank) const {
  const std::pair key{&op, rank};
  if (const auto it = prepared_.find(key); it != prepared_.end()) return it->second;
  PreparedCall& out = prepared_.emplace(key, PreparedCall{describe(s, op, rank), {}, {}}).first->second;
  const auto operand = [&](TensorId id, const Rows& rows) {
    const Rows held = part(s.tensor(id), rank);
    return Operand{lengths(held), rows == held ? std::nullopt : std::optional(within(held, rows))};
  };
  for (const TensorId id : op.inputs) {
    const Rows rows = part(seen(s, op, id), rank);
    out.inputs.push_back(operand(id, rows));
    out.call.input_starts.push_back(starts_of(rows));
    out.call.input_positions.push_back(rows.size() > 1 ? places(s, s.tensor(id).axes[1], rows[1])
                                                       : std::vector<int64_t>{});
    out.call.input_names.push_back(s.tensor(id).name);
  }
  for (const TensorId id : op.outputs) {
    const Rows rows = part(seen(s, op, id), rank);
    out.outputs.push_back(operand(id, rows));
    out.call.output_starts.push_back(starts_of(rows));
    out.call.output_names.push_back(s.tensor(id).name);
    out.call.output_shapes.push_back(lengths(rows));
  }
  return out;
}

// The call of an op without its operands.
KernelCall OpMachine::describe(const Segment& s, const Op& op, int64_t rank) const {
  KernelCall call{op,
                  {},
                  {},
                  {},
                  {},
                  {},
                  {},
                  size_in(s, "H") / std::max<int64_t>(1, size_in(s, "G")),
                  size_in(s, "W"),
                  size_in(s, routes_to_nothing(s) ? "Xr" : "X"),
                  size_in(s, "K"),
                  {}};
  call.expert_groups = d_.model.expert_groups;
  call.groups_per_token = d_.model.groups_per_token;
  call.chunk = size_in(s, "Wc");
  call.document = size_in(s, "Sd");
  call.rope_width = size_in(s, "Er");
  call.norm_width = norm_width(s, op);
  if (op.kind == OpKind::SquareSum && op.grad == GradRole::None)
    for (MeshAxis axis : s.tensor(op.outputs[0]).placement.partial)
      if (!s.tensor(op.inputs[0]).placement.uses(axis)) call.copies *= mesh_.degree(axis);
  call.tokens_of_sequence = d_.workload.seq;
  call.sequence_stride = stride();
  if (routes_to_nothing(s)) call.zero_experts = size_in(s, "Xz");
  if (op.kind == OpKind::InsertTokens || op.kind == OpKind::AddTokens)
    call.image_tokens = images_per_sequence(d_) * patches_per_image(d_) / d_.model.vision_merge;
  describe_attention(s, op, call);
  call.tokens_so_far = d_.workload.mode == Mode::Decode ? d_.workload.context_length : d_.workload.seq;
  if (attention_of(op) && attention_of(op)->block) call.index_block = d_.model.index_block;
  if (is_routing(op.kind) && !is_relabelling(op.kind))
    call.tokens = arrives(s, op) ? arrived(s, op, rank, call) : tokens_of(s, op, rank);
  for (const MeshAxis ring : ring_axes(graph_->structure)) {
    call.ring_ranks = mesh_.degree(ring);
    call.ring_position = mesh_.coordinate(rank, ring);
  }
  return call;
}

// Tokens that a rank routes, in row order: its own flattened tokens, or the tokens of all ranks over which
// the rows were gathered, rank by rank.
std::vector<int64_t> OpMachine::tokens_of(const Segment& s, const Op& op, int64_t rank) const {
  const auto flatten = std::find_if(s.ops.begin(), s.ops.end(),
                                    [](const Op& o) { return o.kind == OpKind::Flatten; });
  const Tensor& sequence = s.tensor(flatten->inputs[0]);
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const bool from_nodes = forward.kind == OpKind::CombineNodes;
  const MeshAxes rows = s.tensor(from_nodes ? forward.outputs[0]
                                            : forward.inputs[combines(forward.kind) ? 1 : 0])
                            .placement.shards[0];
  MeshAxes gathered;
  for (MeshAxis axis : s.tensor(flatten->outputs[0]).placement.shards[0])
    if (std::find(rows.begin(), rows.end(), axis) == rows.end()) gathered.push_back(axis);
  std::vector<int64_t> out;
  for (int64_t member : mesh_.group(rank, gathered)) {
    const Rows rows = part(sequence, member);
    for (int64_t b : rows[0])
      for (int64_t i : rows[1]) out.push_back(b * stride() + first_token() + i);
  }
  return out;
}

// Tokens in the slots of this rank's node, sender by sender.
std::vector<int64_t> OpMachine::arrived(const Segment& s, const Op& op, int64_t rank, KernelCall call) const {
  const Tensor& choices = choices_of(s, op);
  const MeshAxes over = choices.placement.shards[0];
  const std::vector<int64_t> senders = mesh_.group(rank, over);
  const int64_t nodes = static_cast<int64_t>(senders.size()), here = mesh_.coordinate(rank, over[0]);
  const int64_t slots = lengths(part(choices, rank))[1] / nodes;
  const auto sending = std::find_if(s.ops.begin(), s.ops.end(),
                                    [](const Op& o) { return o.kind == OpKind::DispatchNodes; });
  std::vector<int64_t> out;
  for (int64_t sender : senders) {
    call.tokens = tokens_of(s, *sending, sender);
    out.resize(out.size() + static_cast<size_t>(slots), -1);
    const auto first = out.end() - slots;
    visit_node_slots(call, nodes, slots, [&](int64_t token, int64_t row) {
      if (row / slots == here) first[row % slots] = call.tokens[static_cast<size_t>(token)];
    });
  }
  return out;
}

// Parts of a tensor are stored in the order of their Take ops. The gradient outside a part is zero.
RealTensor OpMachine::take(const Segment& s, const Op& op, const RealTensor& in,
                           const std::vector<int64_t>& shape) const {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor& whole = s.tensor(forward.inputs[0]);
  size_t dim = 0;
  while (whole.axes[dim] == s.tensor(forward.outputs[0]).axes[dim]) ++dim;
  int64_t start = 0;
  for (OpId id = 0; &s.op(id) != &forward; ++id)
    if (s.op(id).kind == OpKind::Take && s.op(id).inputs[0] == forward.inputs[0])
      start += sizes_of(s.tensor(s.op(id).outputs[0]), binding_)[dim];
  Rows rows;
  for (const int64_t size : op.grad == GradRole::None ? shape : in.shape) {
    rows.emplace_back(static_cast<size_t>(size));
    std::iota(rows.back().begin(), rows.back().end(), rows.size() == dim + 1 ? start : 0);
  }
  if (op.grad == GradRole::None) return cut(in, rows);
  RealTensor out(shape);
  paste(out, in, rows);
  return out;
}

// The part of this layer. The gradients of other layers' parts are zero.
RealTensor OpMachine::take_layer(const Segment& s, const Op& op, const RealTensor& in,
                                 const std::vector<int64_t>& shape) const {
  if (layer_ < 0) fail(op.name + " runs outside of a layer");
  const bool backward = op.grad != GradRole::None;
  const Tensor& whole = s.tensor(backward ? op.outputs[0] : op.inputs[0]);
  const auto dim = static_cast<size_t>(std::find(whole.axes.begin(), whole.axes.end(), Axis::ModelLayers) -
                                       whole.axes.begin());
  std::vector<int64_t> one = backward ? shape : in.shape;
  one[dim] = 1;
  Rows rows;
  for (const int64_t size : one) {
    rows.emplace_back(static_cast<size_t>(size));
    std::iota(rows.back().begin(), rows.back().end(), rows.size() == dim + 1 ? layer_ : 0);
  }
  RealTensor out = backward ? RealTensor(shape) : cut(in, rows);
  if (backward) {
    RealTensor part = in;
    part.shape = one;
    paste(out, part, rows);
  } else {
    out.shape = shape;
  }
  return out;
}

// Runs a collective by its definition: reduces or assembles over the group, then cuts the part of each
// member.
void OpMachine::collective(const Segment& s, const Op& op, int stage, RankValues& values) const {
  const Tensor &in = s.tensor(op.inputs[0]), &out = s.tensor(op.outputs[0]);
  std::set<int64_t> done;
  for (int64_t rank : stage_ranks_.at(stage)) {
    if (done.count(rank)) continue;
    const Redistribution& by = redistribution(op);
    const std::vector<int64_t> group = mesh_.group(rank, by.group);
    if (group.size() < 2) fail(op.name + ": a group of one");
    const bool reduces = op.kind == OpKind::AllReduce || op.kind == OpKind::ReduceScatter ||
                         op.kind == OpKind::RingSum || (op.kind == OpKind::AllToAll && by.dim < 0);
    RealTensor whole(sizes_of(in, binding_));
    bool first = true;
    RealTensor sum;
    for (int64_t member : group) {
      const RealTensor& mine = values[member][static_cast<size_t>(op.inputs[0])];
      if (!mine.defined()) fail(op.name + " reads " + in.name + ", which is not there: not saved?");
      if (mine.shape != lengths(part(in, member))) fail(op.name + " reads " + in.name + " in another shape");
      if (!reduces) {
        paste(whole, mine, part(in, member));
      } else if (op.kind == OpKind::AllToAll) {  // ranks with the same part hold summands of it
        add(whole, mine, part(in, member));
      } else if (first) {
        sum = mine;
      } else {
        for (size_t i = 0; i < sum.data.size(); ++i)
          sum.data[i] = by.reduce == Reduce::Max ? std::max(sum.data[i], mine.data[i])
                                                 : sum.data[i] + mine.data[i];
      }
      first = false;
    }
    if (reduces && op.kind != OpKind::AllToAll) paste(whole, sum, part(in, rank));
    for (int64_t member : group) {
      if (op.outputs.size() > 1)
        values[member][static_cast<size_t>(op.outputs[1])] = values[member]
                                                                   [static_cast<size_t>(op.inputs[0])];
      values[member][static_cast<size_t>(op.outputs[0])] = local(out, whole, member);
      done.insert(member);
    }
  }
}

}  // namespace shardscape::test
