#include "support/interpreter.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "graph/op_spec.h"
#include "pipeline/schedule.h"
#include "plan/stage_boundary.h"
#include "support/caches.h"
#include "support/instances.h"
#include "support/kernels.h"
#include "support/routing_kernels.h"

namespace shardscape::test {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

class Machine {
 public:
  // serving: of inference, what it is about.
  Machine(const Design& design, const Parameters& parameters, unsigned seed, const ModelLibrary& library,
          const Serving* serving = nullptr)
      : d_(effective_design(design)),
        binding_(bind_symbols(d_)),
        mesh_(device_mesh(d_)),
        places_(pipeline_layout(d_.parallel)),
        parameters_(parameters),
        serving_(serving) {
    const auto problems = validate(design);
    if (has_errors(problems)) fail(to_string(problems.front()));
    auto graph = build_graph(structure_of(design), library);
    if (auto* problem = std::get_if<Problem>(&graph)) fail(to_string(*problem));
    graph_ = std::get<0>(graph);
    stages_ = instances_by_virtual_stage(d_, *graph_);
    boundary_ = stage_boundary(*graph_);
    microbatches_ = static_cast<int>(*binding_.get(Symbol::intern("m")));
    for (int64_t r = 0; r < mesh_.ranks(); ++r) stage_ranks_[mesh_.coordinate(r, MeshAxis::Pp)].push_back(r);
    const std::vector<int64_t> rows{microbatches_, d_.workload.microbatch * d_.parallel.dp, d_.workload.seq};
    serving ? take_data() : make_data(seed);
    result_.token_losses = serving ? RealTensor({rows[0], rows[1], 1, *binding_.get(Symbol::intern("Vp"))})
                                   : RealTensor(rows);
    result_.tokens = RealTensor(rows);
    for (auto at = result_.tokens.data.begin(); const RealTensor& of : tokens_)
      at = std::copy(of.data.begin(), of.data.end(), at);
    result_.last_hidden = RealTensor({rows[0], rows[1], rows[2], design.model.hidden});
  }

  RunResult run(bool backward) {
    Schedule schedule = make_schedule(d_.parallel, microbatches_);
    if (const auto wrong = violations(schedule); !wrong.empty()) fail(wrong.front());
    for (auto& actions :
         schedule
             .actions)  // at once: neither waits for the other, so every other pair runs the wrong way round
      for (size_t i = 1; i < actions.size(); ++i)
        if (actions[i].overlapped && actions[i].kind != ActionKind::Forward && actions[i].microbatch % 2 == 1)
          std::swap(actions[i - 1], actions[i]);
    std::vector<size_t> next(schedule.actions.size(), 0);
    bool progress = true, done = false;
    while (progress && !done) {
      progress = false;
      done = true;
      for (size_t stage = 0; stage < next.size(); ++stage) {
        while (next[stage] < schedule.actions[stage].size() &&
               step(static_cast<int>(stage), schedule.actions[stage][next[stage]], backward)) {
          ++next[stage];
          progress = true;
        }
        done = done && next[stage] == schedule.actions[stage].size();
      }
    }
    if (!done) fail("the schedule never finishes");
    if (!serving_)
      for (double l : result_.token_losses.data)
        result_.loss += l / static_cast<double>(result_.token_losses.elements());
    if (backward) gather_gradients();
    return std::move(result_);
  }

 private:
  using RankValues = std::map<int64_t,
                              std::vector<RealTensor>>;  // rank -> value of every tensor of a segment
  using Message = std::map<int64_t,
                           RealTensor>;  // rank of the stage -> its part, keyed by coordinates without pp

  const Segment& segment(int i) const { return graph_->segments[static_cast<size_t>(i)]; }

  // What of the whole a rank holds, per dimension: nested shards, major axis first.
  Rows part(const Tensor& t, int64_t rank) const {
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
  RealTensor local(const Tensor& t, const RealTensor& whole, int64_t rank) const {
    return cut(whole, part(t, rank));
  }

  void make_data(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> token(0, static_cast<int>(d_.model.vocab) - 1);
    const std::vector<int64_t> shape{d_.workload.microbatch * d_.parallel.dp, d_.workload.seq};
    targets_.resize(static_cast<size_t>(d_.model.mtp_layers) + 1);
    for (int m = 0; m < microbatches_; ++m) {
      tokens_.emplace_back(shape);
      for (auto& targets : targets_) targets.emplace_back(shape);
      for (double& x : tokens_.back().data) x = token(random);
      for (auto& targets : targets_)
        for (double& x : targets.back().data) x = token(random);
    }
  }

  // A prompt's first tokens, or the one behind those that are cached.
  void take_data() {
    const RealTensor& all = serving_->tokens;  // [m, b·dp, tokens]
    tokens_.assign(static_cast<size_t>(microbatches_), RealTensor({all.shape[1], d_.workload.seq}));
    for (int64_t m = 0; m < microbatches_; ++m)
      for (int64_t b = 0; b < all.shape[1]; ++b)
        for (int64_t s = 0; s < d_.workload.seq; ++s)
          tokens_[static_cast<size_t>(m)]
              .data[static_cast<size_t>(b * d_.workload.seq + s)] = all.data[static_cast<size_t>(
              (m * all.shape[1] + b) * all.shape[2] + first_token() + s)];
    targets_.assign(1, tokens_);
  }
  bool decodes() const { return d_.workload.mode == Mode::Decode; }
  // In the sequence, of what a step works on.
  int64_t first_token() const { return decodes() ? d_.workload.context_length - 1 : 0; }
  // Places in the sequence of rows of a dimension.
  std::vector<int64_t> places(Axis axis, std::vector<int64_t> rows) const {
    const int64_t first = axis == Axis::Seq ? first_token()
                          : axis == Axis::WindowContext
                              ? d_.workload.context_length - *binding_.get(Symbol::intern("We"))
                              : 0;
    for (int64_t& row : rows) row += first;
    return rows;
  }

  // How many tokens further ahead than the next one: "targets", "targets_1", ...; -1: another tensor.
  static int target_depth(const std::string& name) {
    if (name == "targets") return 0;
    return name.starts_with("targets_") ? std::stoi(name.substr(8)) : -1;
  }

  bool step(int stage, const Action& action, bool backward) {
    const int64_t from = action.microbatch;
    const StagePlace place{stage, action.chunk};
    const int here = static_cast<int>(places_.virtual_stage(place));
    const auto beside = [&](const std::optional<StagePlace>& other) {
      return other && other->stage == stage;
    };
    switch (action.kind) {
      case ActionKind::ReceiveForward: return receive(forward_[{here, from}], inbox_[{here, from}]);
      case ActionKind::SendForward: return send(inbox_[{here, ~from}], forward_[{here + 1, from}]);
      case ActionKind::Forward:
        if (beside(places_.before(place))) move_message(inbox_[{here - 1, ~from}], inbox_[{here, from}]);
        forward(stage, here, static_cast<int>(from));
        return true;
      case ActionKind::ReceiveBackward:
        return !backward || receive(backward_[{here, from}], inbox_grad_[{here, from}]);
      case ActionKind::SendBackward:
        return !backward || send(inbox_grad_[{here, ~from}], backward_[{here - 1, from}]);
      case ActionKind::Backward:
      case ActionKind::BackwardInput:
        if (!backward) return true;
        if (beside(places_.after(place)))
          move_message(inbox_grad_[{here + 1, ~from}], inbox_grad_[{here, from}]);
        this->backward(stage, here, static_cast<int>(from));
        if (action.kind == ActionKind::Backward) weights(stage, here, static_cast<int>(from));
        return true;
      case ActionKind::BackwardWeight:
        if (backward) weights(stage, here, static_cast<int>(from));
        return true;
      default: return true;
    }
  }
  // Peers differ in the pp coordinate only.
  bool move_message(Message& from, Message& to) {
    if (from.empty()) return false;
    to = std::move(from);
    from.clear();
    return true;
  }
  // What a rank holds of the message, within what a rank holds of the stream.
  Rows message_rows(int64_t of, int64_t holder) const {
    return within(part(boundary_.stream, holder), part(boundary_.message, of));
  }
  bool send(Message& from, Message& to) {
    if (!move_message(from, to)) return false;
    for (auto& [rank, value] : to) value = cut(value, message_rows(rank, rank));
    return true;
  }
  bool receive(Message& from, Message& to) {
    if (!move_message(from, to)) return false;
    if (boundary_.gathered.empty()) return true;
    const Message parts = std::move(to);
    to.clear();
    for (const auto& [rank, value] : parts) {
      RealTensor whole(lengths(part(boundary_.stream, rank)));
      for (int64_t member : mesh_.group(rank, boundary_.gathered))
        paste(whole, parts.at(member), message_rows(member, rank));
      to[rank] = std::move(whole);
    }
    return true;
  }
  int64_t lane(int64_t rank) const { return mesh_.with(rank, MeshAxis::Pp, 0); }

  void forward(int stage, int here, int m) {
    Message stream = std::move(inbox_[{here, m}]);
    for (const Instance& instance : stages_[static_cast<size_t>(here)]) {
      const Segment& s = segment(instance.segment);
      RankValues values;
      for (int64_t rank : stage_ranks_[stage]) {
        auto& v = values[rank];
        v.resize(s.tensors.size());
        for (size_t t = 0; t < s.tensors.size(); ++t) {
          if (s.tensors[t].name == "tokens")
            v[t] = local(s.tensors[t], tokens_[static_cast<size_t>(m)], rank);
          if (const int depth = target_depth(s.tensors[t].name); depth >= 0)
            v[t] = local(s.tensors[t], targets_[static_cast<size_t>(depth)][static_cast<size_t>(m)], rank);
        }
        load_parameters(s, instance, rank, v);
        if (s.input >= 0) v[static_cast<size_t>(s.input)] = stream.at(lane(rank));
        for (size_t t = 0; t < s.tensors.size(); ++t)
          if (const Tensor& past = s.tensors[t];
              past.role == TensorRole::Cache && past.name.ends_with(".past"))
            v[t] = local(past,
                         grown(serving_->past.at(cache_name(instance.name, past.name, m)), past,
                               sizes_of(past, binding_)),
                         rank);
      }
      if (s.kind == SegmentKind::Head) record(s, s.input, values, result_.last_hidden, m);
      execute(s, 0, s.backward_begin, stage, values, instance.checkpoint_policy);
      if (s.kind == SegmentKind::Head) record(s, s.output, values, result_.token_losses, m);
      for (auto& [rank, v] : values) stream[lane(rank)] = v[static_cast<size_t>(s.output)];
      for (TensorId id : s.caches) {
        RealTensor& whole = result_.caches
                                .try_emplace(cache_name(instance.name, s.tensor(id).name, m),
                                             sizes_of(s.tensor(id), binding_))
                                .first->second;
        for (const auto& [rank, v] : values)
          paste(whole, v[static_cast<size_t>(id)], part(s.tensor(id), rank));
        for (const auto& [rank, v] : values)
          if (!same(local(s.tensor(id), whole, rank), v[static_cast<size_t>(id)]))
            fail(s.tensor(id).name + ": ranks disagree on what they keep");
      }
      keep_saved(s, saved_by(s, instance.checkpoint_policy), values);
      saved_[{instance.name, m}] = std::move(values);
    }
    inbox_[{here, ~m}] = std::move(stream);
  }

  void load_parameters(const Segment& s, const Instance& instance, int64_t rank,
                       std::vector<RealTensor>& v) const {
    for (TensorId id : s.buffers) v[static_cast<size_t>(id)] = RealTensor(lengths(part(s.tensor(id), rank)));
    for (const Param& p : s.params)
      v[static_cast<size_t>(p.tensor)] = local(s.tensor(p.tensor),
                                               parameters_.at(parameter_name(s, instance, p)), rank);
  }

  void record(const Segment& s, TensorId id, const RankValues& values, RealTensor& into, int m) const {
    for (const auto& [rank, v] : values) {
      Rows at = part(s.tensor(id), rank);
      at.insert(at.begin(), {m});
      RealTensor value = v[static_cast<size_t>(id)];
      value.shape.insert(value.shape.begin(), 1);
      paste(into, value, at);
    }
  }

  // Only what lies in a saved storage survives until the backward: nothing else may be needed.
  static void keep_saved(const Segment& s, const std::vector<SavedStorage>& saved, RankValues& values) {
    std::set<StorageId> kept;
    for (const SavedStorage& x : saved) kept.insert(x.storage);
    for (auto& [rank, v] : values)
      for (size_t t = 0; t < v.size(); ++t)
        if (!kept.count(s.tensors[t].storage)) v[t] = RealTensor();
  }

  // What leads to the gradient of the input.
  void backward(int stage, int here, int m) {
    Message stream = std::move(inbox_grad_[{here, m}]);
    auto& list = stages_[static_cast<size_t>(here)];
    for (auto instance = list.rbegin(); instance != list.rend(); ++instance) {
      const Segment& s = segment(instance->segment);
      if (instance->ends_group)
        replay(list, instance->replay_from, static_cast<size_t>(list.rend() - instance) - 1, stage, m);
      RankValues values = std::move(saved_.at({instance->name, m}));
      saved_.erase({instance->name, m});
      for (int64_t rank : stage_ranks_[stage]) {
        auto& v = values[rank];
        load_parameters(s, *instance, rank, v);
        RealTensor& g = v[static_cast<size_t>(s.output_grad)];
        if (s.kind == SegmentKind::Head) {
          g = RealTensor(lengths(part(s.tensor(s.output_grad), rank)));
          std::fill(g.data.begin(), g.data.end(), 1.0 / static_cast<double>(result_.token_losses.elements()));
        } else {
          g = stream.at(lane(rank));
        }
      }
      instead_of_replays(s, instance->checkpoint_policy, values);
      execute(s, s.replay_end, static_cast<OpId>(s.ops.size()), stage, values, instance->checkpoint_policy,
              false);
      for (auto& [rank, v] : values) {
        if (s.input_grad >= 0) stream[lane(rank)] = v[static_cast<size_t>(s.input_grad)];
        for (const Param& p : s.params)
          if (const RealTensor& g = v[static_cast<size_t>(p.gradient)]; g.defined())
            accumulate(rank, parameter_name(s, *instance, p), s.tensor(p.gradient), g);
      }
      // In place: what was read before may be written over, but gradients of parameters do not wait.
      keep_saved(s, deferred_in(s, instance->checkpoint_policy), values);
      waiting_[{instance->name, m}] = std::move(values);
    }
    inbox_grad_[{here, ~m}] = std::move(stream);
  }

  // A layer that full recompute leaves alone reads what it kept where others read what they have made again.
  static void instead_of_replays(const Segment& s, CheckpointPolicy checkpoint_policy, RankValues& values) {
    if (checkpoint_policy != CheckpointPolicy::Activations || s.replay_end == s.backward_begin) return;
    for (auto& [rank, v] : values)
      for (size_t t = 0; t < v.size(); ++t)
        if (const TensorId first = forward_original(s, static_cast<TensorId>(t));
            first != static_cast<TensorId>(t))
          v[t] = v[static_cast<size_t>(first)];
  }

  // What was left: from what waits, and nothing else.
  void weights(int stage, int here, int m) {
    for (const Instance& instance : stages_[static_cast<size_t>(here)]) {
      const Segment& s = segment(instance.segment);
      RankValues values = std::move(waiting_.at({instance.name, m}));
      waiting_.erase({instance.name, m});
      for (auto& [rank, v] : values) {
        for (const Param& p : s.params) v[static_cast<size_t>(p.gradient)] = RealTensor();
        load_parameters(s, instance, rank, v);
      }
      instead_of_replays(s, instance.checkpoint_policy, values);
      execute(s, s.replay_end, static_cast<OpId>(s.ops.size()), stage, values, instance.checkpoint_policy,
              true);
      for (auto& [rank, v] : values)
        for (const Param& p : s.params)
          if (const RealTensor& g = v[static_cast<size_t>(p.gradient)]; g.defined())
            accumulate(rank, parameter_name(s, instance, p), s.tensor(p.gradient), g);
    }
  }

  // Layers of a group run again, each on what the one before has made, from the checkpoint of the first
  // alone.
  void replay(const std::vector<Instance>& list, size_t first, size_t last, int stage, int m) {
    Message stream;
    for (size_t i = first; i <= last; ++i) {
      const Segment& s = segment(list[i].segment);
      RankValues& values = saved_.at({list[i].name, m});
      TensorId again = s.output;
      for (size_t t = 0; t < s.tensors.size(); ++t)
        if (s.tensors[t].repeat_of == s.output) again = static_cast<TensorId>(t);
      for (auto& [rank, v] : values) {
        load_parameters(s, list[i], rank, v);
        if (i == first) continue;
        if (v[static_cast<size_t>(s.input)].defined()) fail(list[i].name + " has kept its input");
        // Where the first of a group gathers its checkpoint, the others have their input whole.
        for (size_t t = 0; t < v.size(); ++t)
          if (static_cast<TensorId>(t) == s.input || s.tensors[t].repeat_of == s.input)
            v[t] = stream.at(lane(rank));
      }
      execute(s, s.backward_begin, s.replay_end, stage, values, list[i].checkpoint_policy);
      for (auto& [rank, v] : values) stream[lane(rank)] = v[static_cast<size_t>(again)];
    }
  }

  struct LocalGradient {
    const Tensor* tensor;
    RealTensor value;
  };
  void accumulate(int64_t rank, const std::string& name, const Tensor& tensor, const RealTensor& value) {
    LocalGradient& g = gradients_[name][rank];
    if (!g.value.defined()) {
      g = {&tensor, value};
      return;
    }
    if (g.tensor->placement != tensor.placement) fail(name + ": gradients in two placements");
    for (size_t i = 0; i < value.data.size(); ++i) g.value.data[i] += value.data[i];
  }

  void execute(const Segment& s, OpId begin, OpId end, int stage, RankValues& values,
               CheckpointPolicy checkpoint_policy, bool deferrable = false) {
    for (OpId id = begin; id < end; ++id) {
      const Op& op = s.op(id);
      if (!runs(op, checkpoint_policy) || op.deferrable != deferrable) continue;
      if (is_collective(op.kind))
        collective(s, op, stage, values);
      else
        for (int64_t rank : stage_ranks_[stage]) compute(s, op, rank, values[rank]);
    }
  }

  void compute(const Segment& s, const Op& op, int64_t rank, std::vector<RealTensor>& v) {
    const auto value = [&](TensorId id) -> RealTensor& { return v[static_cast<size_t>(id)]; };
    for (TensorId id : op.inputs)
      if (!value(id).defined())
        fail(op.name + " reads " + s.tensor(id).name + ", which is not there: not saved?");
    if (op.kind == OpKind::Slice) {
      value(op.outputs[0]) = cut(value(op.inputs[0]), within(part(s.tensor(op.inputs[0]), rank),
                                                             part(s.tensor(op.outputs[0]), rank)));
      return;
    }
    if (op.kind == OpKind::Take) {
      value(op.outputs[0]) = take(s, op, value(op.inputs[0]), lengths(part(s.tensor(op.outputs[0]), rank)));
      return;
    }
    KernelCall call{op,
                    {},
                    {},
                    {},
                    {},
                    {},
                    {},
                    d_.model.heads / std::max<int64_t>(1, d_.model.kv_heads),
                    d_.model.window,
                    d_.model.experts,
                    d_.model.experts_per_token,
                    {}};
    call.expert_groups = d_.model.expert_groups;
    call.groups_per_token = d_.model.groups_per_token;
    call.tokens_of_sequence = d_.workload.seq;
    if (values_in_keys(s, op)) call.score_width = d_.model.nope_head_dim + d_.model.rope_head_dim;
    if (is_routing(op.kind) && !is_relabelling(op.kind))
      call.tokens = arrives(s, op) ? arrived(s, op, rank, call) : tokens_of(s, op, rank);
    std::deque<RealTensor> parts;
    for (TensorId id : op.inputs) {
      call.inputs.push_back(&value(id));
      const Rows rows = part(seen(s, op, id), rank), held = part(s.tensor(id), rank);
      if (rows != held) call.inputs.back() = &parts.emplace_back(cut(value(id), within(held, rows)));
      call.input_starts.push_back(starts_of(rows));
      call.input_positions.push_back(rows.size() > 1 ? places(s.tensor(id).axes[1], rows[1])
                                                     : std::vector<int64_t>{});
      call.input_names.push_back(s.tensor(id).name);
    }
    for (TensorId id : op.outputs) {
      const Rows rows = part(seen(s, op, id), rank);
      call.output_starts.push_back(starts_of(rows));
      call.output_names.push_back(s.tensor(id).name);
      call.output_shapes.push_back(lengths(rows));
    }
    for (const MeshAxis ring : ring_axes(graph_->structure)) {
      call.ring_ranks = mesh_.degree(ring);
      call.ring_position = mesh_.coordinate(rank, ring);
    }
    auto outputs = run_kernel(call);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Rows rows = part(seen(s, op, op.outputs[i]), rank), held = part(s.tensor(op.outputs[i]), rank);
      RealTensor& out = value(op.outputs[i]);
      out = rows == held ? std::move(outputs[i]) : RealTensor(lengths(held));
      if (rows != held) paste(out, outputs[i], within(held, rows));
    }
  }

  // Convolutions and scans work with the part of their parameters that the shards of their data name; the
  // gradient of the rest is zero.
  static Tensor seen(const Segment& s, const Op& op, TensorId id) {
    Tensor t = s.tensor(id);
    const TensorId parameter = t.role == TensorRole::ParameterGradient ? t.gradient_of : id;
    if ((op.kind != OpKind::CausalConv && op.kind != OpKind::Ssd) ||
        s.tensor(parameter).role != TensorRole::Parameter)
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

  // Which tokens a rank routes, in the order of its rows: its own as they were flattened, or those of the
  // ranks along the axes that the rows were gathered over, one rank after the other.
  std::vector<int64_t> tokens_of(const Segment& s, const Op& op, int64_t rank) const {
    const auto flatten = std::find_if(s.ops.begin(), s.ops.end(),
                                      [](const Op& o) { return o.kind == OpKind::Flatten; });
    const Tensor& sequence = s.tensor(flatten->inputs[0]);
    const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
    const bool from_nodes = forward.kind == OpKind::CombineNodes;
    const MeshAxes rows = s.tensor(from_nodes ? forward.outputs[0]
                                              : forward.inputs[forward.kind == OpKind::Combine ? 1 : 0])
                              .placement.shards[0];
    MeshAxes gathered;
    for (MeshAxis axis : s.tensor(flatten->outputs[0]).placement.shards[0])
      if (std::find(rows.begin(), rows.end(), axis) == rows.end()) gathered.push_back(axis);
    std::vector<int64_t> out;
    for (int64_t member : mesh_.group(rank, gathered)) {
      const Rows rows = part(sequence, member);
      for (int64_t b : rows[0])
        for (int64_t i : rows[1])
          out.push_back(b * (serving_ ? serving_->tokens.shape[2] : d_.workload.seq) + first_token() + i);
    }
    return out;
  }

  // Ops of what arrived in a node: their choices are [nodes, node slots, choices].
  static const Tensor& choices_of(const Segment& s, const Op& op) {
    const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
    return s.tensor(forward.inputs[forward.kind == OpKind::Combine ? 1 : 0]);
  }
  static bool arrives(const Segment& s, const Op& op) {
    return (op.kind == OpKind::Dispatch || op.kind == OpKind::Combine) && choices_of(s, op).axes.size() == 3;
  }
  // The tokens in the slots of this rank's node, those of one sender after the other.
  std::vector<int64_t> arrived(const Segment& s, const Op& op, int64_t rank, KernelCall call) const {
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

  // The parts of a tensor lie in it in the order in which they are taken; outside its part a gradient is
  // zero.
  RealTensor take(const Segment& s, const Op& op, const RealTensor& in,
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

  // Every collective through the definition: reduce or lay out over the group, then cut each member's part.
  void collective(const Segment& s, const Op& op, int stage, RankValues& values) {
    const Tensor &in = s.tensor(op.inputs[0]), &out = s.tensor(op.outputs[0]);
    std::set<int64_t> done;
    for (int64_t rank : stage_ranks_[stage]) {
      if (done.count(rank)) continue;
      const std::vector<int64_t> group = mesh_.group(rank, op.group);
      if (group.size() < 2) fail(op.name + ": a group of one");
      const bool reduces = op.kind == OpKind::AllReduce || op.kind == OpKind::ReduceScatter ||
                           op.kind == OpKind::RingSum || (op.kind == OpKind::AllToAll && op.dim < 0);
      RealTensor whole(sizes_of(in, binding_));
      bool first = true;
      RealTensor sum;
      for (int64_t member : group) {
        const RealTensor& mine = values[member][static_cast<size_t>(op.inputs[0])];
        if (!mine.defined()) fail(op.name + " reads " + in.name + ", which is not there: not saved?");
        if (!reduces) {
          paste(whole, mine, part(in, member));
        } else if (op.kind == OpKind::AllToAll) {  // summands of those that have the same part
          add(whole, mine, part(in, member));
        } else if (first) {
          sum = mine;
        } else {
          for (size_t i = 0; i < sum.data.size(); ++i)
            sum.data[i] = op.reduce == Reduce::Max ? std::max(sum.data[i], mine.data[i])
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

  // Sums over the axes along which a gradient is Partial, and over the stages that share a tied parameter.
  void gather_gradients() {
    for (auto& [name, by_rank] : gradients_) {
      const Tensor& t = *by_rank.begin()->second.tensor;
      for (MeshAxis axis : t.placement.partial) {
        auto summed = by_rank;
        for (auto& [rank, g] : summed)
          for (int64_t member : mesh_.group(rank, {axis}))
            if (member != rank)
              for (size_t i = 0; i < g.value.data.size(); ++i)
                g.value.data[i] += by_rank.at(member).value.data[i];
        by_rank = std::move(summed);
      }
      std::map<int64_t, RealTensor> by_lane;
      for (auto& [rank, g] : by_rank) {
        RealTensor& sum = by_lane.try_emplace(lane(rank), RealTensor(g.value.shape)).first->second;
        for (size_t i = 0; i < sum.data.size(); ++i) sum.data[i] += g.value.data[i];
      }
      RealTensor whole(sizes_of(t, binding_));
      for (const auto& [rank, value] : by_lane) paste(whole, value, part(t, rank));
      for (const auto& [rank, value] : by_lane) {
        const RealTensor again = local(t, whole, rank);
        for (size_t i = 0; i < again.data.size(); ++i)
          if (std::abs(again.data[i] - value.data[i]) > 1e-10)
            fail(name + ": replicas disagree on the gradient");
      }
      result_.gradients[name] = std::move(whole);
    }
  }

  Design d_;
  Binding binding_;
  DeviceMesh mesh_;
  PipelineLayout places_;
  const Parameters& parameters_;
  const Serving* serving_;
  std::shared_ptr<const Graph> graph_;
  std::vector<std::vector<Instance>> stages_;  // per virtual stage
  StageBoundary boundary_;
  std::map<int64_t, std::vector<int64_t>> stage_ranks_;
  int microbatches_ = 1;
  std::vector<RealTensor> tokens_;
  std::vector<std::vector<RealTensor>> targets_;  // per depth of prediction
  std::map<std::pair<int, int64_t>, Message> forward_, backward_, inbox_, inbox_grad_;
  std::map<std::pair<std::string, int>, RankValues> saved_, waiting_;
  std::map<std::string, std::map<int64_t, LocalGradient>> gradients_;
  RunResult result_;
};

}  // namespace

RunResult run_step(const Design& design, const Parameters& parameters, unsigned data_seed, bool backward,
                   const ModelLibrary& library) {
  return Machine(design, parameters, data_seed, library).run(backward);
}

RunResult run_inference(const Design& design, const Parameters& parameters, const Serving& serving,
                        const ModelLibrary& library) {
  return Machine(design, parameters, 0, library, &serving).run(false);
}

}  // namespace shardscape::test
