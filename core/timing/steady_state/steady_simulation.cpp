#include "timing/steady_state/steady_simulation.h"

#include <algorithm>
#include <cmath>

namespace shardscape {
namespace {

// Windows count as equal, and the schedule as steady, up to this relative difference.
constexpr double kSteadyTolerance = 1e-6;

void add_to(CacheKey& key, const ActionDuration& of) {
  for (const double word : {of.seconds, of.behind_launch, of.host, of.exposed}) key.add(word);
}

// Simulates the actions of an order. An action is simulated in one of three ways:
// - as one duration, where nothing but the other action of its pair runs concurrently with its layers;
// - as one transfer (max-plus), where collectives of FSDP units run concurrently with its layers;
// - layer by layer on the timeline, at the begin and the end of a chunk, and wherever microbatches differ.
class SteadySimulation {
 public:
  SteadySimulation(const Report& report, const ActionOrder& order, StepSimulator& simulator,
                   Timeline& timeline)
      : cache_(*report.cache),
        microbatches_repeat_(simulator.microbatches_repeat()),
        fsdp_(microbatches_repeat_ && simulator.has_fsdp_units()),
        order_(order),
        simulator_(simulator),
        timeline_(timeline),
        stages_(static_cast<size_t>(order.stages)),
        slowed_by_collectives_(stages_.size()),
        transfers_(fsdp_ ? stages_.size() : 0),
        messages_(static_cast<size_t>(order.message_slots)),
        durations_(fsdp_ ? 0 : stages_.size() * static_cast<size_t>(order.chunks) * kKinds),
        pair_durations_(fsdp_ ? 0 : stages_.size() * order.pairs.size()) {
    for (int s = 0; s < order.stages; ++s) {
      representatives_.push_back(simulator.equal_stage(s));
      read_from_timeline(s);
      if (microbatches_repeat_ && !fsdp_) find_durations(s, representatives_.back());
    }
  }

  // Returns false when stopped, or as soon as the windows show that the schedule is not steady.
  bool run(const std::stop_token& stop) {
    const size_t first = skip_shared_warm_up(), marks_end = std::max(first, order_.marks_end);
    simulate(first, marks_end, stop);
    if (stop.stop_requested() || !steady()) return false;
    simulate(marks_end, order_.actions.size(), stop);
    for (int s = 0; s < order_.stages; ++s) write_to_timeline(s);
    return !stop.stop_requested();
  }

  // The numbers of the step: those of the simulated actions, of the timeline, and of the skipped windows.
  StepNumbers numbers(const Simulation& timeline, int64_t microbatches) const {
    StepNumbers out;
    const double skipped_windows = order_.window > 0
                                       ? static_cast<double>(microbatches - order_.microbatches) /
                                             order_.window
                                       : 0;
    double skipped_seconds = 0;
    for (size_t s = 0; s < stages_.size(); ++s) {
      const SteadyStage& stage = stages_[s];
      SteadyMark last = stage.marks[0], before = stage.marks[1];
      // Some actions ran on the timeline.
      if ((!microbatches_repeat_ || fsdp_) && order_.window > 0)
        for (const auto& [mark, at] :
             {std::pair{&last, stage.on_timeline[0]}, {&before, stage.on_timeline[1]}}) {
          mark->bubble += timeline_.marks()[at].bubble;
          mark->exposed += timeline_.marks()[at].exposed;
        }
      skipped_seconds = std::max(skipped_seconds, skipped_windows * (last.end - before.end));
      out.bubble += stage.bubble + skipped_windows * (last.bubble - before.bubble) +
                    timeline.stages[s].seconds[static_cast<size_t>(TimeCategory::Bubble)];
      out.exposed += stage.exposed + skipped_windows * (last.exposed - before.exposed) +
                     timeline.stages[s].exposed;
    }
    out.step_seconds = timeline.step_seconds + skipped_seconds;
    const double all = out.step_seconds * static_cast<double>(stages_.size());
    out.bubble = all > 0 ? out.bubble / all : 0;
    out.exposed = all > 0 ? out.exposed / all : 0;
    return out;
  }

 private:
  static constexpr ActionKind kPassKinds[] = {ActionKind::Forward, ActionKind::Backward,
                                              ActionKind::BackwardInput, ActionKind::BackwardWeight};
  static constexpr size_t kKinds = std::size(kPassKinds);
  // The transfers of the actions of a stage class.
  struct StageTransfers {
    std::vector<SyncSimulator::Units> unit_sets;  // sets of gathered units that have occurred
    std::vector<ActionTransfer> transfers;
    // Indices in transfers; -1: not computed yet. By index in unit_sets, overlapped pair, chunk, kind of
    // action, and whether the action waits for a message.
    std::vector<int32_t> transfer_indices;
    size_t index_of(const SyncSimulator::Units& units) {
      const auto it = std::find(unit_sets.begin(), unit_sets.end(), units);
      const auto at = static_cast<size_t>(it - unit_sets.begin());
      if (it == unit_sets.end()) unit_sets.push_back(units);
      return at;
    }
  };

  static size_t kind_index(ActionKind kind) {
    return kind == ActionKind::Forward         ? 0
           : kind == ActionKind::Backward      ? 1
           : kind == ActionKind::BackwardInput ? 2
                                               : 3;
  }
  struct PairDurations {
    ActionDuration forward, backward;
  };
  PairDurations& pair_at(int stage, size_t pair) {
    return pair_durations_[static_cast<size_t>(stage) * order_.pairs.size() + pair];
  }
  void find_durations(int stage, int representative) {
    for (int c = 0; c < order_.chunks; ++c)
      for (const ActionKind kind : kPassKinds)
        at(stage, c, kind) = representative == stage ? simulator_.action_duration(stage, {kind, 0, c})
                                                     : at(representative, c, kind);
    for (size_t p = 0; p < order_.pairs.size(); ++p) {
      PairDurations& of = pair_at(stage, p) = pair_at(representative, p);
      if (representative < stage) continue;
      const auto [forward, backward] = overlap(stage, p);
      of = {simulator_.action_duration(stage, forward), simulator_.action_duration(stage, backward)};
    }
  }
  // Tells the simulator which actions of the stage overlap.
  std::pair<Action, Action> overlap(int stage, size_t pair) {
    const OverlappedPair& of = order_.pairs[pair];
    const std::pair<Action, Action> actions{{ActionKind::Forward, 0, of.forward_chunk, true},
                                            {of.backward, 0, of.backward_chunk, true}};
    simulator_.overlap(stage, actions.first, actions.second);
    return actions;
  }
  const ActionDuration& duration_of(const OrderedAction& a) {
    if (a.pair == 0) return at(a.stage, a.chunk, a.kind);
    const PairDurations& of = pair_at(a.stage, a.pair - 1u);
    return a.kind == ActionKind::Forward ? of.forward : of.backward;
  }
  ActionDuration& at(int stage, int chunk, ActionKind kind) {
    return durations_[(static_cast<size_t>(stage) * static_cast<size_t>(order_.chunks) +
                       static_cast<size_t>(chunk)) *
                          kKinds +
                      kind_index(kind)];
  }
  const ActionTransfer& transfer_of(const OrderedAction& a, const SteadyStage& s) {
    const int representative = representatives_[static_cast<size_t>(a.stage)];
    StageTransfers& of = transfers_[static_cast<size_t>(representative)];
    const size_t i = (((s.units * (order_.pairs.size() + 1) + a.pair) * static_cast<size_t>(order_.chunks) +
                       a.chunk) *
                          kKinds +
                      kind_index(a.kind)) *
                         2 +
                     (a.message >= 0 ? 1 : 0);
    if (i >= of.transfer_indices.size()) of.transfer_indices.resize(i + 1, -1);
    int32_t& index = of.transfer_indices[i];
    if (index < 0) {
      index = static_cast<int32_t>(of.transfers.size());
      SyncSimulator::Units units = of.unit_sets[s.units];
      if (a.pair > 0) overlap(representative, a.pair - 1u);
      of.transfers.push_back(simulator_.action_transfer(representative, action_of(a), a.message >= 0, units));
      of.transfers.back().units = of.index_of(units);
    }
    return of.transfers[static_cast<size_t>(index)];
  }

  // Whether all stages repeat from window to window, and no concurrent stream takes longer than a window.
  bool steady() const {
    if (order_.window == 0) return true;
    const double window = stages_.front().marks[0].end - stages_.front().marks[1].end;
    return std::all_of(stages_.begin(), stages_.end(), [&](const SteadyStage& s) {
      const SteadyMark &last = s.marks[0], &middle = s.marks[1], &first = s.marks[2];
      for (size_t k = 0; k < std::size(kSideStreams); ++k)
        if (std::max(last.side_streams[k] - middle.side_streams[k],
                     middle.side_streams[k] - first.side_streams[k]) > (1 + kSteadyTolerance) * window)
          return false;
      return std::abs(last.end - middle.end - window) <= kSteadyTolerance * window &&
             std::abs(middle.end - first.end - window) <= kSteadyTolerance * window;
    });
  }

  // Simulates the actions with indices from `begin` up to, but not including, `end`.
  void simulate(size_t begin, size_t end, const std::stop_token& stop) {
    constexpr size_t kStopCheckInterval = 256;  // actions between two checks of the stop token; an action may
                                                // have many layers
    for (size_t i = begin; i < end; ++i) {
      if (i % kStopCheckInterval == 0 && stop.stop_requested()) return;
      const OrderedAction& a = order_.actions[i];
      SteadyStage& s = stages_[static_cast<size_t>(a.stage)];
      switch (a.kind) {
        case ActionKind::SendForward: break;
        case ActionKind::GradReduce: run_layers(a, s); break;
        case ActionKind::Optimizer: break;  // runs after all stages have ended
        case ActionKind::Forward:
        case ActionKind::Backward:
        case ActionKind::BackwardInput:
        case ActionKind::BackwardWeight:
        case ActionKind::ReceiveForward:
        case ActionKind::ReceiveBackward:
        case ActionKind::SendBackward: run_pass(a, s); break;
      }
      if (a.sent_message >= 0) send(a, s);
    }
  }

  void run_pass(const OrderedAction& a, SteadyStage& s) {
    if (!microbatches_repeat_ || slowed_by_collectives_[static_cast<size_t>(a.stage)] ||
        (a.first && simulator_.overlaps_param_gather(a.stage)) ||
        (a.last && simulator_.last_pass_has_sync(a.stage, a.chunk, a.kind != ActionKind::Forward)))
      run_layers(a, s);
    else if (!fsdp_)
      run_as_duration(a, s);
    else if (!run_as_transfer(a, s))
      run_layers(a, s);
    if (a.mark < 0) return;
    s.marks[a.mark] = {s.compute_end, s.bubble, s.exposed, {}};
    if (!microbatches_repeat_ || fsdp_) s.on_timeline[a.mark] = timeline_.mark(a.stage);
    if (fsdp_) s.marks[a.mark].side_streams = {s.data_end};
    if (microbatches_repeat_) return;
    for (size_t k = 0; k < std::size(kSideStreams); ++k)
      s.marks[a.mark].side_streams[k] = timeline_.end_of(timeline_.last(a.stage, kSideStreams[k]));
  }

  void send(const OrderedAction& a, SteadyStage& s) {
    SteadyMessage& message = messages_[static_cast<size_t>(a.sent_message)];
    message.begin = std::max(s.send_end, s.message_ready);
    s.send_end = message.end = message.begin + simulator_.message(a.stage, a.peer);
  }

  // Takes over the state before the first collective of data parallelism from a shared warm-up. Returns the
  // index of the first action that is still to be simulated.
  size_t skip_shared_warm_up() {
    const size_t own = order_.first_sync([&](const OrderedAction& a) {
      return simulator_.last_pass_has_sync(a.stage, a.chunk, a.kind != ActionKind::Forward);
    });
    bool shared = microbatches_repeat_ && !fsdp_ && stages_.size() > 1;
    for (int s = 0; shared && s < order_.stages; ++s)
      shared = !simulator_.overlaps_param_gather(s) && stages_[static_cast<size_t>(s)].launch_end == 0;
    if (!shared) return 0;
    CacheKey key;
    for (const int64_t word : order_.key) key.add(word);
    key.add(int64_t{simulator_.host_waits_for_passes()});
    key.add(static_cast<int64_t>(own));
    for (int s = 0; s < order_.stages; ++s) {
      for (const bool forward : {false, true}) key.add(simulator_.gather_seconds(s, forward));
      key.add(simulator_.message(s, (s + 1) % order_.stages));
      key.add(int64_t{representatives_[static_cast<size_t>(s)]});
      if (representatives_[static_cast<size_t>(s)] != s) continue;
      for (int c = 0; c < order_.chunks; ++c)
        for (const ActionKind kind : kPassKinds) add_to(key, at(s, c, kind));
      for (size_t p = 0; p < order_.pairs.size(); ++p) {
        add_to(key, pair_at(s, p).forward);
        add_to(key, pair_at(s, p).backward);
      }
    }
    const auto start = cache_.get<WarmUpState>(
        CacheKind::WarmUp, key, [&] { return warm_up_until(own); },
        [](const WarmUpState& made) {
          return sizeof made + made.stages.size() * sizeof(SteadyStage) +
                 made.messages.size() * sizeof(SteadyMessage);
        });
    return apply(*start) ? own : 0;
  }

  // Simulates the first `end` actions with all stages starting at 0.
  std::shared_ptr<const WarmUpState> warm_up_until(size_t end) {
    auto out = std::make_shared<WarmUpState>();
    out->stages.assign(stages_.size(), {});
    out->latest.assign(stages_.size(), ActionTransfer::kNever);
    std::vector<char> began(stages_.size(), false),
        in_step = began;  // in_step: the stage has waited for a message
    for (size_t i = 0; i < end; ++i) {
      const OrderedAction& a = order_.actions[i];
      const auto stage = static_cast<size_t>(a.stage);
      SteadyStage& s = out->stages[stage];
      if (a.kind == ActionKind::SendForward) send(a, s);
      if (a.kind == ActionKind::SendForward || a.kind == ActionKind::Optimizer) continue;
      if (!in_step[stage]) {
        const ActionDuration& of = duration_of(a);
        if (a.message >= 0) {
          const SteadyMessage& message = messages_[static_cast<size_t>(a.message)];
          if (!began[stage]) out->latest[stage] = message.begin;
          out->shifts = out->shifts && message.end >= s.launch_end;
          in_step[stage] = true;
        } else {
          out->shifts = out->shifts && s.compute_end + of.seconds >= s.launch_end + of.behind_launch;
        }
        began[stage] = true;
      }
      run_as_duration(a, s);
      if (a.mark >= 0) s.marks[a.mark] = {s.compute_end, s.bubble, s.exposed, {}};
      if (a.sent_message >= 0) send(a, s);
    }
    out->shifts = out->shifts && std::find(in_step.begin(), in_step.end(), false) == in_step.end();
    std::vector<char> reused(messages_.size(), false);  // by slot: a later action has sent another message
    for (size_t i = end; i < order_.actions.size(); ++i) {
      const OrderedAction& a = order_.actions[i];
      if (a.message >= 0 && !reused[static_cast<size_t>(a.message)])
        out->messages.emplace_back(a.message, messages_[static_cast<size_t>(a.message)]);
      if (a.sent_message >= 0) reused[static_cast<size_t>(a.sent_message)] = true;
    }
    return out;
  }

  // Takes over the shared warm-up, shifted in time. Returns false if it does not apply to this design's
  // start.
  bool apply(const WarmUpState& start) {
    double shift = -1;
    for (size_t s = 0; s < stages_.size(); ++s) {
      if (start.latest[s] >= 0) continue;
      if (shift >= 0 && stages_[s].compute_end != shift) return false;
      shift = stages_[s].compute_end;
    }
    if (!start.shifts || shift < 0) return false;
    for (size_t s = 0; s < stages_.size(); ++s)
      if (start.latest[s] >= 0 && stages_[s].compute_end > start.latest[s] + shift) return false;
    for (size_t s = 0; s < stages_.size(); ++s) {
      const double waits = shift - stages_[s].compute_end;  // longer wait for the first message
      SteadyStage& to = stages_[s] = start.stages[s];
      for (double* time : {&to.compute_end, &to.launch_end, &to.send_end, &to.message_ready}) *time += shift;
      to.bubble += waits;
      for (SteadyMark& mark : to.marks) {
        mark.end += shift;
        mark.bubble += waits;
      }
    }
    for (const auto& [slot, of] : start.messages)
      messages_[static_cast<size_t>(slot)] = {of.begin + shift, of.end + shift};
    return true;
  }

  // The state of a stage, moved from and to the timeline. The timeline simulates actions layer by layer.
  void read_from_timeline(int stage) {
    SteadyStage& s = stages_[static_cast<size_t>(stage)];
    s.compute_end = timeline_.end_of(timeline_.last(stage, StreamKind::Compute));
    s.launch_end = timeline_.launched(stage);
    slowed_by_collectives_[static_cast<size_t>(stage)] = !fsdp_ &&
                                                         simulator_.sync(stage).concurrent_seconds() > 0;
    if (!fsdp_) return;
    s.data_end = timeline_.end_of(timeline_.last(stage, StreamKind::DataComm));
    s.units = transfers_of(stage).index_of(simulator_.sync(stage).units());
  }
  void write_to_timeline(int stage) {
    const SteadyStage& s = stages_[static_cast<size_t>(stage)];
    timeline_.resume(stage, s.compute_end, s.launch_end);
    if (!fsdp_) return;
    timeline_.resume_data_stream(stage, s.data_end);
    simulator_.sync(stage).resume(transfers_of(stage).unit_sets[s.units]);
  }
  StageTransfers& transfers_of(int stage) {
    return transfers_[static_cast<size_t>(representatives_[static_cast<size_t>(stage)])];
  }

  // Before an action: Timeline::synchronize.
  void synchronize(SteadyStage& s) const {
    if (simulator_.host_waits_for_passes()) s.launch_end = std::max(s.launch_end, s.compute_end);
  }

  void run_as_duration(const OrderedAction& a, SteadyStage& s) {
    synchronize(s);
    const ActionDuration& of = duration_of(a);
    double begin = s.compute_end;
    if (a.message >= 0) {
      const SteadyMessage& message = messages_[static_cast<size_t>(a.message)];
      s.launch_end = std::max(s.launch_end, message.end);
      if (message.end > begin) {
        const double waits = message.end - std::max(begin, message.begin);
        s.exposed += waits;
        s.bubble += message.end - begin - waits;
        begin = message.end;
      }
      const double gather = simulator_.gather_seconds(a.stage, a.kind == ActionKind::Forward);
      begin += gather;
      s.exposed += gather;
    }
    s.compute_end = std::max(begin + of.seconds, s.launch_end + of.behind_launch);
    s.launch_end += of.host;
    s.exposed += of.exposed;
    if (a.kind != ActionKind::BackwardWeight) s.message_ready = s.compute_end;
  }

  // As run_as_duration(), with the waits for collectives of FSDP units. Returns false and changes nothing if
  // the host falls behind: which waits it hides depends on every single layer.
  bool run_as_transfer(const OrderedAction& a, SteadyStage& s) {
    synchronize(s);
    const ActionTransfer& of = transfer_of(a, s);
    std::array<double, ActionTransfer::kStarts> starts{s.compute_end, s.data_end, ActionTransfer::kNever,
                                                       ActionTransfer::kNever};
    double bubble = 0, launch_end = s.launch_end;
    if (a.message >= 0) {
      const SteadyMessage& message = messages_[static_cast<size_t>(a.message)];
      launch_end = std::max(launch_end, message.end);
      if (message.end > s.compute_end &&
          (of.message_before_layer || !later(ActionTransfer::end_of(of.first_layer, starts), message.end)))
        bubble = std::max(0.0, message.begin - s.compute_end);
      starts[ActionTransfer::Message] = message.end;
    }
    const double busy = ActionTransfer::end_of(of.compute, starts);  // if the host keeps ahead
    if (launch_end + of.compute[ActionTransfer::Launched] > busy) return false;
    s.bubble += bubble;
    s.exposed += of.exposed + (busy - s.compute_end - of.seconds) - bubble;
    starts[ActionTransfer::Launched] = launch_end;
    s.data_end = ActionTransfer::end_of(of.data, starts);
    s.compute_end = busy;
    s.launch_end = launch_end + of.host;
    s.units = of.units;
    if (a.kind != ActionKind::BackwardWeight) s.message_ready = s.compute_end;
    return true;
  }

  void run_layers(const OrderedAction& a, SteadyStage& s) {
    write_to_timeline(a.stage);
    if (a.pair > 0) overlap(a.stage, a.pair - 1u);
    NodeId arrived = kNoNode;
    if (a.message >= 0) {
      const SteadyMessage& message = messages_[static_cast<size_t>(a.message)];
      arrived = timeline_.arrive(a.stage, message.begin, message.end);
    }
    if (microbatches_repeat_ && a.kind != ActionKind::Forward)
      simulator_.sync(a.stage).skip_to(a.chunk, a.last);
    const NodeId made = simulator_.compute(timeline_, a.stage, action_of(a), arrived);
    read_from_timeline(a.stage);
    if (made != kNoNode && a.kind != ActionKind::BackwardWeight) s.message_ready = timeline_.end_of(made);
  }

  static Action action_of(const OrderedAction& a) { return {a.kind, a.microbatch, a.chunk, a.pair > 0}; }

  PlanCache& cache_;
  // All microbatches except the first and the last of a chunk take equal time.
  const bool microbatches_repeat_;
  const bool fsdp_;  // microbatches repeat, and FSDP units are gathered and reduced
  const ActionOrder& order_;
  StepSimulator& simulator_;
  Timeline& timeline_;
  std::vector<SteadyStage> stages_;
  // By stage: collectives still run concurrently and slow the next action.
  std::vector<uint8_t> slowed_by_collectives_;
  std::vector<int> representatives_;       // StepSimulator::equal_stage
  std::vector<StageTransfers> transfers_;  // by representative stage
  std::vector<SteadyMessage> messages_;    // by slot, see ActionOrder::message_slots
  std::vector<ActionDuration> durations_;
  std::vector<PairDurations> pair_durations_;  // by stage and pair
};

}  // namespace

StepNumbers steady_simulation(const Report& report, const Machine& machine, LayerTable& table,
                              const std::stop_token& stop) {
  for (int rounds = 1; !stop.stop_requested(); rounds *= 3) {
    const auto order = action_order(report.design.parallel, static_cast<int>(report.microbatches), rounds,
                                    *report.cache, stop);
    if (!order) break;
    Timeline timeline(order->stages, false);
    StepSimulator simulator(report, order->microbatches, machine, table, timeline);
    SteadySimulation steady(report, *order, simulator, timeline);
    if (!steady.run(stop)) continue;
    simulator.finish();
    Simulation on_timeline;
    timeline.finish(on_timeline);
    return steady.numbers(on_timeline, report.microbatches);
  }
  return {};
}

}  // namespace shardscape
