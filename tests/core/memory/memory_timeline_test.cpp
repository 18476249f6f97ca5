// Memory over a step: lifetimes inside segments against their definition, the walk through schedules,
// contributors, advice.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "grad_sync/stage_gradients.h"
#include "graph/build.h"
#include "memory/estimate.h"
#include "memory/memory_advice.h"
#include "memory/memory_timeline.h"
#include "memory/segment_memories.h"
#include "model/library.h"
#include "plan/bound_plan.h"
#include "support/trace_designs.h"
#include "timing/pass_times.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Gradients that come and go are not there when most activations are.
int64_t held(const Report& report, const StageReport& stage) {
  Wide bytes = 0;
  for (const Quantity& q : stage.memory) bytes += q.value;
  if (gradient_life(report.graph()) != GradientLife::Always)
    bytes -= stage.memory[static_cast<size_t>(MemoryCategory::Gradients)].value;
  return static_cast<int64_t>(bytes);
}

// Rounding to the segments of two pools.
constexpr int64_t kSegments = int64_t{48} << 20;

int64_t pool_of(const StageMemory& memory) {
  int64_t bytes = 0;
  for (const MemoryContributor& part : memory.fixed_parts)
    if (part.name == "memory pool of CUDA graphs") bytes += part.bytes;
  return bytes;
}

const char* name_of(CudaGraphs graphs) {
  return graphs == CudaGraphs::Attention         ? "attention"
         : graphs == CudaGraphs::Router          ? "router"
         : graphs == CudaGraphs::AttentionRouter ? "attention-router"
         : graphs == CudaGraphs::Layer           ? "layer"
                                                 : "iteration";
}

}  // namespace

class MemoryTimelineTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // The time of the peak lies inside the action that the peak names.
  void peaksHaveATime_data() { add_trace_rows(); }
  void peaksHaveATime() {
    Design design = fetched_trace_design();
    const auto report = estimate(design);
    const auto simulation = simulate(*report);
    StepOps step(report, simulation);
    int told = 0;
    for (const StageMemory& memory : report->memory->stages) {
      const auto at = peak_seconds(memory, step);
      if (!is_pass(memory.action.kind) && memory.action.kind != ActionKind::Optimizer) continue;
      // A weight gradient may run inside an overlapped action and then has no interval of its own.
      if (memory.action.kind == ActionKind::BackwardWeight && !at) continue;
      QVERIFY2(at, memory.peak_text.c_str());
      ++told;
      const auto& spans = simulation->stages[static_cast<size_t>(memory.stage)].spans;
      QVERIFY(*at >= 0 && *at <= simulation->step_seconds);
      if (memory.action.kind == ActionKind::Optimizer) continue;
      const PassInterval pass = *PassTimes(simulation->stages[static_cast<size_t>(memory.stage)])
                                     .of(memory.action);
      QVERIFY(pass.begin <= *at && *at <= pass.end && pass.end > pass.begin);
      if (memory.segment < 0 || memory.at.after_run) continue;
      // The op of the peak begins at this time. If the op takes no time, its layer runs at this time.
      const Segment& segment = report->graph().segments[static_cast<size_t>(memory.segment)];
      const OpId first = memory.at.op < 0 ? -1 : timed_op(segment, memory.at.op);
      bool runs = false, layer = false, named = false, begins = false;
      for (size_t i = 0; i < spans.size(); ++i) {
        if (spans[i].microbatch != memory.action.microbatch || spans[i].chunk != memory.action.chunk ||
            spans[i].begin >= pass.end || spans[i].end < pass.begin)
          continue;
        for (const OpSpan& op : step.of(memory.stage, static_cast<int>(i))) {
          if (op.segment != memory.segment || op.layer != memory.layer) continue;
          runs = true;
          layer = layer || (op.begin - 1e-9 <= *at && *at <= op.end + 1e-9);
          named = named || op.op == first;
          begins = begins || (op.op == first && std::abs(op.begin - *at) < 1e-9);
        }
      }
      if (!runs)
        QVERIFY(memory.action.kind == ActionKind::BackwardInput && segment.kind == SegmentKind::Embedding &&
                *at == pass.end);
      QVERIFY2(layer || !runs, memory.peak_text.c_str());
      QVERIFY2(begins || !named, memory.peak_text.c_str());
    }
    QVERIFY(told > 0 || splits_backward(schedule_of(report->design.parallel)));
  }
  // The head is the last of a forward, the last layer the first of a backward.
  void peaksAreNotTheMiddleOfTheirAction() {
    const auto report = estimate(default_design());
    const auto simulation = simulate(*report);
    StepOps step(report, simulation);
    const auto share = [&](int stage) {
      const StageMemory& memory = report->memory->stages[static_cast<size_t>(stage)];
      const PassInterval pass = *PassTimes(simulation->stages[static_cast<size_t>(stage)]).of(memory.action);
      return (*peak_seconds(memory, step) - pass.begin) / (pass.end - pass.begin);
    };
    QVERIFY(report->memory->stages[1].peak_text.find("head") != std::string::npos);
    QVERIFY(share(1) > 0.9);
    QVERIFY(report->memory->stages[0].peak_text.find("layer 15") != std::string::npos);
    QVERIFY(share(0) < 0.1);
    // The timeline of actions agrees: the action with the largest peak has the place of the stage's peak.
    for (const StageMemory& memory : report->memory->stages) {
      const auto actions = stage_timeline(*report, memory.stage);
      const auto it = std::find_if(actions.begin(), actions.end(),
                                   [&](const ActionMemory& a) { return a.action == memory.action; });
      QCOMPARE(it->at.instance, memory.at.instance);
      QCOMPARE(it->at.op, memory.at.op);
    }
  }
  // zero_grad sets gradients to None: before the first backward of a step there are none but those in buffers
  // that are made once.
  void gradientsComeWithBackwards_data() {
    QTest::addColumn<int>("sync");
    QTest::addColumn<int>("pp");
    QTest::addColumn<bool>("always");
    QTest::newRow("Megatron's flat buffers") << static_cast<int>(SyncStrategy::DdpFlat) << 1 << true;
    QTest::newRow("distributed optimizer")
        << static_cast<int>(SyncStrategy::DistributedOptimizer) << 2 << true;
    QTest::newRow("buckets") << static_cast<int>(SyncStrategy::DdpBuckets) << 2 << false;
    QTest::newRow("fsdp1") << static_cast<int>(SyncStrategy::Fsdp1) << 1 << false;
    QTest::newRow("fsdp2") << static_cast<int>(SyncStrategy::Fsdp2) << 1 << false;
    QTest::newRow("fsdp2, stages") << static_cast<int>(SyncStrategy::Fsdp2) << 2 << false;
    QTest::newRow("zero 0") << static_cast<int>(SyncStrategy::Zero0) << 1 << false;
    QTest::newRow("zero 1") << static_cast<int>(SyncStrategy::Zero1) << 1 << false;
    QTest::newRow("zero 2") << static_cast<int>(SyncStrategy::Zero2) << 1 << false;
    QTest::newRow("zero 3") << static_cast<int>(SyncStrategy::Zero3) << 1 << true;
  }
  void gradientsComeWithBackwards() {
    QFETCH(int, sync);
    QFETCH(int, pp);
    QFETCH(bool, always);
    constexpr auto kGradients = static_cast<size_t>(MemoryCategory::Gradients);
    Design design = preset_design("llama3-8b", 1, pp, 4);
    design.parallel.sync = static_cast<SyncStrategy>(sync);
    design.workload.microbatch = 1;
    design.workload.batch = 12;
    const auto report = estimate(design);
    QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems.front()).c_str());
    const StageReport& stage = report->stages.back();
    const int64_t elements = static_cast<int64_t>(stage.parameters.value);
    const auto kept = report->memory->stages[static_cast<size_t>(stage.stage)].fixed[kGradients];
    const bool fsdp = is_fsdp(design.parallel.sync), zero2 = design.parallel.sync == SyncStrategy::Zero2,
               buckets = design.parallel.sync == SyncStrategy::DdpBuckets;
    QCOMPARE(kept, always    ? static_cast<int64_t>(stage.memory[kGradients].value)
                   : buckets ? 4 * elements
                             : int64_t{0});
    int backwards = 0;
    for (const ActionMemory& action : stage_timeline(*report, stage.stage)) {
      const int64_t before = action.begin[kGradients] - kept, after = action.end[kGradients] - kept;
      if (action.action.kind == ActionKind::Optimizer) QCOMPARE(after, int64_t{0});
      if (always || action.action.kind == ActionKind::Optimizer) {
        QVERIFY(!always || (before == 0 && after == 0));
        backwards += action.action.kind == ActionKind::Backward;
        continue;
      }
      if (backwards == 0) QCOMPARE(before, int64_t{0});
      if (action.action.kind != ActionKind::Backward) {
        QCOMPARE(before, after);
        continue;
      }
      // Whole gradients after the first backward. FSDP leaves a quarter in float32 after the last of three
      // backwards. ZeRO-2 stores the quarter from the first backward on.
      ++backwards;
      const int64_t whole = elements * (fsdp && design.parallel.sync == SyncStrategy::Fsdp2 ? 4
                                        : buckets                                           ? 4
                                                                                            : 2);
      const bool shards = zero2 || (fsdp && backwards == 3);
      const double expected = static_cast<double>(shards ? elements / 4 * (zero2 ? 2 : 4) : whole);
      QVERIFY2(std::abs(static_cast<double>(after) - expected) < 1e-3 * expected,
               qPrintable(QString("%1 %2").arg(after).arg(expected)));
      QVERIFY(action.peak[kGradients] >= (backwards > 1 ? action.begin[kGradients] : kept));
    }
    QCOMPARE(backwards, 3);
  }
  // Buffers to which gradients are added are always there, and whole gradients are gone after each backward.
  void buffersOfGradientsStay_data() {
    QTest::addColumn<bool>("fsdp");
    QTest::newRow("nanotron") << false;
    QTest::newRow("Megatron-FSDP") << true;
  }
  void buffersOfGradientsStay() {
    QFETCH(bool, fsdp);
    constexpr auto kGradients = static_cast<size_t>(MemoryCategory::Gradients);
    Design design = preset_design("llama3-8b", 1, 2, 4);
    if (fsdp)
      design.parallel.sync = SyncStrategy::MegatronFsdp;
    else
      design.workload.profile = "nanotron";
    design.workload.recompute = Recompute::Full;
    design.workload.microbatch = 1;
    design.workload.batch = 12;
    design.workload.seq = 128;
    const auto report = estimate(design);
    QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems.front()).c_str());
    const int64_t elements = static_cast<int64_t>(report->stages.front().parameters.value);
    const int64_t kept = report->memory->stages.front().fixed[kGradients];
    // nanotron: the float32 buffer, and the buckets of PyTorch's DDP. Megatron-FSDP: a quarter in float32.
    QCOMPARE(kept, fsdp ? elements : (4 + 2) * elements);
    int64_t most = 0;
    for (const ActionMemory& action : stage_timeline(*report, 0)) {
      QCOMPARE(action.begin[kGradients], kept);
      QCOMPARE(action.end[kGradients], kept);
      most = std::max(most, action.peak[kGradients] - kept);
    }
    // The bfloat16 gradients of nearly all parameters, or the float32 gradients of at most the root and a
    // layer.
    QVERIFY2(fsdp ? most > 0 && most < 2 * elements : most > elements * 9 / 5,
             qPrintable(QString::number(most)));
  }
  // A storage lives from the first op that touches it to the last one. Saved storages and the result stay. A
  // storage that only the ops of one kernel touch has no memory.
  void forwardLifetimesFollowTheirDefinition_data() { add_trace_rows(); }
  void forwardLifetimesFollowTheirDefinition() {
    const auto report = trace_report(fetched_trace_design());
    const Graph& graph = report->graph();
    const KernelProfile& profile = *ModelLibrary::instance().profile(graph.structure.profile);
    const SegmentLifetimes lifetimes(graph, profile);
    const SegmentSizes sizes = lifetimes.sizes(report->stages.front().binding);
    const CheckpointPolicy checkpoint_policy = graph.structure.recompute == Recompute::Full
                                                   ? CheckpointPolicy::Input
                                                   : CheckpointPolicy::Activations;
    for (size_t n = 0; n < graph.segments.size(); ++n) {
      const Segment& s = graph.segments[n];
      const CheckpointPolicy of = s.kind == SegmentKind::Layer ? checkpoint_policy
                                                               : CheckpointPolicy::Activations;
      std::map<StorageId, std::pair<OpId, OpId>> touched;
      for (OpId id = 0; id < s.backward_begin; ++id) {
        if (!runs(s.op(id), of)) continue;
        std::vector<TensorId> all = s.op(id).inputs;
        all.insert(all.end(), s.op(id).outputs.begin(), s.op(id).outputs.end());
        for (TensorId t : all) {
          if (s.tensor(t).role == TensorRole::Parameter || s.tensor(t).role == TensorRole::Cache) continue;
          auto [at, fresh] = touched.try_emplace(s.tensor(t).storage, id, id);
          at->second.second = id;
        }
      }
      std::vector<TensorId> ready;  // made by others before this segment begins
      if (s.input >= 0) ready.push_back(s.input);
      for (const Carried& carried : s.carried)
        if (carried.held) ready.push_back(carried.in);
      for (const TensorId t : ready) touched.try_emplace(s.tensor(t).storage, 0, 0).first->second.first = -1;
      for (const SavedStorage& saved : saved_by(s, of)) touched[saved.storage].second = s.backward_begin;
      if (s.kind != SegmentKind::Head && s.output >= 0)
        touched[s.tensor(s.output).storage].second = s.backward_begin;
      std::map<StorageId, std::set<int>> kernels;
      for (OpId id = 0; id < static_cast<OpId>(s.ops.size()); ++id)
        for (const std::vector<TensorId>& tensors : {s.op(id).inputs, s.op(id).outputs})
          for (TensorId t : tensors)
            kernels[s.tensor(t).storage].insert(s.kernel_of[static_cast<size_t>(id)]);
      for (const Carried& carried : s.carried)  // other segments read them: they are in memory
        if (carried.out >= 0) kernels[s.tensor(carried.out).storage].insert(-1);
      std::erase_if(touched, [&](const auto& entry) {
        const std::set<int>& by = kernels[entry.first];
        return by.size() == 1 && *by.begin() >= 0 && entry.second.second < s.backward_begin &&
               s.kernels[static_cast<size_t>(*by.begin())].ops.size() > 1;
      });
      int64_t most = 0;
      for (OpId id = 0; id < s.backward_begin; ++id) {
        int64_t now = runs(s.op(id), of) ? sizes.workspaces[n][static_cast<size_t>(id)] : 0;
        for (const auto& [storage, life] : touched)
          if (life.first <= id && id <= life.second) now += sizes.storages[n][static_cast<size_t>(storage)];
        most = std::max(most, now);
      }
      const SegmentMemory memory = lifetimes.memory(static_cast<int>(n), of, sizes);
      QCOMPARE(total(memory.forward.peak), most);
      int64_t kept = 0;
      std::set<StorageId> seen;
      for (const SavedStorage& saved : saved_by(s, of))
        if (seen.insert(saved.storage).second) kept += sizes.storages[n][static_cast<size_t>(saved.storage)];
      QCOMPARE(total(memory.saved), kept);
    }
  }

  void backwardsLeaveTheGradientOfTheInputAlone_data() { add_trace_rows(); }
  void backwardsLeaveTheGradientOfTheInputAlone() {
    const auto report = trace_report(fetched_trace_design());
    const Graph& graph = report->graph();
    const SegmentLifetimes lifetimes(graph, *ModelLibrary::instance().profile(graph.structure.profile));
    const SegmentSizes sizes = lifetimes.sizes(report->stages.front().binding);
    for (size_t n = 0; n < graph.segments.size(); ++n) {
      const Segment& s = graph.segments[n];
      const SegmentMemory memory = lifetimes.memory(static_cast<int>(n), CheckpointPolicy::Activations,
                                                    sizes);
      const int64_t left = s.input_grad >= 0
                               ? sizes.storages[n][static_cast<size_t>(s.tensor(s.input_grad).storage)]
                               : 0;
      QVERIFY2(total(memory.backward.end) <= left, qPrintable(QString::fromStdString(s.name)));
      QVERIFY(total(memory.backward.peak) >= total(memory.backward.begin));
      QCOMPARE(total(memory.backward.begin), total(memory.saved) + total(memory.output_grad));
    }
  }

  // A gradient that was added to another one shares its memory, and is not allocated again.
  void storagesAreAllocatedOnceAndFreedOnce_data() { add_trace_rows(); }
  void storagesAreAllocatedOnceAndFreedOnce() {
    const auto report = trace_report(fetched_trace_design());
    const Graph& graph = report->graph();
    const SegmentLifetimes lifetimes(graph, *ModelLibrary::instance().profile(graph.structure.profile));
    const SegmentSizes sizes = lifetimes.sizes(report->stages.front().binding);
    for (size_t n = 0; n < graph.segments.size(); ++n)
      for (const LayerClass of : graph.segments[n].kind == SegmentKind::Layer
                                     ? layer_classes(graph.structure)
                                     : std::vector<LayerClass>{LayerClass{}})
        for (const auto part : {SegmentLifetimes::Part::Forward, SegmentLifetimes::Part::Replay,
                                SegmentLifetimes::Part::ReplayInGroup, SegmentLifetimes::Part::Backward}) {
          std::map<StorageId, int> seen;
          int64_t now = 0, most = 0;
          const SegmentEvents all = lifetimes.events(static_cast<int>(n), of.checkpoint_policy, sizes, part);
          for (size_t i = 0; i < all.events.size(); ++i) {
            const auto& [storage, bytes] = all.events[i];
            QVERIFY2(++seen[storage] == (bytes > 0 ? 1 : 2),
                     storage < 0 ? "a workspace"
                                 : graph.segments[n].storages[static_cast<size_t>(storage)].name.c_str());
            now += bytes;
            if (i + 1 >= all.begin) most = std::max(most, now);
            if (i + 1 == all.peak) QCOMPARE(now, most);
          }
          if (part == SegmentLifetimes::Part::Backward)
            QCOMPARE(most,
                     total(lifetimes.memory(static_cast<int>(n), of.checkpoint_policy, sizes).backward.peak));
        }
  }

  void aStepEndsAsItBegan_data() { add_trace_rows(); }
  void aStepEndsAsItBegan() {
    const auto report = trace_report(fetched_trace_design());
    const auto memory = memory_timeline(*report);
    QCOMPARE(memory->stages.size(), report->stages.size());
    for (const StageMemory& stage : memory->stages) {
      const auto actions = stage_timeline(*report, stage.stage);
      QVERIFY(!actions.empty());
      QCOMPARE(actions.front().begin, stage.fixed);
      QCOMPARE(actions.back().end, stage.fixed);
      int64_t most = 0;
      for (size_t i = 0; i < actions.size(); ++i) {
        if (i > 0) QCOMPARE(actions[i].begin, actions[i - 1].end);
        QVERIFY(total(actions[i].peak) >=
                std::max(total(actions[i].begin), total(actions[i].end)) - total(actions[i].begin));
        for (int64_t bytes : actions[i].peak) QVERIFY(bytes >= 0);
        most = std::max(most, total(actions[i].peak));
      }
      QCOMPARE(most, total(stage.at_peak) - (stage.reserved - stage.allocated));
    }
  }

  void contributorsAddUp_data() { add_trace_rows(); }
  void contributorsAddUp() {
    const auto report = trace_report(fetched_trace_design());
    const auto memory = memory_timeline(*report);
    for (const StageMemory& stage : memory->stages) {
      CategoryBytes sum{};
      for (const MemoryContributor& c : stage.contributors) {
        QVERIFY2(c.bytes > 0, c.name.c_str());
        sum[static_cast<size_t>(c.category)] += c.bytes;
        // Bytes by layer, of the layers of this stage.
        int64_t by_layer = 0, before = -2;
        for (const auto& [layer, bytes] : c.layers) {
          QVERIFY2(bytes > 0 && layer > before, c.name.c_str());
          by_layer += bytes;
          before = layer;
        }
        if (!c.layers.empty()) QCOMPARE(by_layer, c.bytes);
        if (c.name.ends_with(", saved for the backward")) QVERIFY2(!c.layers.empty(), c.name.c_str());
      }
      QCOMPARE(sum, stage.at_peak);
      QCOMPARE(stage.allocated + stage.at_peak[static_cast<size_t>(MemoryCategory::Runtime)], stage.in_use);
      QCOMPARE(total(stage.at_peak), stage.in_use);
      QVERIFY(stage.reserved >= stage.allocated && stage.in_use > stage.reserved);
      QVERIFY(!stage.peak_text.empty());
      // At least the states and the saved tensors of all microbatches in flight.
      const Structure& s = report->graph().structure;
      if (s.recompute == Recompute::None)
        QVERIFY(stage.allocated >= held(*report, report->stages[static_cast<size_t>(stage.stage)]));
    }
  }

  void adviceIsWhatTheDesignsSay() {
    const auto report = make_report(preset_design("llama3-70b", 8, 2, 4));
    QVERIFY(report->valid());
    const auto memory = memory_timeline(*report);
    const auto advice = memory_advice(*report, *memory);
    QVERIFY(!advice.empty());
    bool sequence = false;
    int64_t before = INT64_MAX;
    for (const MemoryAdvice& a : advice) {
      QVERIFY(a.saved > 0 && a.saved <= before);
      before = a.saved;
      Design design = report->design;
      for (const auto& [knob, value] : a.settings) QVERIFY(!set_knob(design, *find_knob(knob), value));
      const auto then = memory_timeline(*make_report(design));
      QCOMPARE(memory->stages[static_cast<size_t>(memory->peak_stage)].in_use -
                   then->stages[static_cast<size_t>(then->peak_stage)].in_use,
               a.saved);
      QCOMPARE(then->fits, a.fits);
      sequence = sequence || a.settings.front().first == "sequence_parallel";
      QVERIFY(a.text().find("saves ") != std::string::npos);
    }
    QVERIFY(sequence);
    const auto timed = memory_advice(*report, *memory, [](const Report& r) {
      return std::optional<double>(r.design.parallel.sequence_parallel ? 2.0 : 1.0);
    });
    QVERIFY(std::any_of(timed.begin(), timed.end(),
                        [](const MemoryAdvice& a) { return a.text().ends_with(", a step 100.0 % longer"); }));
  }

  void timesOfAdviceAreWords() {
    MemoryAdvice advice{"full recomputation", {{"recompute", "full"}}, int64_t{1} << 30, true, {}};
    QCOMPARE(advice.text(), std::string("full recomputation: saves 1.00 GiB"));
    advice.time_percent = -2.14;
    QCOMPARE(advice.text(), std::string("full recomputation: saves 1.00 GiB, a step 2.1 % shorter"));
    advice.time_percent = 0.04;
    QCOMPARE(advice.text(), std::string("full recomputation: saves 1.00 GiB, the same step time"));
  }

  // Advice of selective recompute names modules that the model has. Full recompute is offered for all layers
  // and for the fewest sufficient layers.
  void adviceKnowsCheapRecomputation() {
    Design design = preset_design("llama3.1-405b", 8, 16, 16, true);
    design.parallel.sync = SyncStrategy::DistributedOptimizer;
    design.workload.batch = 512;
    design.workload.microbatch = 1;
    const auto report = make_report(design);
    QVERIFY(report->valid());
    const auto memory = memory_timeline(*report);
    QVERIFY(!memory->fits);
    int layers = 0;
    bool modules = false;
    for (const MemoryAdvice& a : memory_advice(*report, *memory)) {
      for (const auto& [knob, value] : a.settings) {
        modules = modules || (a.fits && value == "layernorm,mlp_act");
        QVERIFY2(value.find("moe") == std::string::npos, value.c_str());
        if (knob == "recompute_num_layers") layers = std::stoi(value);
      }
      QVERIFY2(a.fits || a.saved > memory->capacity / 200, a.what.c_str());
    }
    QVERIFY(modules && layers > 0);
    Design fewer = design;
    for (const auto& [knob, value] : {std::pair<const char*, std::string>{"recompute", "full"},
                                      {"recompute_method", "block"},
                                      {"recompute_num_layers", std::to_string(std::max(1, layers - 1))}})
      QVERIFY(!set_knob(fewer, *find_knob(knob), value));
    QCOMPARE(memory_timeline(*make_report(fewer))->fits, layers == 1);
  }

  // Where no single change suffices, several together; no more of them than it takes.
  void adviceAddsUpUntilTheDesignFits() {
    Design design = preset_design("llama3-70b", 8, 2, 8);
    design.workload.batch = 64;
    design.workload.microbatch = 4;
    const auto report = make_report(design);
    QVERIFY(report->valid());
    const auto memory = memory_timeline(*report);
    QVERIFY(!memory->fits);
    const auto advice = memory_advice(*report, *memory);
    QVERIFY(!advice.empty());
    const MemoryAdvice& first = advice.front();
    QVERIFY(first.fits);
    QVERIFY(first.settings.size() > 1);
    QVERIFY(std::none_of(advice.begin() + 1, advice.end(), [](const MemoryAdvice& a) { return a.fits; }));
    for (const auto& [knob, value] : first.settings) QVERIFY(!set_knob(design, *find_knob(knob), value));
    QVERIFY(memory_timeline(*make_report(design))->fits);
    for (size_t out = 0; out < first.settings.size(); ++out) {  // without any one of them it does not
      Design less = report->design;
      for (size_t i = 0; i < first.settings.size(); ++i)
        if (i != out) QVERIFY(!set_knob(less, *find_knob(first.settings[i].first), first.settings[i].second));
      QVERIFY(!memory_timeline(*make_report(less))->fits);
    }
  }

  // The pool of graphs and all other tensors have their peaks at different times. So graphs never save bytes,
  // and both peaks are at most that of a step without graphs. A captured iteration has one pool for all.
  void graphsHaveAPoolOfTheirOwn_data() { add_trace_rows(); }
  void graphsHaveAPoolOfTheirOwn() {
    Design design = fetched_trace_design();
    design.workload.cuda_graphs = CudaGraphs::None;
    const auto none = estimate(design);
    if (!trains(design)) return;
    for (const CudaGraphs graphs : {CudaGraphs::Attention, CudaGraphs::Router, CudaGraphs::AttentionRouter,
                                    CudaGraphs::Layer, CudaGraphs::Iteration}) {
      design.workload.cuda_graphs = graphs;
      if (!first_error(design).empty()) continue;
      const auto report = estimate(design);
      for (const StageMemory& memory : report->memory->stages) {
        const StageMemory& without = none->memory->stages[static_cast<size_t>(memory.stage)];
        const int64_t pool = pool_of(memory), always = total(memory.fixed) - pool;
        QVERIFY2(memory.in_use + kSegments >= without.in_use, name_of(graphs));
        QVERIFY2(memory.in_use - pool <= without.in_use + kSegments, name_of(graphs));
        QVERIFY2(pool + always <= without.in_use + kSegments, name_of(graphs));
        if (graphs == CudaGraphs::Iteration && gradient_life(report->graph()) == GradientLife::Always)
          QVERIFY(std::abs(memory.in_use - without.in_use) <= kSegments);
      }
      Report plan;
      QVERIFY(make_bound_plan(design, std::make_shared<PlanCache>(), plan));
      QCOMPARE(most_in_use(plan, {}),
               report->memory->stages[static_cast<size_t>(report->memory->peak_stage)].in_use);
    }
  }

  // 1F1B has one microbatch less in flight on every later stage: the pools differ by its saved tensors.
  void poolsGrowWithMicrobatchesInFlight() {
    Design design = preset_design("llama3-8b", 1, 4, 1);
    design.workload.microbatch = 1;
    design.workload.batch = 16;
    design.workload.cuda_graphs = CudaGraphs::Layer;
    const auto report = estimate(design);
    QVERIFY(report->valid());
    const auto& stages = report->memory->stages;
    const Segments& segments = report->graph().segments;
    int index = 0;
    while (segments[static_cast<size_t>(index)].kind != SegmentKind::Layer) ++index;
    SegmentMemories memories(*report, {}, MemoryPool::Graphs);
    const ClassKey layer{index, end_policy(segments[static_cast<size_t>(index)])};
    const int64_t saved = 8 * total(memories.of(layer).memory.saved);
    QVERIFY(saved > 0);
    for (size_t s = 1; s + 1 < stages.size(); ++s) {
      const int64_t more = pool_of(stages[s]) - pool_of(stages[s + 1]);
      QVERIFY2(std::abs(more - saved) <= kSegments, qPrintable(QString("%1 %2").arg(more).arg(saved)));
    }
    // Without graphs, logits of the last stage reuse the memory of the transient tensors of layers.
    design.workload.cuda_graphs = CudaGraphs::None;
    const auto none = estimate(design);
    QVERIFY(stages.back().in_use > none->memory->stages.back().in_use + 4 * kSegments);
    // The window and the command line name the pool.
    const auto& parts = stages.front().contributors;
    QVERIFY(std::any_of(parts.begin(), parts.end(), [](const MemoryContributor& part) {
      return part.name == "memory pool of CUDA graphs" && part.category == MemoryCategory::Activations;
    }));
  }
};

QTEST_GUILESS_MAIN(MemoryTimelineTest)
#include "memory_timeline_test.moc"
