#include "timing/steady_state/steady_simulation.h"

#include <algorithm>
#include <cmath>

namespace shardscape {
namespace {

// Windows count as equal, and the schedule as steady, up to this relative difference.
constexpr double kSteadyTolerance = 1e-6;

// alike: most microbatches can be simulated as durations; otherwise all are simulated layer by layer.
class SteadySimulation {
 public:
  SteadySimulation(const Report& report, const ActionOrder& order, StepSimulator& play, Timeline& timeline,
                   bool alike)
      : cache_(*report.cache),
        microbatches_repeat_(alike),
        gathers_(alike && play.has_fsdp_units()),
        order_(order),
        play_(play),
        timeline_(timeline),
        stages_(static_cast<size_t>(order.stages)),
        slowed_(stages_.size()),
        gathered_(gathers_ ? stages_.size() : 0),
        sent_(static_cast<size_t>(order.messages)),
        stretches_(gathers_ ? 0 : stages_.size() * static_cast<size_t>(order.chunks) * kKinds) {
    for (int s = 0; s < order.stages; ++s) {
      const StageReport& stage = report.stages[static_cast<size_t>(s)];
      representatives_.push_back(stage.representative);
      take(s);
      for (int c = 0; c < order.chunks && alike && !gathers_; ++c)
        for (const ActionKind kind : kCompactKinds)
          at(s, c, kind) = stage.representative == s ? play.stretch(s, {kind, 0, c})
                                                     : at(stage.representative, c, kind);
    }
  }

  // Returns false when stopped, or as soon as the windows show that the schedule is not steady.
  bool run(const std::stop_token& stop) {
    const size_t own = begin(), marked = std::max(own, order_.marked);
    simulate(own, marked, stop);
    if (stop.stop_requested() || !steady()) return false;
    simulate(marked, order_.actions.size(), stop);
    for (int s = 0; s < order_.stages; ++s) give(s);
    return !stop.stop_requested();
  }

  // Adds the numbers of the timeline, and those of the microbatches that were not simulated.
  StepNumbers numbers(const Simulation& rest, int64_t microbatches) const {
    StepNumbers out;
    const double more = order_.window > 0
                            ? static_cast<double>(microbatches - order_.microbatches) / order_.window
                            : 0;
    double longer = 0;
    for (size_t s = 0; s < stages_.size(); ++s) {
      const SteadyStage& stage = stages_[s];
      SteadyMark last = stage.marks[0], before = stage.marks[1];
      if (!microbatches_repeat_ && order_.window > 0)
        for (const auto& [mark, at] :
             {std::pair{&last, stage.on_timeline[0]}, {&before, stage.on_timeline[1]}}) {
          mark->bubble = timeline_.marks()[at].bubble;
          mark->exposed = timeline_.marks()[at].exposed;
        }
      longer = std::max(longer, more * (last.end - before.end));
      out.bubble += stage.bubble + more * (last.bubble - before.bubble) +
                    rest.stages[s].seconds[static_cast<size_t>(TimeCategory::Bubble)];
      out.exposed += stage.exposed + more * (last.exposed - before.exposed) + rest.stages[s].exposed;
    }
    out.step_seconds = rest.step_seconds + longer;
    const double all = out.step_seconds * static_cast<double>(stages_.size());
    out.bubble = all > 0 ? out.bubble / all : 0;
    out.exposed = all > 0 ? out.exposed / all : 0;
    return out;
  }

 private:
  static constexpr ActionKind kCompactKinds[] = {ActionKind::Forward, ActionKind::Backward,
                                                 ActionKind::BackwardInput, ActionKind::BackwardWeight};
  static constexpr size_t kKinds = std::size(kCompactKinds);
  // Transfers of the actions of a stage class.
  struct Gathered {
    std::vector<SyncSimulator::Units> known;
    std::vector<ActionTransfer> transfers;
    // Indices into transfers, by gathered units, chunk, kind of action, whether it waits for a message, and
    // whether it overlaps. -1: not computed yet.
    std::vector<int32_t> places;
    size_t place(const SyncSimulator::Units& units) {
      const auto it = std::find(known.begin(), known.end(), units);
      const auto at = static_cast<size_t>(it - known.begin());
      if (it == known.end()) known.push_back(units);
      return at;
    }
  };

  static size_t kind_index(ActionKind kind) {
    return kind == ActionKind::Forward         ? 0
           : kind == ActionKind::Backward      ? 1
           : kind == ActionKind::BackwardInput ? 2
                                               : 3;
  }
  ActionDuration& at(int stage, int chunk, ActionKind kind) {
    return stretches_[(static_cast<size_t>(stage) * static_cast<size_t>(order_.chunks) +
                       static_cast<size_t>(chunk)) *
                          kKinds +
                      kind_index(kind)];
  }
  const ActionTransfer& transfer_of(const OrderedAction& a, const SteadyStage& s) {
    const int representative = representatives_[static_cast<size_t>(a.stage)];
    Gathered& of = gathered_[static_cast<size_t>(representative)];
    const size_t i = ((s.units * static_cast<size_t>(order_.chunks) + a.chunk) * kKinds +
                      kind_index(a.kind)) *
                         4 +
                     (a.message >= 0 ? 2 : 0) + (a.overlapped ? 1 : 0);
    if (i >= of.places.size()) of.places.resize(i + 1, -1);
    if (of.places[i] < 0) {
      SyncSimulator::Units units = of.known[s.units];
      of.places[i] = static_cast<int32_t>(of.transfers.size());
      of.transfers.push_back(play_.action_transfer(representative, action_of(a), a.message >= 0, units));
      of.transfers.back().units = of.place(units);
    }
    return of.transfers[static_cast<size_t>(of.places[i])];
  }

  // Whether all stages repeat from window to window, and no concurrent stream takes longer than a window.
  bool steady() const {
    if (order_.window == 0) return true;
    const double window = stages_.front().marks[0].end - stages_.front().marks[1].end;
    return std::all_of(stages_.begin(), stages_.end(), [&](const SteadyStage& s) {
      const SteadyMark &last = s.marks[0], &middle = s.marks[1], &first = s.marks[2];
      for (size_t k = 0; k < std::size(kSideStreams); ++k)
        if (std::max(last.beside[k] - middle.beside[k], middle.beside[k] - first.beside[k]) >
            (1 + kSteadyTolerance) * window)
          return false;
      return std::abs(last.end - middle.end - window) <= kSteadyTolerance * window &&
             std::abs(middle.end - first.end - window) <= kSteadyTolerance * window;
    });
  }

  // Simulates the actions from `begin` to `end`.
  void simulate(size_t begin, size_t end, const std::stop_token& stop) {
    constexpr size_t kStopCheckInterval = 256;  // actions between two checks of the stop token; an action may
                                                // have many layers
    for (size_t i = begin; i < end; ++i) {
      if (i % kStopCheckInterval == 0 && stop.stop_requested()) return;
      const OrderedAction& a = order_.actions[i];
      SteadyStage& s = stages_[static_cast<size_t>(a.stage)];
      switch (a.kind) {
        case ActionKind::SendForward: break;
        case ActionKind::GradReduce: one_by_one(a, s); break;
        case ActionKind::Optimizer: break;  // runs after all stages have ended
        default: pass(i, a, s);
      }
      if (a.sent >= 0) send(a, s);
    }
  }

  // i: index of the action, which is a forward or backward.
  void pass(size_t i, const OrderedAction& a, SteadyStage& s) {
    if (!microbatches_repeat_ && a.overlapped && a.kind == ActionKind::Forward)
      play_.overlap(a.stage, action_of(a), action_of(next_of_stage(i)));
    if (!microbatches_repeat_ || slowed_[static_cast<size_t>(a.stage)] ||
        (a.first && play_.gathers_ahead(a.stage)) ||
        (a.last && play_.ends(a.stage, a.chunk, a.kind != ActionKind::Forward)))
      one_by_one(a, s);
    else if (gathers_)
      gathered(a, s);
    else
      stretch(a, s);
    if (a.mark < 0) return;
    s.marks[a.mark] = {s.last, s.bubble, s.exposed, {}};
    if (gathers_) s.marks[a.mark].beside = {s.data};
    if (microbatches_repeat_) return;
    s.on_timeline[a.mark] = timeline_.mark(a.stage);
    for (size_t k = 0; k < std::size(kSideStreams); ++k)
      s.marks[a.mark].beside[k] = timeline_.end_of(timeline_.last(a.stage, kSideStreams[k]));
  }

  void send(const OrderedAction& a, SteadyStage& s) {
    SteadyMessage& message = sent_[static_cast<size_t>(a.sent)];
    message.begin = std::max(s.link, s.made);
    s.link = message.end = message.begin + play_.message(a.stage, a.peer);
  }

  // The index of the first action that is this design's own. The state before it comes from a shared warm-up.
  size_t begin() {
    const size_t own = order_.own(
        [&](const OrderedAction& a) { return play_.ends(a.stage, a.chunk, a.kind != ActionKind::Forward); });
    bool shared = microbatches_repeat_ && !gathers_ && stages_.size() > 1;
    for (int s = 0; shared && s < order_.stages; ++s)
      shared = !play_.gathers_ahead(s) && stages_[static_cast<size_t>(s)].launched == 0;
    if (!shared) return 0;
    CacheKey key;
    for (const int64_t word : order_.key) key.add(word);
    key.add(static_cast<int64_t>(own));
    key.add(play_.gather_seconds());
    for (int s = 0; s < order_.stages; ++s) {
      key.add(play_.message(s, (s + 1) % order_.stages));
      key.add(int64_t{representatives_[static_cast<size_t>(s)]});
      if (representatives_[static_cast<size_t>(s)] != s) continue;
      for (int c = 0; c < order_.chunks; ++c)
        for (const ActionKind kind : kCompactKinds) {
          const ActionDuration& of = at(s, c, kind);
          for (const double word : {of.seconds, of.behind_launch, of.host, of.exposed}) key.add(word);
        }
    }
    const auto start = cache_.get<WarmUpState>(
        CacheKind::WarmUp, key, [&] { return warm_up_until(own); },
        [](const WarmUpState& made) {
          return sizeof made + made.stages.size() * sizeof(SteadyStage) +
                 made.messages.size() * sizeof(SteadyMessage);
        });
    return take(*start) ? own : 0;
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
        const ActionDuration& of = at(a.stage, a.chunk, a.kind);
        if (a.message >= 0) {
          const SteadyMessage& message = sent_[static_cast<size_t>(a.message)];
          if (!began[stage]) out->latest[stage] = message.begin;
          out->shifts = out->shifts && message.end >= s.launched;
          in_step[stage] = true;
        } else {
          out->shifts = out->shifts && s.last + of.seconds >= s.launched + of.behind_launch;
        }
        began[stage] = true;
      }
      stretch(a, s);
      if (a.mark >= 0) s.marks[a.mark] = {s.last, s.bubble, s.exposed, {}};
      if (a.sent >= 0) send(a, s);
    }
    out->shifts = out->shifts && std::find(in_step.begin(), in_step.end(), false) == in_step.end();
    std::vector<char> sent_later(sent_.size(), false);  // slots with a message that was sent later
    for (size_t i = end; i < order_.actions.size(); ++i) {
      const OrderedAction& a = order_.actions[i];
      if (a.message >= 0 && !sent_later[static_cast<size_t>(a.message)])
        out->messages.emplace_back(a.message, sent_[static_cast<size_t>(a.message)]);
      if (a.sent >= 0) sent_later[static_cast<size_t>(a.sent)] = true;
    }
    return out;
  }

  // Takes over the shared warm-up, shifted in time. Returns false if it does not apply to this design's
  // start.
  bool take(const WarmUpState& start) {
    double shift = -1;
    for (size_t s = 0; s < stages_.size(); ++s) {
      if (start.latest[s] >= 0) continue;
      if (shift >= 0 && stages_[s].last != shift) return false;
      shift = stages_[s].last;
    }
    if (!start.shifts || shift < 0) return false;
    for (size_t s = 0; s < stages_.size(); ++s)
      if (start.latest[s] >= 0 && stages_[s].last > start.latest[s] + shift) return false;
    for (size_t s = 0; s < stages_.size(); ++s) {
      const double waits = shift - stages_[s].last;  // longer wait for the first message
      SteadyStage& to = stages_[s] = start.stages[s];
      for (double* moment : {&to.last, &to.launched, &to.link, &to.made}) *moment += shift;
      to.bubble += waits;
      for (SteadyMark& mark : to.marks) {
        mark.end += shift;
        mark.bubble += waits;
      }
    }
    for (const auto& [message, of] : start.messages)
      sent_[static_cast<size_t>(message)] = {of.begin + shift, of.end + shift};
    return true;
  }

  // take() and give() move the state of a stage from and to the timeline, which simulates actions layer by
  // layer.
  void take(int stage) {
    SteadyStage& s = stages_[static_cast<size_t>(stage)];
    s.last = timeline_.end_of(timeline_.last(stage, StreamKind::Compute));
    s.launched = timeline_.launched(stage);
    slowed_[static_cast<size_t>(stage)] = !gathers_ && play_.sync(stage).beside() > 0;
    if (!gathers_) return;
    s.data = timeline_.end_of(timeline_.last(stage, StreamKind::DataComm));
    s.units = transfers_of(stage).place(play_.sync(stage).units());
  }
  void give(int stage) {
    const SteadyStage& s = stages_[static_cast<size_t>(stage)];
    timeline_.resume(stage, s.last, s.launched);
    if (!gathers_) return;
    timeline_.resume_data_stream(stage, s.data);
    play_.sync(stage).resume(transfers_of(stage).known[s.units]);
  }
  Gathered& transfers_of(int stage) {
    return gathered_[static_cast<size_t>(representatives_[static_cast<size_t>(stage)])];
  }

  void stretch(const OrderedAction& a, SteadyStage& s) {
    const ActionDuration& of = at(a.stage, a.chunk, a.kind);
    double begin = s.last;
    if (a.message >= 0) {
      const SteadyMessage& message = sent_[static_cast<size_t>(a.message)];
      s.launched = std::max(s.launched, message.end);
      if (message.end > begin) {
        const double waits = message.end - std::max(begin, message.begin);
        s.exposed += waits;
        s.bubble += message.end - begin - waits;
        begin = message.end;
      }
      begin += play_.gather_seconds();
      s.exposed += play_.gather_seconds();
    }
    s.last = std::max(begin + of.seconds, s.launched + of.behind_launch);
    s.launched += of.host;
    s.exposed += of.exposed;
    if (a.kind != ActionKind::BackwardWeight) s.made = s.last;
  }

  // As stretch(), with the waits for collectives of FSDP units.
  void gathered(const OrderedAction& a, SteadyStage& s) {
    const ActionTransfer& of = transfer_of(a, s);
    std::array<double, ActionTransfer::kFroms> ends{s.last, s.data, ActionTransfer::kNever,
                                                    ActionTransfer::kNever};
    double bubble = 0;
    if (a.message >= 0) {
      const SteadyMessage& message = sent_[static_cast<size_t>(a.message)];
      s.launched = std::max(s.launched, message.end);
      if (message.end > s.last &&
          (of.message_before_layer || !later(ActionTransfer::after(of.gathered, ends), message.end)))
        bubble = std::max(0.0, message.begin - s.last);
      ends[ActionTransfer::Message] = message.end;
    }
    const double busy = ActionTransfer::after(of.compute, ends);  // if the host keeps ahead
    s.bubble += bubble;
    s.exposed += of.exposed + (busy - s.last - of.seconds) - bubble;
    ends[ActionTransfer::Launched] = s.launched;
    s.data = ActionTransfer::after(of.data, ends);
    s.last = std::max(busy, s.launched + of.compute[ActionTransfer::Launched]);
    s.launched += of.host;
    s.units = of.units;
    if (a.kind != ActionKind::BackwardWeight) s.made = s.last;
  }

  void one_by_one(const OrderedAction& a, SteadyStage& s) {
    give(a.stage);
    NodeId arrived = kNoNode;
    if (a.message >= 0) {
      const SteadyMessage& message = sent_[static_cast<size_t>(a.message)];
      arrived = timeline_.arrive(a.stage, message.begin, message.end);
    }
    if (microbatches_repeat_ && a.kind != ActionKind::Forward) play_.sync(a.stage).skip_to(a.chunk, a.last);
    const NodeId made = play_.compute(timeline_, a.stage, action_of(a), arrived);
    take(a.stage);
    if (made != kNoNode && a.kind != ActionKind::BackwardWeight) s.made = timeline_.end_of(made);
  }

  static Action action_of(const OrderedAction& a) { return {a.kind, a.microbatch, a.chunk, a.overlapped}; }
  const OrderedAction& next_of_stage(size_t i) const {
    const auto own = [&](const OrderedAction& a) {
      return a.stage == order_.actions[i].stage && a.kind != ActionKind::SendForward;
    };
    return *std::find_if(order_.actions.begin() + static_cast<std::ptrdiff_t>(i) + 1, order_.actions.end(),
                         own);
  }

  PlanCache& cache_;
  const bool microbatches_repeat_, gathers_;
  const ActionOrder& order_;
  StepSimulator& play_;
  Timeline& timeline_;
  std::vector<SteadyStage> stages_;
  std::vector<uint8_t> slowed_;       // by stage: collectives still run and slow the next action down
  std::vector<int> representatives_;  // StageReport::representative
  std::vector<Gathered> gathered_;    // by representative stage
  std::vector<SteadyMessage> sent_;   // by slot
  std::vector<ActionDuration> stretches_;
};

}  // namespace

StepNumbers steady_simulation(const Report& report, const Machine& machine, LayerTable& table,
                              const std::stop_token& stop) {
  for (int rounds = 1; !stop.stop_requested(); rounds *= 3) {
    const auto order = action_order(report.design.parallel, static_cast<int>(report.microbatches), rounds,
                                    *report.cache, stop);
    if (!order) break;
    Timeline timeline(order->stages, false);
    StepSimulator play(report, order->microbatches, machine, table, timeline);
    const bool alike = play.microbatches_repeat();
    SteadySimulation brief(report, *order, play, timeline, alike);
    if (!brief.run(stop)) continue;
    play.finish();
    Simulation rest;
    timeline.finish(rest);
    return brief.numbers(rest, report.microbatches);
  }
  return {};
}

}  // namespace shardscape
