#include "simulate/step_numbers.h"

#include <algorithm>
#include <cmath>

#include "simulate/machine_of.h"
#include "simulate/play_order.h"
#include "simulate/step_play.h"

namespace shardscape {
namespace {

// Windows of a steady schedule take as long as each other.
constexpr double kSteady = 1e-6;

// A stage at the end of a window.
struct Mark {
  double end = 0, bubble = 0, exposed = 0;
};

// One stage while microbatches are played as stretches.
struct StageState {
  double last = 0, launched = 0, link = 0, made = 0;
  double bubble = 0, exposed = 0;
  Mark marks[PlayOrder::kMarks];
};

class BriefPlay {
 public:
  BriefPlay(const Report& report, const PlayOrder& order, StepPlay& play, Timeline& timeline)
      : order_(order), play_(play), timeline_(timeline), stages_(static_cast<size_t>(order.stages)),
        sent_(messages()), stretches_(stages_.size() * static_cast<size_t>(order.chunks) * kKinds) {
    if (sent_.size() < static_cast<size_t>(order.messages)) sent_.resize(static_cast<size_t>(order.messages));
    for (int s = 0; s < order.stages; ++s) {
      const StageReport& stage = report.stages[static_cast<size_t>(s)];
      take(s);
      for (int c = 0; c < order.chunks; ++c)
        for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward, ActionKind::BackwardInput, ActionKind::BackwardWeight})
          at(s, c, kind) = stage.like == s ? play.stretch(s, {kind, 0, c}) : at(stage.like, c, kind);
    }
  }

  void run() {
    for (const PlayedAction& a : order_.actions) {
      StageState& s = stages_[static_cast<size_t>(a.stage)];
      switch (a.kind) {
        case ActionKind::SendForward: {
          Message& message = sent_[static_cast<size_t>(a.message)];
          message.begin = std::max(s.link, s.made);
          s.link = message.end = message.begin + play_.message(a.stage, a.peer);
          continue;
        }
        case ActionKind::GradReduce: one_by_one(a, s); continue;
        case ActionKind::Optimizer: continue;  // once all stages are through
        default: break;
      }
      if ((a.first && play_.gathers_ahead(a.stage)) || (a.last && play_.ends(a.stage, a.chunk, a.kind != ActionKind::Forward)))
        one_by_one(a, s);
      else
        stretch(a, s);
      if (a.mark >= 0) s.marks[a.mark] = {s.last, s.bubble, s.exposed};
    }
    for (int s = 0; s < order_.stages; ++s) give(s);
  }

  // Whether all stages repeat themselves from window to window.
  bool steady() const {
    if (order_.window == 0) return true;
    const double window = stages_.front().marks[0].end - stages_.front().marks[1].end;
    return std::all_of(stages_.begin(), stages_.end(), [&](const StageState& s) {
      const double last = s.marks[0].end - s.marks[1].end, before = s.marks[1].end - s.marks[2].end;
      return std::abs(last - window) <= kSteady * window && std::abs(before - window) <= kSteady * window;
    });
  }

  // With what the timeline has found of the rest, and the microbatches that were not played.
  StepNumbers numbers(const Simulation& rest, int64_t microbatches) const {
    StepNumbers out;
    const double more = order_.window > 0 ? static_cast<double>(microbatches - order_.microbatches) / order_.window : 0;
    double longer = 0;
    for (size_t s = 0; s < stages_.size(); ++s) {
      const StageState& stage = stages_[s];
      const Mark &last = stage.marks[0], &before = stage.marks[1];
      longer = std::max(longer, more * (last.end - before.end));
      out.bubble += stage.bubble + more * (last.bubble - before.bubble) + rest.stages[s].seconds[static_cast<size_t>(TimeCategory::Bubble)];
      out.exposed += stage.exposed + more * (last.exposed - before.exposed) + rest.stages[s].exposed;
    }
    out.step_seconds = rest.step_seconds + longer;
    const double all = out.step_seconds * static_cast<double>(stages_.size());
    out.bubble = all > 0 ? out.bubble / all : 0;
    out.exposed = all > 0 ? out.exposed / all : 0;
    return out;
  }

 private:
  static constexpr size_t kKinds = 4;
  struct Message {
    double begin = 0, end = 0;
  };

  // Each is written before it is read.
  static std::vector<Message>& messages() {
    thread_local std::vector<Message> buffer;
    return buffer;
  }

  Stretch& at(int stage, int chunk, ActionKind kind) {
    const size_t k = kind == ActionKind::Forward ? 0 : kind == ActionKind::Backward ? 1 : kind == ActionKind::BackwardInput ? 2 : 3;
    return stretches_[(static_cast<size_t>(stage) * static_cast<size_t>(order_.chunks) + static_cast<size_t>(chunk)) * kKinds + k];
  }

  // From and to the timeline, on which what is not a stretch is played.
  void take(int stage) {
    StageState& s = stages_[static_cast<size_t>(stage)];
    s.last = timeline_.end_of(timeline_.last(stage, StreamKind::Compute));
    s.launched = timeline_.launched(stage);
  }
  void give(int stage) {
    const StageState& s = stages_[static_cast<size_t>(stage)];
    timeline_.resume(stage, s.last, s.launched);
  }

  void stretch(const PlayedAction& a, StageState& s) {
    const Stretch& of = at(a.stage, a.chunk, a.kind);
    double begin = s.last;
    if (a.message >= 0) {
      const Message& message = sent_[static_cast<size_t>(a.message)];
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

  void one_by_one(const PlayedAction& a, StageState& s) {
    give(a.stage);
    NodeId arrived = kNoNode;
    if (a.message >= 0) {
      const Message& message = sent_[static_cast<size_t>(a.message)];
      arrived = timeline_.arrive(a.stage, message.begin, message.end);
    }
    const NodeId made = play_.compute(timeline_, a.stage, {a.kind, a.microbatch, a.chunk}, arrived);
    take(a.stage);
    if (made != kNoNode && a.kind != ActionKind::BackwardWeight) s.made = timeline_.end_of(made);
  }

  const PlayOrder& order_;
  StepPlay& play_;
  Timeline& timeline_;
  std::vector<StageState> stages_;
  std::vector<Message>& sent_;
  std::vector<Stretch> stretches_;
};

std::shared_ptr<const LayerTable> shared_table(const Report& report, const Machine& machine, Memo<LayerTable>& memo) {
  thread_local MemoKey key;
  key.clear();
  key.add(static_cast<int64_t>(report.model->serial));
  const Binding& binding = report.stages.front().binding;
  const std::shared_ptr<const OpReads> reads = op_reads(report.graph());
  for (const Symbol symbol : reads->symbols) key.add(binding.get(symbol).value_or(-1));
  key.add(int64_t{report.design.parallel.tp_comm_overlap});
  key.add(report.ring_position.value_or(-1));
  add_to(key, machine);
  const DeviceMesh mesh = device_mesh(report.design);
  for (const MeshAxes& axes : reads->groups) {
    const GroupSpan span = span_of(mesh, axes, machine.network);
    for (const int64_t word : {span.ranks, span.per_domain, span.touched, span.fullest, span.pods}) key.add(word);
  }
  return memo.get(key, [&] {
    auto made = std::make_shared<LayerTable>(report, machine);
    made->make_all();
    return made;
  });
}

// What is played layer by layer throughout.
StepNumbers whole_play(const Report& report, const Machine& machine, LayerTable& table) {
  Timeline timeline(static_cast<int>(report.stages.size()), false);
  StepPlay play(report, machine, table, timeline);
  play_schedule(make_schedule(report.design.parallel, static_cast<int>(report.microbatches)), play, timeline);
  play.finish();
  Simulation step;
  timeline.finish(step);
  return {step.step_seconds, step.bubble, step.exposed};
}

StepNumbers brief_play(Report& report, const Machine& machine, LayerTable& table) {
  const int64_t microbatches = report.microbatches;
  for (int rounds = 1;; rounds *= 3) {
    const auto order = play_order(report.design.parallel, static_cast<int>(microbatches), rounds);
    report.microbatches = order->microbatches;
    Timeline timeline(order->stages, false);
    StepPlay play(report, machine, table, timeline);
    if (!play.microbatches_alike()) {
      report.microbatches = microbatches;
      return whole_play(report, machine, table);
    }
    play.skip_to_last();
    BriefPlay brief(report, *order, play, timeline);
    brief.run();
    if (!brief.steady()) continue;
    play.finish();
    Simulation rest;
    timeline.finish(rest);
    return brief.numbers(rest, microbatches);
  }
}

}  // namespace

StepNumbers step_numbers(Report& outline, Memo<LayerTable>& memo) {
  thread_local std::pair<ClusterSpec, int64_t> of{{}, 0};
  thread_local Machine machine;
  if (of.second != outline.ranks || of.first != outline.design.cluster) {
    machine = machine_of(outline.design);
    of = {outline.design.cluster, outline.ranks};
  }
  LayerTable table(shared_table(outline, machine, memo));
  const int64_t microbatches = outline.microbatches;
  StepNumbers out = brief_play(outline, machine, table);
  outline.microbatches = microbatches;
  const StepRates rates = step_rates(outline, machine, out.step_seconds);
  out.tokens_per_second = rates.tokens_per_second;
  out.model_tflops = rates.model_tflops;
  out.mfu = rates.mfu;
  return out;
}

}  // namespace shardscape
