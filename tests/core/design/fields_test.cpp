// The list of a design's fields, and the keys of caches that are selections from it. A design that differs in
// one field from a design that filled a cache has the same numbers as with an empty cache.
#include <QtTest>

#include <algorithm>
#include <map>
#include <set>

#include "design/fields.h"
#include "design/knobs/command_flags.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "memory/estimate.h"
#include "pipeline/schedule.h"
#include "report/memory_report.h"
#include "report/time_report.h"
#include "support/designs.h"
#include "support/evaluation_text.h"
#include "support/random_designs.h"
#include "support/test_share.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::string report_of(const Design& design, const std::shared_ptr<PlanCache>& cache) {
  const auto report = estimate(design, cache);
  if (!report->valid()) return report->problems.front().what;
  return with_time(estimate_json(*report), *report, *simulate(*report));
}

// Collects designs that start from presets.
class Designs {
 public:
  template <class Change>
  void operator()(const char* preset, int64_t tp, int64_t pp, int64_t dp, const Change& change) {
    Design d = preset_design(preset, tp, pp, dp);
    d.model.layers = 8;
    d.workload.batch = 16 * dp;
    d.workload.seq = 2048;
    change(d.parallel, d.workload, d);
    out.push_back(d);
  }
  std::vector<Design> out;
};

void add_layouts(Designs& add) {
  add("llama3-8b", 1, 4, 2, [](ParallelSpec& p, WorkloadSpec&, Design&) {
    p.schedule = ScheduleKind::ZbAuto;
    p.passes.times = {2, 3, 1, 1};
    p.passes.most_in_flight = 6;
  });
  add("llama3-8b", 1, 4, 2, [](ParallelSpec& p, WorkloadSpec& w, Design&) {
    p.virtual_stages = 2;
    w.batch = 8;  // as many microbatches as stages
    w.profile = "megatron-core-te";
  });
  add("llama3-8b", 1, 2, 4, [](ParallelSpec& p, WorkloadSpec& w, Design&) {
    p.schedule = ScheduleKind::Flexible;
    p.virtual_stages = 2;
    p.sync = SyncStrategy::DistributedOptimizer;
    p.overlap_grad_reduce = p.overlap_param_gather = true;
    w.recompute = Recompute::Full;
    w.recompute_method = RecomputeMethod::Block;
    w.compute = ComputePrecision::FP8;
  });
  add("gpt3-13b", 2, 2, 4, [](ParallelSpec& p, WorkloadSpec& w, Design& d) {
    p.scatter_gather_pipeline = true;
    w.recompute = Recompute::Full;
    d.model.layers = 7;
  });
  add("gpt3-small-125m", 2, 1, 8, [](ParallelSpec& p, WorkloadSpec& w, Design&) {
    p.sync = SyncStrategy::DdpBuckets;
    p.sequence_parallel = p.tp_comm_overlap = true;
    w.recompute = Recompute::Selective;
  });
  add("mistral-7b-v0.1", 1, 1, 16, [](ParallelSpec& p, WorkloadSpec& w, Design& d) {
    p.sync = SyncStrategy::Zero3;
    d.model.window = 256;
    w.microbatch = 2;
  });
  add("gpt3-13b", 1, 1, 16, [](ParallelSpec& p, WorkloadSpec&, Design&) { p.sync = SyncStrategy::Zero1; });
  add("llama3-8b", 1, 1, 16, [](ParallelSpec& p, WorkloadSpec&, Design&) {
    p.cp = 4;
    p.context = ContextMode::UlyssesRing;
    p.sync = SyncStrategy::Fsdp2;
    p.dp_shard = 4;
  });
  add("mixtral-8x7b", 2, 2, 8, [](ParallelSpec& p, WorkloadSpec& w, Design&) {
    p.ep = 8;
    p.sequence_parallel = true;
    p.virtual_stages = 2;
    p.ep_comm_overlap = true;
    w.capacity_factor = 1500;
  });
  add("gpt3-small-125m", 1, 1, 16,
      [](ParallelSpec& p, WorkloadSpec&, Design&) { p.sync = SyncStrategy::Zero3; });
  add("llama3.2-1b", 2, 1, 2, [](ParallelSpec& p, WorkloadSpec& w, Design&) {
    p.cp = 2;
    w.lora_rank = 16;
    p.sequence_parallel = p.tp_comm_overlap = true;
  });
  add("llama3-8b", 1, 1, 2,
      [](ParallelSpec&, WorkloadSpec& w, Design&) { w.compute = ComputePrecision::FP8; });
  add("llama3.2-1b", 2, 1, 2, [](ParallelSpec&, WorkloadSpec& w, Design&) { w.offload_optimizer = true; });
  add("deepseek-v3", 1, 2, 16, [](ParallelSpec& p, WorkloadSpec&, Design& d) {
    d.model.mtp_layers = 1;
    p.ep = 16;
    p.dispatcher = Dispatcher::Flex;
  });
  add("deepseek-moe-16b", 1, 1, 16, [](ParallelSpec& p, WorkloadSpec& w, Design& d) {
    p.ep = 8;
    w.profile = "megatron-core-te";
    w.seq = 256;
    d.model.layers = 4;
  });
  add("deepseek-moe-16b", 1, 1, 16, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.shared_ffn = 2816;
    d.model.layer_pattern = "dense, own*";
    d.model.variants = {{"own", "moe", {{size_row(&ModelSpec::expert_ffn), 1408}}}};
  });
}

void add_architectures(Designs& add) {
  add("llama3-8b", 2, 2, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "hyper";
    d.model.streams = 4;
  });
  add("llama3-8b", 1, 2, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "attention-residual";
    d.model.block_layers = 2;
  });
  add("deepseek-v3", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "deepseek3-sparse";
    d.model.index_heads = 64;
    d.model.index_dim = 128;
    d.model.index_top_k = 512;
  });
  add("llama3-8b", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "block-sparse";
    d.model.index_dim = 128;
    d.model.index_top_k = 4;
    d.model.index_block = 128;
  });
  add("llama3-8b", 1, 2, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "gemma4; per_layer";
    d.model.rope_head_dim = 32;
    d.model.window = 512;
    d.model.per_layer_dim = 64;
  });
  for (const char* preset : {"ring-flash-linear-2.0", "kimi-linear-48b-a3b", "deepseek-v4-flash"})
    add(preset, 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design&) {});
  add("llama4-scout-vision", 1, 1, 2,
      [](ParallelSpec&, WorkloadSpec&, Design& d) { d.model.attention_chunk = 256; });
  add("deepseek-v3", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "longcat";
    d.model.zero_experts = 256;
    d.model.experts_per_token = 12;  // also a whole share of other numbers of experts
    d.model.dense_layers = 0;
  });
  add("mamba2-hybrid-8b", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    d.model.architecture = "nemotron3; latent";
    d.model.experts = 16;
    d.model.experts_per_token = 2;
    d.model.expert_ffn = 1024;
    d.model.latent_ffn = d.model.shared_ffn = 2048;
  });
  add("mamba-1.4b", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design&) {});
  add("deepseek-v3", 1, 1, 2, [](ParallelSpec&, WorkloadSpec& w, Design&) { w.mode = Mode::Decode; });
  add("mamba-1.4b", 1, 1, 2, [](ParallelSpec&, WorkloadSpec& w, Design&) { w.mode = Mode::Decode; });
  add("llama3.2-1b", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) {
    const std::string name = d.model.preset;
    d.model = tiny_design(kGatedDelta).model;
    d.model.preset = name;
  });
  add("llama3.2-1b", 2, 1, 2, [](ParallelSpec&, WorkloadSpec& w, Design& d) {
    const std::string name = d.model.preset;
    d.model = tower_design().model;
    d.model.preset = name;
    w.images = w.frames = 2;
    w.image_size = 16;
  });
  add("llama3.2-1b", 1, 2, 2, [](ParallelSpec&, WorkloadSpec& w, Design& d) {
    const std::string name = d.model.preset;
    d.model = tower_design().model;
    d.model.preset = name;
    d.model.tied_embeddings = false;
    w.images = w.frames = 2;
    w.image_size = 16;
  });
  add("mamba2-1.3b", 1, 1, 2, [](ParallelSpec&, WorkloadSpec&, Design& d) { d.model.ssm_heads = 64; });
  add("llama3-8b", 1, 1, 512,
      [](ParallelSpec&, WorkloadSpec&, Design& d) { d.cluster.oversubscription = 4000; });
  add("llama3-8b", 4, 2, 2, [](ParallelSpec&, WorkloadSpec& w, Design& d) {
    w.mode = Mode::Decode;
    d.model.weight_formats = {{WeightRole::Up, WeightFormat::Int4G32}};
  });
}

// Designs in which, together, every field matters.
std::vector<Design> designs() {
  Designs add;
  add_layouts(add);
  add_architectures(add);
  return std::move(add.out);
}

// Designs with other values in as many fields as possible, valid or not.
std::vector<Design> others(const Design& base) {
  std::vector<Design> out;
  for (const auto& number : {+[](int64_t x) { return 2 * x; }, +[](int64_t x) { return 64 * x; },
                             +[](int64_t) { return int64_t{1536}; }, +[](int64_t x) { return x / 2; },
                             +[](int64_t x) { return x + 1; }, +[](int64_t x) { return x - 1; },
                             +[](int64_t) { return int64_t{4}; }, +[](int64_t) { return int64_t{1}; }}) {
    Design& d = out.emplace_back(base);
    const auto change = [&](const auto&, auto& value) {
      if constexpr (std::is_same_v<decltype(value), int64_t&>) value = number(value);
      if constexpr (std::is_same_v<decltype(value), bool&>) value = !value;
    };
    visit_fields(change, d);
    // A size of 0 stands for a part that the model lacks.
    const auto restore = [](const auto&, auto& value, const auto& of_base) {
      if constexpr (std::is_same_v<decltype(value), int64_t&>)
        if (value == 0 || of_base == 0) value = of_base;
    };
    visit_fields(restore, d.model, base.model);
    d.name = d.model.preset = "another";
    if (!base.model.variants.empty()) {
      d.model.layer_pattern = "dense*3, own*";
      for (auto& [row, size] : d.model.variants.front().sizes) size = number(size);
    }
    if (!base.model.weight_formats.empty())
      d.model.weight_formats = {{WeightRole::Gate, WeightFormat::MXFP4}};
    d.parallel.passes.times = {5, 1, 1, 3};
    d.parallel.stage_layers.assign(static_cast<size_t>(base.parallel.pp * base.parallel.virtual_stages), 1);
    d.parallel.stage_layers.front() += base.model.layers -
                                       static_cast<int64_t>(d.parallel.stage_layers.size());
  }
  for (const Knob& knob : knobs())
    for (const KnobChoice& choice : knob.choices)
      if (Design d = base; !set_knob(d, knob, choice.value)) out.push_back(d);
  return out;
}

// The base design with one field of another design.
Design with_field(Design base, const Design& other, std::string_view name) {
  const auto take = [&](const auto& field, auto& value, const auto& theirs) {
    if (field.name == name) value = theirs;
  };
  visit_fields(take, base, other);
  return base;
}

std::vector<std::string> field_names() {
  std::vector<std::string> out;
  const Design design;
  visit_fields([&](const auto& field, const auto&) { out.emplace_back(field.name); }, design);
  return out;
}

// Valid designs that differ from the base in this field: a few.
std::vector<Design> variants(const Design& base, const std::vector<Design>& others, const std::string& name) {
  constexpr size_t kMost = 2;
  std::vector<Design> out;
  for (const Design& other : others) {
    const Design d = with_field(base, other, name);
    if (out.size() < kMost && d != base && std::find(out.begin(), out.end(), d) == out.end() &&
        first_error(d).empty())
      out.push_back(d);
  }
  return out;
}

}  // namespace

class FieldsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void namesAreDistinct();
  void everyMemberIsListedOnce();
  void schedulesWithEqualActionsHaveOneKey();
  void numbersDoNotDependOnADesignWithAnotherField();
};

void FieldsTest::namesAreDistinct() {
  const std::vector<std::string> names = field_names();
  QCOMPARE(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

// A row for every member, by count (visit_fields), and no member in two rows.
void FieldsTest::everyMemberIsListedOnce() {
  const Design design;
  std::set<const void*> members;
  visit_fields([&](const auto&, const auto& value) { members.insert(&value); }, design);
  QCOMPARE(members.size(), field_names().size());
}

void FieldsTest::schedulesWithEqualActionsHaveOneKey() {
  const auto words = [](const ParallelSpec& parallel) {
    const CacheKey key = schedule_key(parallel);
    return std::vector<int64_t>(key.words().begin(), key.words().end());
  };
  ParallelSpec base;
  base.pp = 4;
  const auto same = [&](const auto& change) {
    ParallelSpec changed = base;
    change(changed);
    return words(changed) == words(base);
  };
  QVERIFY(same([](ParallelSpec& p) { p.tp = p.dp = 8; }));
  QVERIFY(same([](ParallelSpec& p) { p.ep_comm_overlap = true; }));  // no experts
  QVERIFY(same([](ParallelSpec& p) { p.passes.times = {1, 2, 1, 0}; }));
  QVERIFY(!same([](ParallelSpec& p) { p.pp = 8; }));
  QVERIFY(!same([](ParallelSpec& p) { p.virtual_stages = 2; }));
  QVERIFY(!same([](ParallelSpec& p) { p.forward_only = true; }));
  QVERIFY(!same([](ParallelSpec& p) { p.schedule = ScheduleKind::ZbAuto; }));
  base.schedule = ScheduleKind::ZbAuto;
  QVERIFY(!same([](ParallelSpec& p) { p.passes.times = {1, 2, 1, 0}; }));
  QVERIFY(!same([](ParallelSpec& p) { p.passes.waiting_percent = 50; }));
  base.pp = 1;
  QVERIFY(same([](ParallelSpec& p) { p.schedule = ScheduleKind::OneFOneB; }));
}

void FieldsTest::numbersDoNotDependOnADesignWithAnotherField() {
  constexpr int kEnough = 2;
  // The mode sets forward_only. The sizes of a model belong to its architecture.
  const std::set<std::string> alone_invalid{"forward_only", "architecture"}, labels{"name", "preset"};
  const EvaluationOptions options{0, true, true};
  std::map<std::string, int> visible;  // valid changes of the field that the numbers show
  int fields = 0;
  for (const Design& base : designs()) {
    QVERIFY2(first_error(base).empty(), first_error(base).c_str());
    const auto shared = std::make_shared<PlanCache>();
    Evaluator search;
    report_of(base, shared);
    const std::string found = text(search.evaluate(base, options));
    const std::vector<Design> pool = others(base);
    for (const std::string& name : field_names()) {
      if (alone_invalid.contains(name) || visible[name] >= kEnough) continue;
      if (fields++ % test_share() != 0) continue;
      for (const Design& design : variants(base, pool, name)) {
        const std::string alone = text(Evaluator().evaluate(design, options)),
                          report = report_of(design, std::make_shared<PlanCache>());
        visible[name] += alone != found;
        const QString what = QString::fromStdString(name + " differs: " + command_line(design));
        QVERIFY2(report_of(design, shared) == report, qPrintable("report, " + what));
        search.evaluate(base, options);
        QVERIFY2(text(search.evaluate(design, options)) == alone, qPrintable("search, " + what));
      }
    }
  }
  if (test_share() > 1) return;  // some fields had no turn
  // Price, power and the training run change no step.
  const auto outside_step = [](const std::string& name) {
    const Knob* knob = find_knob(name);
    return knob && knob->outside_step;
  };
  for (const std::string& name : field_names()) {
    QVERIFY2(visible[name] == 0 || !outside_step(name), name.c_str());
    QVERIFY2(visible[name] > 0 || outside_step(name) || alone_invalid.contains(name) || labels.contains(name),
             qPrintable(QString::fromStdString("no valid change matters: " + name)));
  }
}

QTEST_APPLESS_MAIN(FieldsTest)
#include "fields_test.moc"
