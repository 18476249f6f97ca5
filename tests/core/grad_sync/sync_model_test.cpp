// The step model's expressions of every gradient sync policy against the planner's numbers, and the memory of
// each policy.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QtTest>
#include <random>

#include "chakra/lower.h"
#include "grad_sync/sync_model.h"
#include "plan/report.h"
#include "support/sync_totals.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr std::array kOffered{
    SyncStrategy::DdpFlat,     SyncStrategy::DdpBuckets, SyncStrategy::DistributedOptimizer,
    SyncStrategy::Zero0,       SyncStrategy::Zero1,      SyncStrategy::Zero2,
    SyncStrategy::Zero3,       SyncStrategy::Fsdp1,      SyncStrategy::Fsdp2,
    SyncStrategy::MegatronFsdp};

Design random_design(std::mt19937& random, SyncStrategy sync) {
  const auto pick = [&](std::initializer_list<int64_t> from) {
    return *(from.begin() + std::uniform_int_distribution<size_t>(0, from.size() - 1)(random));
  };
  const char* const preset = std::array{"llama3-8b", "gpt3-175b",
                                        "mixtral-8x7b"}[static_cast<size_t>(pick({0, 1, 2}))];
  const int64_t pp = pick({1, 2, 3});
  Design d = trace_design(preset, pick({1, 2, 4, 16}), pp, pick({1, 2, 3, 5, 8}), pick({0, 1}) != 0,
                          pick({1, 2, 5}), pp + pick({0, 1, 3}));
  d.parallel.sync = sync;
  if (d.model.experts > 0) {
    d.parallel.ep = pick({1, 2, 4});
    d.parallel.etp = pick({0, 0, 1, 2});
  }
  // Without replicas the group of gradients is that of the attention's own collectives, which are not the
  // plan's.
  if (d.parallel.dp > 1) d.parallel.cp = pick({1, 1, 2, 4});
  d.parallel.overlap_grad_reduce = pick({0, 1}) != 0;
  d.model.tied_embeddings = pick({0, 1}) != 0;
  d.workload.dtype = pick({0, 1}) != 0 ? DType::BF16 : DType::FP32;
  d.workload.grad_dtype = pick({0, 1}) != 0 ? DType::BF16 : DType::FP32;
  if (pick({0, 1}) != 0) d.parallel.schedule = ScheduleKind::GPipe;
  d.parallel.reduce_every_microbatch = pick({0, 1}) != 0;
  d.parallel.reshard_after_forward = pick({0, 1}) != 0;
  if (sync == SyncStrategy::Fsdp2 || sync == SyncStrategy::MegatronFsdp)
    d.parallel.reshard_after_backward = pick({0, 1}) != 0;
  if (d.parallel.dp % 2 == 0 && pick({0, 1}) != 0 && shards_in_groups(sync)) d.parallel.dp_shard = 2;
  d.parallel.bucket_cap_mb = pick({1, 25, 400});
  d.parallel.ddp_bucket_size = pick({0, 1'000'000});
  d.parallel.zero = {pick({5'000'000, 500'000'000}),
                     pick({5'000'000, 500'000'000}),
                     pick({0, 50'000'000}),
                     pick({0, 100'000}),
                     pick({50'000'000, 1'000'000'000}),
                     pick({0, 1'000'000'000})};
  if (pick({0, 1}) != 0) d.workload.recompute = Recompute::Full;
  if (pp > 1 && pick({0, 1}) != 0) {
    d.parallel.virtual_stages = 2;
    d.parallel.schedule = ScheduleKind::OneFOneB;
    d.model.layers = 2 * pp + pick({0, 1});
    if (d.model.layers > 2 * pp) {
      d.parallel.stage_layers.assign(static_cast<size_t>(2 * pp), 1);
      d.parallel.stage_layers[1] = 2;
    }
    d.workload.batch = d.parallel.dp * pp * pick({1, 2, 7});
  }
  if (!d.model.tied_embeddings && pick({0, 0, 1}) != 0) {
    d.workload.lora_rank = 8;
    d.workload.lora_modules = LoraModules{static_cast<uint8_t>(pick({1, 15, 127}))};
  }
  if (is_megatron(sync) && d.workload.dtype == DType::BF16 && pick({0, 1}) != 0) {
    d.workload.compute = pick({0, 1}) != 0 ? ComputePrecision::FP8 : ComputePrecision::MXFP8;
    d.workload.fp8_params = true;
  }
  return d;
}

// Which phase of the step the root is gathered in depends on the pipeline schedule, so forward and backward
// are added up.
using Row = std::tuple<bool, std::string, std::string, DType>;  // inside the passes; op; group
using Rows = std::map<Row, std::pair<Wide, Wide>>;
bool in_pass(Phase phase) { return phase == Phase::Forward || phase == Phase::Backward; }

bool over_replicas(const std::string& group) { return group.starts_with("dp") || group.starts_with("edp"); }

Rows reported(const StageReport& stage) {
  Rows out;
  for (const CollectiveValue& c : stage.collectives) {
    if (!over_replicas(c.group)) continue;
    auto& [count, elements] = out[{in_pass(c.phase), std::string(c.op.name()), c.group, c.dtype}];
    count += c.count.value;
    elements += c.elements.value;
  }
  return out;
}

Rows planned(const Report& report, const StageReport& stage) {
  const Graph& graph = report.graph();
  const SyncInput input = sync_input(graph, stage.binding, stage.first, stage.last,
                                     chunk_kinds(graph, stage, report.design.model));
  const auto plan = plan_sync(input,
                              sync_policy(graph.structure, report.design.parallel, report.microbatches));
  Rows out;
  for (const auto& [key, total] : sync_totals(std::get<SyncPlan>(plan), report.microbatches)) {
    auto& [count, elements] = out[{in_pass(key.phase), std::string(collective_kind_name(key.op)), key.group,
                                   key.dtype}];
    count += total.count;
    elements += total.elements;
  }
  return out;
}

std::string text(const Rows& rows) {
  std::string out;
  for (const auto& [key, total] : rows)
    out += "\n  " + std::get<1>(key) + " " + std::get<2>(key) + " " + to_string(total.first) + " x " +
           to_string(total.second);
  return out;
}

int64_t memory(const Report& report, MemoryCategory category) {
  return static_cast<int64_t>(report.stages.front().memory[static_cast<size_t>(category)].value);
}

}  // namespace

class SyncModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void expressions_equal_the_plan_data();
  void expressions_equal_the_plan();
  void designs_equal_recordings_data();
  void designs_equal_recordings();
  void states_are_sharded();
  void units_are_gathered_two_at_a_time();
  void without_replicas_nothing_changes();
  void virtual_stages_have_their_own_buffers();
  void quantized_parameters_data();
  void quantized_parameters();
  void gathers_follow_the_schedule_data();
  void gathers_follow_the_schedule();
  void no_backward_of_a_pipeline_frees_fsdp2();
  void groups_follow_the_placement_data();
  void groups_follow_the_placement();
  void norm_and_loss_are_one_number();
  void rows_are_output_features();
  void hybrid_sharding_keeps_more();
  void instances_of_the_distributed_optimizer();
  void instances_with_experts();
  void zero_stages_shard_more_and_more();
};

void SyncModelTest::expressions_equal_the_plan_data() {
  QTest::addColumn<int>("sync");
  for (const SyncStrategy s : kOffered) QTest::addRow("%d", static_cast<int>(s)) << static_cast<int>(s);
}

void SyncModelTest::expressions_equal_the_plan() {
  QFETCH(int, sync);
  std::mt19937 random(29);
  int compared = 0;
  for (int round = 0; round < 250; ++round) {
    const auto report = make_report(random_design(random, static_cast<SyncStrategy>(sync)));
    if (!report->valid()) continue;
    for (const StageReport& stage : report->stages) {
      Rows expected = planned(*report, stage), found = reported(stage);
      // Gathers depend on the schedule, which the plan of one microbatch does not contain
      // (gathers_follow_the_schedule).
      if (report->graph().structure.stays_after_backward && report->design.parallel.pp > 1)
        for (Rows* rows : {&expected, &found})
          std::erase_if(*rows, [](const auto& row) { return std::get<1>(row.first) == "all_gather"; });
      QVERIFY2(expected == found,
               (std::to_string(round) + ": " + text(expected) + "\nagainst " + text(found)).c_str());
      compared += !expected.empty();
    }
  }
  QVERIFY(compared > 50);
}

// Whole designs against recordings, not the planner on recorded lists: order and packing of parameters come
// from blocks and profiles.
void SyncModelTest::designs_equal_recordings_data() {
  QTest::addColumn<QString>("recording");
  QTest::addColumn<int>("sync");
  QTest::addColumn<bool>("overlap");
  const auto flat = static_cast<int>(SyncStrategy::DdpFlat),
             sharded = static_cast<int>(SyncStrategy::DistributedOptimizer);
  QTest::newRow("flat buffer in buckets") << "M_llama3-8B_flash_dp8_ddp_overlap" << flat << true;
  QTest::newRow("distributed optimizer") << "M_llama3-8B_flash_dp8_distopt" << sharded << false;
  QTest::newRow("distributed optimizer in buckets")
      << "M_llama3-8B_flash_dp8_distopt_overlap" << sharded << true;
}

void SyncModelTest::designs_equal_recordings() {
  QFETCH(QString, recording);
  QFETCH(int, sync);
  QFETCH(bool, overlap);
  QFile file(QString(SHARDSCAPE_TEST_DATA "/sync/%1.json").arg(recording));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QJsonArray total = QJsonDocument::fromJson(file.readAll())["totals"][0].toArray();
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 2);
  d.parallel.sync = static_cast<SyncStrategy>(sync);
  d.parallel.overlap_grad_reduce = overlap;
  const auto report = trace_report(d);
  QString found;
  for (const CollectiveValue& c : report->stages.front().collectives)
    if (c.group == "dp" && c.phase != Phase::ParamGather)
      found += QString("%1|%2 %3 x %4")
                   .arg(QString::fromUtf8(phase_name(c.phase).data()), QString::fromUtf8(c.op.name()))
                   .arg(static_cast<int64_t>(c.count.value))
                   .arg(static_cast<int64_t>(c.elements.value));
  QCOMPARE(found, QString("%1 %2 x %3")
                      .arg(total[0].toString().section('|', 0, 1))
                      .arg(total[1].toInteger())
                      .arg(total[2].toInteger()));
}

void SyncModelTest::states_are_sharded() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  const auto whole = trace_report(d);
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  const auto states = trace_report(d);
  d.parallel.sync = SyncStrategy::Fsdp1;
  const auto all = trace_report(d);
  // All sizes are multiples of 8, so nothing is padded.
  QCOMPARE(memory(*states, MemoryCategory::Optimizer) * 8, memory(*whole, MemoryCategory::Optimizer));
  QCOMPARE(memory(*states, MemoryCategory::Parameters), memory(*whole, MemoryCategory::Parameters));
  QCOMPARE(memory(*states, MemoryCategory::Gradients), memory(*whole, MemoryCategory::Gradients));
  // 4 bytes of parameter, 4 of gradient, 8 of moments (Rajbhandari et al., arXiv 1910.02054, section 5.3),
  // over dp.
  const auto parameters = static_cast<int64_t>(whole->stages.front().parameters.value);
  QCOMPARE(memory(*all, MemoryCategory::Optimizer), parameters * 8 / 8);
  QVERIFY(memory(*all, MemoryCategory::Parameters) > parameters * 4 / 8);
}

void SyncModelTest::units_are_gathered_two_at_a_time() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  d.parallel.sync = SyncStrategy::Fsdp1;
  const auto r = trace_report(d);
  const StageSync sync = stage_sync(r->graph(), true, true, true);
  const Binding& binding = r->stages.front().binding;
  const auto number = [&](const Expr& e) {
    return static_cast<int64_t>(std::get<Wide>(evaluate(e, binding)));
  };
  QCOMPARE(sync.units.size(), size_t{2});
  const int64_t root = number(sync.units[0].full), layer = number(sync.units[1].full);
  QCOMPARE(root + 4 * layer, static_cast<int64_t>(r->stages.front().parameters.value));
  QCOMPARE(number(sync.gathered), root + 2 * layer);
  QCOMPARE(number(sync.unreduced), root + layer);
}

void SyncModelTest::without_replicas_nothing_changes() {
  Design d = trace_design("llama3-8b", 2, 1, 1, false, 2, 2);
  const auto plans = std::make_shared<PlanCache>();
  const auto plain = make_report(d, plans);
  for (const SyncStrategy s : kOffered) {
    d.parallel.sync = s;
    const auto r = make_report(d, plans);
    QVERIFY(r->model == plain->model);  // one structure
    QCOMPARE(r->problems.size(), s == SyncStrategy::DdpFlat ? size_t{0} : size_t{1});
  }
}

void SyncModelTest::quantized_parameters_data() {
  QTest::addColumn<int>("compute");
  QTest::addColumn<bool>("transposed");
  QTest::addColumn<bool>("stored");         // fp8_params
  QTest::addColumn<int>("copies");          // of a weight
  QTest::addColumn<int>("gathered_bytes");  // of an element of a weight
  const auto row = [](const char* name, ComputePrecision compute, bool transposed, bool stored, int copies,
                      int gathered_bytes) {
    QTest::newRow(name) << static_cast<int>(compute) << transposed << stored << copies << gathered_bytes;
  };
  row("FP8, parameters in bfloat16", ComputePrecision::FP8, true, false, 2, 2);
  row("FP8 parameters", ComputePrecision::FP8, true, true, 2, 1);
  row("FP8 parameters without transposed copies", ComputePrecision::FP8, false, true, 1, 1);
  row("FP8 parameters in blocks", ComputePrecision::FP8Block, true, true, 2, 1);
  row("MXFP8 parameters", ComputePrecision::MXFP8, true, true, 2, 2);
  row("MXFP8 parameters always have two copies", ComputePrecision::MXFP8, false, true, 2, 2);
}
// Layers of llama3-8b on 4 replicas: with FP8 parameters, weights have no copy in bfloat16, and the
// distributed optimizer gathers one byte of an element. Gradients stay the same.
void SyncModelTest::quantized_parameters() {
  QFETCH(int, compute);
  QFETCH(bool, transposed);
  QFETCH(bool, stored);
  QFETCH(int, copies);
  QFETCH(int, gathered_bytes);
  Design d = trace_design("llama3-8b", 1, 1, 4, false, 2, 4);
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  d.workload.dtype = DType::BF16;
  const int64_t gradients = memory(*trace_report(d), MemoryCategory::Gradients);
  d.workload.compute = static_cast<ComputePrecision>(compute);
  d.workload.transposed_weights = transposed;
  d.workload.fp8_params = stored;
  const auto r = trace_report(d);
  const ModelSpec& m = d.model;
  const int64_t weights = m.layers * m.hidden *
                          (2 * m.heads * m.head_dim + 2 * m.kv_heads * m.head_dim + 3 * m.ffn),
                all = static_cast<int64_t>(r->stages.front().parameters.value);
  const Expr quantized = Expr(copies * weights) * dtype_size(r->graph().structure.compute);
  QCOMPARE(memory(*r, MemoryCategory::Parameters),
           2 * (stored ? all - weights : all) +
               static_cast<int64_t>(std::get<Wide>(evaluate(quantized, Binding()))));
  QCOMPARE(memory(*r, MemoryCategory::Gradients), gradients);
  double bytes = 0;
  for (const CollectiveValue& c : r->stages.front().collectives)
    if (c.phase == Phase::ParamGather) bytes += to_double(c.bytes.value);
  QCOMPARE(static_cast<int64_t>(bytes), 2 * (all - weights) + gathered_bytes * weights);
}

// Megatron holds and reduces a buffer per virtual stage.
void SyncModelTest::virtual_stages_have_their_own_buffers() {
  Design d = trace_design("llama3-8b", 1, 2, 2, false, 4, 8);
  const auto reductions = [&] {
    Wide count = 0, elements = 0;
    const std::shared_ptr<const Report> report = trace_report(d);
    for (const CollectiveValue& c : report->stages.front().collectives)
      if (c.phase == Phase::GradReduce && c.group == "dp") {
        count += c.count.value;
        elements += c.elements.value;
      }
    return std::pair{static_cast<int64_t>(count), static_cast<int64_t>(elements)};
  };
  const auto one = reductions();
  d.parallel.virtual_stages = 2;
  const auto two = reductions();
  QCOMPARE(one.first, int64_t{1});
  QCOMPARE(two.first, int64_t{2});
  QCOMPARE(two.second, one.second);
}

// The forward and the backward gathers of the report are those of the trace, which follows the schedule.
void SyncModelTest::gathers_follow_the_schedule_data() {
  QTest::addColumn<int>("index");
  int i = 0;
  for (const NamedDesign& d : trace_designs()) {
    if (is_fsdp(d.design.parallel.sync)) QTest::newRow(d.name) << i;
    ++i;
  }
}

void SyncModelTest::gathers_follow_the_schedule() {
  QFETCH(int, index);
  const auto report = trace_report(trace_designs()[static_cast<size_t>(index)].design);
  const Lowering lowering(*report);
  for (const StageReport& stage : report->stages) {
    std::map<Phase, int64_t> expected, found;
    for (const CollectiveValue& c : stage.collectives)
      if (c.op == CollectiveKind::AllGather &&
          (over_replicas(c.group) || (report->design.parallel.dp == 1 && c.group == "cp")))
        expected[c.phase] += static_cast<int64_t>(c.count.value);
    const RankProgram program = lowering.stage(stage.stage, false);
    for (const TraceNode& n : program.nodes) {
      const std::string& name = program.ops[n.op].name;
      if (name.starts_with("parameters.gather"))
        ++found[name.starts_with("parameters.gather_backward") ? Phase::Backward : Phase::Forward];
    }
    QVERIFY(!found.empty());
    QVERIFY(found == expected);
  }
}

// Stage 0 runs F F B F B F B B, stage 1 F B F B F B F B. With FSDP2, a backward leaves its units gathered,
// and the next forward uses and frees them; the root stays gathered. FSDP1 frees layers after both.
void SyncModelTest::no_backward_of_a_pipeline_frees_fsdp2() {
  Design d = trace_design("llama3-8b", 1, 2, 2, false, 4, 4);
  for (const auto& [sync, expected] :
       {std::pair{SyncStrategy::Fsdp2,
                  std::array<std::array<int64_t, 2>, 2>{{{2 * 2 + 1, 2 * 3}, {2 * 1 + 1, 2 * 4}}}},
        std::pair{SyncStrategy::Fsdp1,
                  std::array<std::array<int64_t, 2>, 2>{{{2 * 4 + 3, 2 * 4 + 1}, {2 * 4 + 4, 2 * 4}}}}}) {
    d.parallel.sync = sync;
    const auto report = trace_report(d);
    for (size_t stage = 0; stage < 2; ++stage) {
      std::array<int64_t, 2> found{};
      for (const CollectiveValue& c : report->stages[stage].collectives)
        if (c.op == CollectiveKind::AllGather && over_replicas(c.group))
          found[c.phase == Phase::Forward ? 0 : 1] += static_cast<int64_t>(c.count.value);
      QCOMPARE(found[0], expected[stage][0]);
      QCOMPARE(found[1], expected[stage][1]);
    }
  }
}

// Parameters whose gradients are Partial over other axes are a group of their own, whatever the policy.
void SyncModelTest::groups_follow_the_placement_data() { expressions_equal_the_plan_data(); }
void SyncModelTest::groups_follow_the_placement() {
  QFETCH(int, sync);
  Design d = trace_design("llama3-8b", 2, 1, 3, true, 2, 3);
  d.parallel.cp = 2;
  d.parallel.sync = static_cast<SyncStrategy>(sync);
  d.parallel.zero.reduce_bucket_size = 60'000'000;
  const auto report = trace_report(d);
  Graph graph = report->graph();
  std::vector<Segment> segments(graph.segments.begin(), graph.segments.end());
  for (Segment& segment : segments)
    for (const Param& p : segment.params) {
      const std::string& name = segment.tensor(p.tensor).name;
      MeshAxes& partial = segment.tensors[static_cast<size_t>(p.gradient)].placement.partial;
      if (name.ends_with(".wg") || name.ends_with(".wu") || name.ends_with(".wd"))
        std::erase(partial, MeshAxis::Dp);
    }
  graph.segments = Segments(std::make_shared<const std::vector<Segment>>(std::move(segments)));
  const auto groups = replica_groups(graph);
  QCOMPARE(groups.size(), size_t{2});
  QVERIFY((groups[0].axes == MeshAxes{MeshAxis::Dp, MeshAxis::Cp}));
  QVERIFY((groups[1].axes == MeshAxes{MeshAxis::Cp}));
  Binding binding = report->stages.front().binding;
  const std::vector<std::vector<int>> chunks = chunk_kinds(graph, report->stages.front(),
                                                           report->design.model);
  QVERIFY(!bind_sync(binding, graph, d.parallel, true, true, chunks));
  const StageSync stage = stage_sync(graph, true, true, true);
  QVERIFY(!define(binding, stage.derived));
  const auto number = [&](const Expr& e) { return std::get<Wide>(evaluate(e, binding)); };
  Rows found, expected;
  for (const SyncRow& row : stage.rows) {
    if (number(row.count) == 0) continue;
    auto& [count, elements] = found[{in_pass(row.phase), std::string(collective_kind_name(row.op)),
                                     group_name(row.axes), row.dtype}];
    count += number(row.count);
    elements += number(row.elements);
  }
  const SyncInput input = sync_input(graph, binding, true, true, chunks);
  const auto plan = plan_sync(input, sync_policy(graph.structure, d.parallel, report->microbatches));
  for (const auto& [key, total] : sync_totals(std::get<SyncPlan>(plan), report->microbatches)) {
    auto& [count, elements] = expected[{in_pass(key.phase), std::string(collective_kind_name(key.op)),
                                        key.group, key.dtype}];
    count += total.count;
    elements += total.elements;
  }
  QVERIFY(found == expected);
  QVERIFY(std::any_of(found.begin(), found.end(),
                      [](const auto& row) { return std::get<2>(row.first) == "cp"; }));
  // Nothing is reduced twice or left out; little is padded.
  Wide reduced = 0, whole = 0;
  for (const auto& [key, total] : found)
    if (std::get<1>(key) != "all_gather") reduced += total.second;
  for (const SyncParam& p : input.params) whole += p.elements();
  const bool every = sync == static_cast<int>(SyncStrategy::Zero2) ||
                     sync == static_cast<int>(SyncStrategy::Zero3) ||
                     sync == static_cast<int>(SyncStrategy::MegatronFsdp);
  whole = whole * (every ? report->microbatches : 1);
  QVERIFY(reduced >= whole && reduced < whole + whole / 1000);
}

void SyncModelTest::norm_and_loss_are_one_number() {
  Design d = trace_design("llama3-8b", 2, 2, 2, true, 3, 4);
  d.parallel.clip_grad_norm = d.parallel.average_loss = true;
  const auto rows = [&](size_t stage, Phase phase) {
    QString out;
    const std::shared_ptr<const Report> report = trace_report(d);
    for (const CollectiveValue& c : report->stages[stage].collectives)
      if (c.phase == phase && c.elements.value == c.count.value)
        out += QString("%1 %2 of %3 x %4 ")
                   .arg(QString::fromUtf8(c.op.name()), QString::fromStdString(c.group))
                   .arg(c.group_size)
                   .arg(static_cast<int64_t>(c.count.value));
    return out;
  };
  // Replicas have equal gradients; with sharded ones each holds a part of the norm.
  QCOMPARE(rows(0, Phase::Step), QString("all_reduce pp_tp of 4 x 1 "));
  QCOMPARE(rows(1, Phase::Step), QString("all_reduce pp_tp of 4 x 1 "));
  QCOMPARE(rows(0, Phase::Forward), QString());
  QCOMPARE(rows(1, Phase::Forward), QString("all_reduce dp of 2 x 3 "));
  d.parallel.sync = SyncStrategy::Fsdp2;
  QCOMPARE(rows(0, Phase::Step), QString("all_reduce pp_dp_tp of 8 x 1 "));
}

// FSDP2 cuts rows as PyTorch lays them out, output features first, whatever order a block names its axes in.
void SyncModelTest::rows_are_output_features() {
  Design d = trace_design("llama3-8b", 1, 1, 3, false, 1, 1);
  d.parallel.sync = SyncStrategy::Fsdp2;
  const auto r = trace_report(d);
  const SyncInput input = sync_input(r->graph(), r->stages.front().binding, true, true, {{0}});
  const auto shape = [&](const char* name) {
    for (const SyncParam& p : input.params)
      if (p.name.ends_with(name)) return p.shape;
    return std::vector<int64_t>{};
  };
  QVERIFY((shape("attention.wq") == std::vector<int64_t>{6144, 4096}));  // with wk and wv
  QVERIFY((shape("attention.wo") == std::vector<int64_t>{4096, 4096}));
  QVERIFY((input.params.front().shape == std::vector<int64_t>{128256, 4096}));
}

void SyncModelTest::hybrid_sharding_keeps_more() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  d.parallel.sync = SyncStrategy::Fsdp2;
  const auto all = trace_report(d);
  d.parallel.dp_shard = 2;
  const auto pairs = trace_report(d);
  QCOMPARE(memory(*pairs, MemoryCategory::Optimizer), memory(*all, MemoryCategory::Optimizer) * 4);
  QCOMPARE(memory(*pairs, MemoryCategory::Optimizer),
           static_cast<int64_t>(all->stages.front().parameters.value) * 8 / 2);
}

// Four instances of two ranks: gradients in float32 are scattered inside, halves of them all-reduced across,
// parameters gathered inside.
void SyncModelTest::instances_of_the_distributed_optimizer() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  const auto all = trace_report(d);
  d.parallel.dp_shard = 2;
  for (const bool overlap : {false, true}) {
    d.parallel.overlap_grad_reduce = overlap;
    const auto r = trace_report(d);
    QCOMPARE(memory(*r, MemoryCategory::Optimizer), memory(*all, MemoryCategory::Optimizer) * 4);
    const auto n = static_cast<qint64>(r->stages.front().parameters.value);
    const auto bytes = [&](const char* op, const char* group, int64_t size) {
      qint64 sum = 0;
      for (const CollectiveValue& c : r->stages.front().collectives)
        if (c.op.name() == op && c.group == group && c.group_size == size)
          sum += static_cast<qint64>(c.bytes.value);
      return sum;
    };
    QCOMPARE(bytes("reduce_scatter", "dp_shard", 2), 4 * n);
    QCOMPARE(bytes("all_reduce", "dp_replicate", 4), 4 * n / 2);
    QCOMPARE(bytes("all_gather", "dp_shard", 2), 2 * n);
  }
}

// Two instances of four ranks with experts over two: a copy has each expert twice. Across instances all
// parameters share a group.
void SyncModelTest::instances_with_experts() {
  Design d = trace_design("mixtral-8x7b", 1, 1, 8, false, 1, 4);
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  d.parallel.ep = 2;
  d.parallel.clip_grad_norm = true;
  const auto all = trace_report(d);
  d.parallel.dp_shard = 4;
  for (const bool overlap : {false, true}) {
    d.parallel.overlap_grad_reduce = overlap;
    const auto r = trace_report(d);
    QCOMPARE(memory(*r, MemoryCategory::Optimizer), memory(*all, MemoryCategory::Optimizer) * 2);
    const ModelSpec& m = d.model;
    const qint64 experts = m.layers * m.experts / 2 * 3 * m.hidden * m.expert_ffn,
                 dense = static_cast<qint64>(r->stages.front().parameters.value) - experts;
    const auto bytes = [&](const char* op, const char* group, int64_t size) {
      qint64 sum = 0;
      for (const CollectiveValue& c : r->stages.front().collectives)
        if (c.op.name() == op && c.group == group && c.group_size == size && c.phase != Phase::Step)
          sum += static_cast<qint64>(c.bytes.value);
      return sum;
    };
    QCOMPARE(bytes("reduce_scatter", "dp_shard", 4), 4 * dense);
    QCOMPARE(bytes("reduce_scatter", "edp_shard", 2), 4 * experts);
    QCOMPARE(bytes("all_reduce", "dp_replicate", 2), 4 * (dense / 4 + experts / 2));
    QCOMPARE(bytes("all_gather", "dp_shard", 4), 2 * dense);
    QCOMPARE(bytes("all_gather", "edp_shard", 2), 2 * experts);
    // The norm is summed over one instance at once (Megatron-core's intra_dist_opt group).
    const auto& rows = r->stages.front().collectives;
    QCOMPARE(std::count_if(rows.begin(), rows.end(),
                           [](const CollectiveValue& c) {
                             return c.phase == Phase::Step && c.group == "dp_shard" && c.group_size == 4;
                           }),
             1);
    QCOMPARE(std::count_if(rows.begin(), rows.end(),
                           [](const CollectiveValue& c) { return c.phase == Phase::Step; }),
             1);
  }
}

// Bytes per parameter of Adam in mixed precision: 16, 4 + 12/N, 2 + 14/N, 16/N (Rajbhandari et al., arXiv
// 1910.02054, figure 1), without the reduce bucket and gathered parameters.
void SyncModelTest::zero_stages_shard_more_and_more() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  const auto bytes = [&](SyncStrategy sync, std::initializer_list<const char*> names) {
    d.parallel.sync = sync;
    const auto r = trace_report(d);
    int64_t sum = 0;
    for (const auto& category :
         {MemoryCategory::Parameters, MemoryCategory::Gradients, MemoryCategory::Optimizer})
      for (const PartValue& part : r->stages.front().parts[static_cast<size_t>(category)])
        if (std::none_of(names.begin(), names.end(),
                         [&](const char* name) { return part.name.starts_with(name); }))
          sum += static_cast<int64_t>(part.bytes.value);
    return sum;
  };
  const auto n = static_cast<int64_t>(trace_report(d)->stages.front().parameters.value);
  QCOMPARE(bytes(SyncStrategy::Zero1, {}), 4 * n + 12 * n / 8);
  QCOMPARE(bytes(SyncStrategy::Zero2, {"reduce bucket"}), 2 * n + 14 * n / 8);
  QCOMPARE(bytes(SyncStrategy::Zero3, {"reduce bucket", "gathered"}), 16 * n / 8);
}

QTEST_APPLESS_MAIN(SyncModelTest)
#include "sync_model_test.moc"
