#include "support/interpreter.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "pipeline/schedule.h"
#include "plan/stage_boundary.h"
#include "support/caches.h"
#include "support/instances.h"
#include "support/op_machine.h"

namespace shardscape::test {
namespace {

constexpr double kBuffer = 0.7;  // every number of a buffer

class Machine : private OpMachine {
 public:
  // serving: input of inference; null for training.
  Machine(const Design& design, const Parameters& parameters, unsigned seed, const ModelLibrary& library,
          const Serving* serving = nullptr, const GraphChange& change = {})
      : OpMachine(design, library, serving, change),
        places_(pipeline_layout(d_.parallel)),
        parameters_(parameters) {
    stages_ = instances_by_virtual_stage(d_, *graph_);
    boundary_ = stage_boundary(*graph_);
    microbatches_ = static_cast<int>(*binding_.get(Symbol::intern("m")));
    const std::vector<int64_t> rows{microbatches_, d_.workload.microbatch * d_.parallel.dp, d_.workload.seq};
    serving ? take_data() : make_data(seed);
    result_.token_losses = serving ? RealTensor({rows[0], rows[1], 1, *binding_.get(Symbol::intern("Vp"))})
                                   : RealTensor(rows);
    result_.tokens = RealTensor(rows);
    for (auto at = result_.tokens.data.begin(); const RealTensor& of : tokens_)
      at = std::copy(of.data.begin(), of.data.end(), at);
    std::vector<int64_t> stream = sizes_of(segment(graph_->head()).tensor(segment(graph_->head()).input),
                                           binding_);
    stream.insert(stream.begin(), microbatches_);
    result_.last_hidden = RealTensor(std::move(stream));
  }

  RunResult run(bool backward) {
    Schedule schedule = make_schedule(d_.parallel, microbatches_);
    if (const auto wrong = violations(schedule); !wrong.empty()) fail(wrong.front());
    // Overlapped passes must not depend on each other: every other pair runs in reverse order.
    for (auto& actions : schedule.actions)
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
  // Per rank of the stage its part, keyed by the rank's coordinates without pp. Carried tensors are under
  // keys below 0.
  using Message = std::map<int64_t, RealTensor>;
  int64_t carried_key(const Carried& carried, int64_t rank) const {
    return -1 - (lane(rank) * static_cast<int64_t>(kMaxCarried) + carried.index);
  }

  const Segment& segment(int i) const { return graph_->segments[static_cast<size_t>(i)]; }

  void make_data(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> token(0, static_cast<int>(d_.model.vocab) - 1);
    const std::vector<int64_t> shape{d_.workload.microbatch * d_.parallel.dp, d_.workload.seq};
    make_patches();
    targets_.resize(static_cast<size_t>(d_.model.mtp_layers) + 1);
    for (int m = 0; m < microbatches_; ++m) {
      tokens_.emplace_back(shape);
      for (auto& targets : targets_) targets.emplace_back(shape);
      for (double& x : tokens_.back().data) x = token(random);
      for (auto& targets : targets_)
        for (double& x : targets.back().data) x = token(random);
    }
  }

  // Numbers of the pixels of all images, [b·dp·I, patches, numbers of a patch].
  void make_patches() {
    if (!graph_->structure.images) return;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> number(-1, 1);
    const Segment& s = segment(graph_->head() + 1);
    for (const Tensor& t : s.tensors)
      if (t.name == "patches")
        for (int m = 0; m < microbatches_; ++m)
          for (double& x : patches_.emplace_back(sizes_of(t, binding_)).data) x = number(random);
  }

  // Prefill takes the first tokens of a prompt, decode the token after the cached ones.
  void take_data() {
    const RealTensor& all = serving_->tokens;  // [m, b·dp, tokens]
    make_patches();
    tokens_.assign(static_cast<size_t>(microbatches_), RealTensor({all.shape[1], d_.workload.seq}));
    for (int64_t m = 0; m < microbatches_; ++m)
      for (int64_t b = 0; b < all.shape[1]; ++b)
        for (int64_t s = 0; s < d_.workload.seq; ++s)
          tokens_[static_cast<size_t>(m)]
              .data[static_cast<size_t>(b * d_.workload.seq + s)] = all.data[static_cast<size_t>(
              (m * all.shape[1] + b) * all.shape[2] + first_token() + s)];
    targets_.assign(1, tokens_);
  }
  // How many tokens beyond the next one a target is: "targets" 0, "targets_1" 1, ...; -1: not a target.
  static int target_depth(const std::string& name) {
    if (name == "targets") return 0;
    return name.starts_with("targets_") ? std::stoi(name.substr(8)) : -1;
  }

  bool step(int stage, const Action& action, bool backward) {
    const int64_t from = action.microbatch;
    const StagePlace place{stage, action.chunk};
    const int here = static_cast<int>(places_.virtual_stage(place));
    const auto same_stage = [&](const std::optional<StagePlace>& other) {
      return other && other->stage == stage;
    };
    switch (action.kind) {
      case ActionKind::ReceiveForward:
        return receive(forward_[{here, from}], inbox_[{here, from}], sends_images(here - 1));
      case ActionKind::SendForward:
        return send(inbox_[{here, ~from}], forward_[{here + 1, from}], sends_images(here));
      case ActionKind::Forward:
        if (same_stage(places_.before(place))) move_message(inbox_[{here - 1, ~from}], inbox_[{here, from}]);
        forward(stage, here, static_cast<int>(from));
        return true;
      case ActionKind::ReceiveBackward:
        return !backward || without_gradient(here) ||
               receive(backward_[{here, from}], inbox_grad_[{here, from}], sends_images(here));
      case ActionKind::SendBackward:
        return !backward || without_gradient(here - 1) ||
               send(inbox_grad_[{here, ~from}], backward_[{here - 1, from}], sends_images(here - 1));
      case ActionKind::Backward:
      case ActionKind::BackwardInput:
        if (!backward) return true;
        if (same_stage(places_.after(place)))
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
  // Peers differ only in the pp coordinate.
  bool move_message(Message& from, Message& to) {
    if (from.empty()) return false;
    to = std::move(from);
    from.clear();
    return true;
  }
  // Rows of the message on rank `of`, relative to the rows of the stream on rank `holder`.
  Rows message_rows(int64_t of, int64_t holder) const {
    return within(part(boundary_.stream, holder), part(boundary_.message, of));
  }
  // Whether the virtual stage sends the tokens of images, whole.
  bool sends_images(int virtual_stage) const { return virtual_stage == 0 && graph_->structure.vision_stage; }
  // Whether the virtual stage is a frozen tower.
  bool without_gradient(int virtual_stage) const {
    return sends_images(virtual_stage) && graph_->structure.frozen_tower;
  }
  bool send(Message& from, Message& to, bool whole) {
    if (!move_message(from, to)) return false;
    if (whole || boundary_.gathered.empty()) return true;
    for (auto& [rank, value] : to)
      if (rank >= 0) value = cut(value, message_rows(rank, rank));
    return true;
  }
  bool receive(Message& from, Message& to, bool complete) {
    if (!move_message(from, to)) return false;
    if (complete || boundary_.gathered.empty()) return true;
    const Message parts = std::move(to);
    to.clear();
    for (const auto& [rank, value] : parts) {
      if (rank < 0) {
        to[rank] = value;
        continue;
      }
      RealTensor whole(lengths(part(boundary_.stream, rank)));
      for (int64_t member : mesh_.group(rank, boundary_.gathered))
        paste(whole, parts.at(member), message_rows(member, rank));
      to[rank] = std::move(whole);
    }
    return true;
  }
  // One vector per token is a list of one vector.
  RealTensor shaped(RealTensor value, const Tensor& t, int64_t rank) const {
    std::vector<int64_t> shape = lengths(part(t, rank));
    if (RealTensor(shape).elements() != value.elements()) fail(t.name + ": the stream has another size");
    value.shape = std::move(shape);
    return value;
  }
  void enter(const Instance& instance) {
    layer_ = segment(instance.segment).kind == SegmentKind::Layer ? std::stoll(instance.name.substr(5)) : -1;
  }
  int64_t lane(int64_t rank) const { return mesh_.with(rank, MeshAxis::Pp, 0); }

  void forward(int stage, int here, int m) {
    Message stream = std::move(inbox_[{here, m}]);
    std::map<int, Holder> holders;  // by index of the carried tensor
    for (const Instance& instance : stages_[static_cast<size_t>(here)]) {
      const Segment& s = segment(instance.segment);
      enter(instance);
      RankValues values;
      for (int64_t rank : stage_ranks_[stage]) {
        auto& v = values[rank];
        v.resize(s.tensors.size());
        for (size_t t = 0; t < s.tensors.size(); ++t) {
          if (s.tensors[t].name == "patches")
            v[t] = local(s.tensors[t], patches_[static_cast<size_t>(m)], rank);
          if (s.tensors[t].name == "tokens")
            v[t] = local(s.tensors[t], tokens_[static_cast<size_t>(m)], rank);
          if (const int depth = target_depth(s.tensors[t].name); depth >= 0)
            v[t] = local(s.tensors[t], targets_[static_cast<size_t>(depth)][static_cast<size_t>(m)], rank);
        }
        load_parameters(s, instance, rank, v);
        if (s.input >= 0)
          v[static_cast<size_t>(s.input)] = shaped(stream.at(lane(rank)), s.tensor(s.input), rank);
        for (const Carried& carried : s.carried)
          if (carried.in >= 0)
            v[static_cast<size_t>(carried.in)] = shaped(stream.at(carried_key(carried, rank)),
                                                        s.tensor(carried.in), rank);
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
      pass_carried(instance, m, values, stream, holders);
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

  // The instance and the tensor whose memory the readers of a carried tensor share.
  struct Holder {
    std::string instance;
    TensorId tensor = -1;
  };
  // Passes carried tensors on, and notes who holds those that the instance reads.
  void pass_carried(const Instance& instance, int m, const RankValues& values, Message& stream,
                    std::map<int, Holder>& holders) {
    for (const Carried& carried : segment(instance.segment).carried) {
      const bool made = carried.in < 0;
      if (made || carried.held)
        holders[carried.index] = {instance.name, made ? carried.out : carried.in};
      else if (!serving_)
        holders_[{instance.name, m}][carried.in] = holders.at(carried.index);
      for (const auto& [rank, v] : values)
        if (made) stream[carried_key(carried, rank)] = v[static_cast<size_t>(carried.out)];
    }
  }
  // Carried tensors as their holders have saved them.
  void load_carried(const Instance& instance, int m, RankValues& values) const {
    const auto read = holders_.find({instance.name, m});
    if (read == holders_.end()) return;
    for (const auto& [in, holder] : read->second)
      for (auto& [rank, v] : values) {
        const RealTensor& held = saved_.at({holder.instance, m}).at(rank)[static_cast<size_t>(holder.tensor)];
        if (!held.defined()) fail(holder.instance + " does not keep what " + instance.name + " reads");
        v[static_cast<size_t>(in)] = held;
      }
  }

  void load_parameters(const Segment& s, const Instance& instance, int64_t rank,
                       std::vector<RealTensor>& v) const {
    for (const Buffer& b : s.buffers) {
      RealTensor& value = v[static_cast<size_t>(b.tensor)];
      value = RealTensor(lengths(part(s.tensor(b.tensor), rank)));
      std::fill(value.data.begin(), value.data.end(), kBuffer);
    }
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

  // Clears all tensors outside saved storages, so that a backward that reads one fails.
  static void keep_saved(const Segment& s, const std::vector<SavedStorage>& saved, RankValues& values) {
    std::set<StorageId> kept;
    for (const SavedStorage& x : saved) kept.insert(x.storage);
    // Views of a carried tensor are in the memory of its holder, which load_carried checks.
    const auto viewed = [&](size_t t) {
      return !is_carried(s, static_cast<TensorId>(t)) && holds_earlier(s, s.tensors[t].storage);
    };
    for (auto& [rank, v] : values)
      for (size_t t = 0; t < v.size(); ++t)
        if (!kept.count(s.tensors[t].storage) && !viewed(t)) v[t] = RealTensor();
  }

  // Input gradients and weight gradients that are not deferred.
  void backward(int stage, int here, int m) {
    Message stream = std::move(inbox_grad_[{here, m}]);
    auto& list = stages_[static_cast<size_t>(here)];
    for (auto instance = list.rbegin(); instance != list.rend(); ++instance) {
      const Segment& s = segment(instance->segment);
      if (s.output_grad < 0) continue;  // frozen
      if (instance->ends_group)
        replay(list, instance->replay_from, static_cast<size_t>(list.rend() - instance) - 1, stage, m);
      enter(*instance);
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
          g = shaped(stream.at(lane(rank)), s.tensor(s.output_grad), rank);
        }
        for (const Carried& carried : s.carried)
          if (carried.out_grad >= 0)
            v[static_cast<size_t>(carried.out_grad)] = stream.at(carried_key(carried, rank));
      }
      load_carried(*instance, m, values);
      instead_of_replays(s, instance->checkpoint_policy, values);
      execute(s, s.replay_end, static_cast<OpId>(s.ops.size()), stage, values, instance->checkpoint_policy,
              false);
      for (auto& [rank, v] : values) {
        if (s.input_grad >= 0) stream[lane(rank)] = v[static_cast<size_t>(s.input_grad)];
        for (const Carried& carried : s.carried) {
          if (carried.in < 0) stream.erase(carried_key(carried, rank));
          if (carried.in_grad >= 0)
            stream[carried_key(carried, rank)] = v[static_cast<size_t>(carried.in_grad)];
        }
        for (const Param& p : s.params) {
          if (p.gradient < 0) continue;  // frozen
          const Tensor& t = s.tensor(p.gradient);
          RealTensor& g = v[static_cast<size_t>(p.gradient)];
          if (t.producer < 0) g = RealTensor(lengths(part(t, rank)));  // the loss does not depend on it
          if (g.defined()) accumulate(rank, parameter_name(s, *instance, p), t, g);
        }
      }
      // Clears all tensors that deferred weight gradients do not read. Gradients of parameters are complete,
      // because a later op may overwrite their inputs in place.
      keep_saved(s, deferred_in(s, instance->checkpoint_policy), values);
      waiting_[{instance->name, m}] = std::move(values);
    }
    inbox_grad_[{here, ~m}] = std::move(stream);
  }

  // A layer without full recomputation reads its saved tensors in place of recomputed ones.
  static void instead_of_replays(const Segment& s, CheckpointPolicy checkpoint_policy, RankValues& values) {
    if (checkpoint_policy != CheckpointPolicy::Activations || s.replay_end == s.backward_begin) return;
    for (auto& [rank, v] : values)
      for (size_t t = 0; t < v.size(); ++t)
        if (const TensorId first = forward_original(s, static_cast<TensorId>(t));
            first != static_cast<TensorId>(t))
          v[t] = v[static_cast<size_t>(first)];
  }

  // Deferred weight gradients; they read only deferred storages.
  void weights(int stage, int here, int m) {
    for (const Instance& instance : stages_[static_cast<size_t>(here)]) {
      const Segment& s = segment(instance.segment);
      if (s.output_grad < 0) continue;  // frozen
      enter(instance);
      RankValues values = std::move(waiting_.at({instance.name, m}));
      waiting_.erase({instance.name, m});
      for (auto& [rank, v] : values) {
        for (const Param& p : s.params)
          if (p.gradient >= 0) v[static_cast<size_t>(p.gradient)] = RealTensor();
        load_parameters(s, instance, rank, v);
      }
      instead_of_replays(s, instance.checkpoint_policy, values);
      execute(s, s.replay_end, static_cast<OpId>(s.ops.size()), stage, values, instance.checkpoint_policy,
              true);
      for (auto& [rank, v] : values)
        for (const Param& p : s.params) {
          if (p.gradient < 0) continue;  // frozen
          if (const RealTensor& g = v[static_cast<size_t>(p.gradient)]; g.defined())
            accumulate(rank, parameter_name(s, instance, p), s.tensor(p.gradient), g);
        }
    }
  }

  // Recomputes the layers of a group in order, from the checkpoint of the first layer alone.
  void replay(const std::vector<Instance>& list, size_t first, size_t last, int stage, int m) {
    Message stream;
    for (size_t i = first; i <= last; ++i) {
      const Segment& s = segment(list[i].segment);
      RankValues& values = saved_.at({list[i].name, m});
      enter(list[i]);
      load_carried(list[i], m, values);
      TensorId again = s.output;
      for (size_t t = 0; t < s.tensors.size(); ++t)
        if (s.tensors[t].repeat_of == s.output) again = static_cast<TensorId>(t);
      for (auto& [rank, v] : values) {
        load_parameters(s, list[i], rank, v);
        if (i == first) continue;
        if (v[static_cast<size_t>(s.input)].defined()) fail(list[i].name + " has kept its input");
        // Only the first layer gathers its checkpoint; the others receive their input whole.
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

  // Sums gradients over the axes along which they are Partial, and over the stages that share a tied
  // parameter.
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

  PipelineLayout places_;
  const Parameters& parameters_;
  std::vector<std::vector<Instance>> stages_;  // per virtual stage
  StageBoundary boundary_;
  int microbatches_ = 1;
  std::vector<RealTensor> tokens_, patches_;
  std::vector<std::vector<RealTensor>> targets_;  // per prediction depth
  std::map<std::pair<int, int64_t>, Message> forward_, backward_, inbox_, inbox_grad_;
  std::map<std::pair<std::string, int>, RankValues> saved_, waiting_;
  // By instance and microbatch: who holds the carried tensors that it reads.
  std::map<std::pair<std::string, int>, std::map<TensorId, Holder>> holders_;
  std::map<std::string, std::map<int64_t, LocalGradient>> gradients_;
  RunResult result_;
};

}  // namespace

RunResult run_step(const Design& design, const Parameters& parameters, unsigned data_seed, bool backward,
                   const ModelLibrary& library, const GraphChange& change) {
  return Machine(design, parameters, data_seed, library, nullptr, change).run(backward);
}

RunResult run_inference(const Design& design, const Parameters& parameters, const Serving& serving,
                        const ModelLibrary& library) {
  return Machine(design, parameters, 0, library, &serving).run(false);
}

}  // namespace shardscape::test
