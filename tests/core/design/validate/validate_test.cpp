// Validation: good designs, numbers out of range, and random designs. Other programs have the rules by topic.
#include <QtTest>
#include <numeric>

#include "design/knobs/knobs.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

int64_t value(const Binding& binding, const char* symbol) {
  return binding.get(Symbol::intern(symbol)).value_or(-1);
}

bool is_range(const Problem& problem) {
  return problem.code == ProblemCode::ValueTooSmall || problem.code == ProblemCode::ValueTooLarge;
}

void add_good_meshes() {
  good_row("one rank", [](Design& d) { d.parallel = {}; });
  good_row("fewer KV heads than tp", [](Design& d) {
    d.parallel.tp = 8;
    d.model.kv_heads = 2;
  });
  good_row("multi-query", [](Design& d) {
    d.parallel.tp = 8;
    d.model.kv_heads = 1;
  });
  good_row("131,072 ranks", [](Design& d) {
    d.parallel.tp = 8;
    d.parallel.dp = 8192;
    d.workload.batch = 8192 * 4;
  });
  good_row("GPT-3", [](Design& d) {
    apply_preset(d, "gpt3-175b");
    d.workload.seq = 2048;
    d.parallel.tp = 8;
    d.parallel.pp = 16;
    d.workload.batch = 512;
  });
  good_row("Llama 3.1 405B at scale", [](Design& d) {
    apply_preset(d, "llama3.1-405b");
    d.parallel.tp = 8;
    d.parallel.pp = 16;
    d.parallel.dp = 64;
    d.parallel.account_for_embedding_in_pipeline_split = d.parallel.account_for_loss_in_pipeline_split =
        true;  // 126 layers and these
    d.workload.batch = 64 * 64;
  });
  good_row("alias of an accelerator", [](Design& d) { d.cluster.accelerator = "a100-80gb"; });
}

void add_good_stages() {
  good_row("uneven layers", [](Design& d) { d.parallel.stage_layers = {17, 15}; });
  good_row("stages with embedding or head only", [](Design& d) {
    d.parallel.pp = 4;
    d.parallel.stage_layers = {0, 16, 16, 0};
  });
  good_row("more stages than layers, listed", [](Design& d) {
    d.model.layers = 2;
    d.parallel.pp = 4;
    d.parallel.stage_layers = {0, 1, 1, 0};
  });
  good_row("virtual stages", [](Design& d) { d.parallel.virtual_stages = 4; });
  good_row("uneven virtual stages", [](Design& d) {
    d.parallel.virtual_stages = 2;
    d.parallel.stage_layers = {0, 16, 15, 1};
  });
  good_row("scattered messages", [](Design& d) {
    d.parallel.sequence_parallel = false;
    d.parallel.scatter_gather_pipeline = true;
  });
}

void add_good_models() {
  good_row("experts", [](Design& d) {
    apply_preset(d, "mixtral-8x7b");
    d.parallel.ep = 2;
    d.parallel.etp = 1;
  });
  good_row("latent attention without compressed queries", [](Design& d) {
    d.model.architecture = "latent";
    d.model.kv_heads = d.model.heads;
    d.model.kv_rank = d.model.nope_head_dim = d.model.value_head_dim = 128;
    d.model.rope_head_dim = 64;
    d.model.mtp_layers = 1;
  });
  good_row("Mamba", [](Design& d) {
    apply_preset(d, "mamba-2.8b");
    d.parallel.tp = 8;
  });
  good_row("hybrid", [](Design& d) {
    apply_preset(d, "mamba2-hybrid-8b");
    d.parallel.tp = 8;
  });
  good_row("mixers under context parallelism", [](Design& d) {
    apply_preset(d, "mamba2-hybrid-8b");
    d.parallel.tp = 8;
    d.parallel.cp = 4;
  });
  good_row("groups of mixers shared over cp beside a ring", [](Design& d) {
    apply_preset(d, "mamba2-hybrid-8b");
    d.parallel.cp = 8;
    d.parallel.context = ContextMode::Ring;
  });
}

void add_good_syncs() {
  good_row("instances of the distributed optimizer", [](Design& d) {
    d.parallel.sync = SyncStrategy::DistributedOptimizer;
    d.parallel.dp = 8;
    d.parallel.dp_shard = 2;
    d.workload.batch = 64;
  });
  good_row("instances of the distributed optimizer with experts", [](Design& d) {
    apply_preset(d, "mixtral-8x7b");
    d.parallel.sync = SyncStrategy::DistributedOptimizer;
    d.parallel.dp = 8;
    d.parallel.ep = 2;
    d.parallel.dp_shard = 4;
    d.workload.batch = 64;
  });
  good_row("FSDP2 under ZB-V", [](Design& d) {
    d.parallel.sync = SyncStrategy::Fsdp2;
    d.parallel.schedule = ScheduleKind::ZbV;
    d.parallel.virtual_stages = 2;
  });
  good_row("groups of FSDP units", [](Design& d) {
    d.parallel.sync = SyncStrategy::Fsdp1;
    d.workload.recompute = Recompute::Full;
    d.workload.recompute_num_layers = 2;
  });
  good_row("hybrid sharding with virtual stages", [](Design& d) {
    d.parallel.sync = SyncStrategy::Fsdp2;
    d.parallel.dp = 8;
    d.parallel.dp_shard = 4;
    d.parallel.virtual_stages = 2;
    d.workload.batch = 64;
    d.parallel.reduce_every_microbatch = d.parallel.clip_grad_norm = d.parallel.average_loss = true;
  });
  good_row("ZeRO-3 with tensor parallelism", [](Design& d) {
    d.parallel.sync = SyncStrategy::Zero3;
    d.parallel.pp = 1;
    d.parallel.dp = 4;
  });
}

}  // namespace

class ValidateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void default_is_valid();
  void good_data();
  void good() { check_good(); }
  void out_of_range_data();
  void out_of_range();
  void every_violation_is_named();
  void absurd_numbers_are_answered();
  void random_designs();
  void gathered_weights_have_the_data_type();
};

void ValidateTest::default_is_valid() {
  const Design design = default_design();
  QCOMPARE(listing(validate(design)), std::string());
  QCOMPARE(design.world(), int64_t{8});
  QCOMPARE(design.model.preset, std::string("llama3-8b"));
  QCOMPARE(design.model.layers, int64_t{32});
  Design other = design;
  QVERIFY(!apply_preset(other, "no-such-model"));
  QVERIFY(other == design);
  QVERIFY(apply_preset(other, "llama3-70b"));
  QCOMPARE(other.model.layers, int64_t{80});
  QVERIFY(other.parallel == design.parallel && other.workload == design.workload &&
          other.cluster == design.cluster);
}

void ValidateTest::good_data() {
  add_good_columns();
  add_good_meshes();
  add_good_stages();
  add_good_models();
  add_good_syncs();
}

void ValidateTest::out_of_range_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("where");
  const auto row = [](const char* where, int64_t& (*field)(Design&)) {
    for (int64_t bad : {int64_t{0}, int64_t{-1}, INT64_MIN, int64_t{1} << 40, INT64_MAX}) {
      QTest::addRow("%s = %lld", where, static_cast<long long>(bad))
          << Change([=](Design& d) { field(d) = bad; }) << where;
    }
  };
  row("layers", [](Design& d) -> int64_t& { return d.model.layers; });
  row("hidden", [](Design& d) -> int64_t& { return d.model.hidden; });
  row("heads", [](Design& d) -> int64_t& { return d.model.heads; });
  row("kv_heads", [](Design& d) -> int64_t& { return d.model.kv_heads; });
  row("head_dim", [](Design& d) -> int64_t& { return d.model.head_dim; });
  row("ffn", [](Design& d) -> int64_t& { return d.model.ffn; });
  row("vocab", [](Design& d) -> int64_t& { return d.model.vocab; });
  row("tp", [](Design& d) -> int64_t& { return d.parallel.tp; });
  row("pp", [](Design& d) -> int64_t& { return d.parallel.pp; });
  row("dp", [](Design& d) -> int64_t& { return d.parallel.dp; });
  row("seq", [](Design& d) -> int64_t& { return d.workload.seq; });
  row("batch", [](Design& d) -> int64_t& { return d.workload.batch; });
  row("microbatch", [](Design& d) -> int64_t& { return d.workload.microbatch; });
  row("vocab_multiple", [](Design& d) -> int64_t& { return d.workload.vocab_multiple; });
  row("gpus_per_node", [](Design& d) -> int64_t& { return d.cluster.gpus_per_node; });
}

void ValidateTest::out_of_range() {
  QFETCH(Change, change);
  QFETCH(QString, where);
  Design design = default_design();
  change(design);
  const std::vector<Problem> problems = validate(design);
  QVERIFY2(problems.size() == 1, listing(problems).c_str());
  QCOMPARE(QString::fromStdString(problems[0].where), where);
  Knob shown = *find_knob(where.toStdString());
  shown.min = std::max<int64_t>(shown.min, 1);  // 0 is for models without attention or MLP
  QVERIFY(is_range(problems[0]));
  QCOMPARE(problems[0].accepted, accepted_values(shown));
  QCOMPARE(problems[0].fixes.size(), size_t{1});
  apply(design, problems[0].fixes[0]);
  for (const Problem& left : validate(design)) QVERIFY2(!is_range(left), to_string(left).c_str());
}

void ValidateTest::every_violation_is_named() {
  Design design = default_design();
  design.parallel.tp = 7;
  design.workload.batch = 33;
  design.parallel.pp = 64;
  design.cluster.accelerator = "abacus";
  design.model.hidden = 0;
  const std::vector<Problem> problems = validate(design);
  std::vector<ProblemCode> codes;
  for (const Problem& problem : problems)
    if (problem.severity == Severity::Error) codes.push_back(problem.code);
  // 7 splits neither heads nor KV heads nor the sequence; it does split the FFN.
  using enum ProblemCode;
  QVERIFY2((codes == std::vector{ValueTooSmall, UnknownChoice, HeadsIndivisibleByTp, KvHeadsIndivisibleByTp,
                                 SeqIndivisibleByTp, MoreStagesThanLayers, BatchIndivisible}),
           listing(problems).c_str());
}

void ValidateTest::absurd_numbers_are_answered() {
  Design design;  // no preset: all zero
  QVERIFY(has_errors(validate(design)));
  design = default_design();
  design.parallel.tp = design.parallel.pp = design.parallel.dp = design.parallel.cp = 131072;
  design.parallel.schedule = ScheduleKind::GPipe;
  design.workload.batch = 1;
  QVERIFY(has_errors(validate(design)));
  design.parallel.order.fastest_first.fill(MeshAxis::Tp);
  QVERIFY(has_errors(validate(design)));
  QVERIFY(layers_per_stage(design).size() == 131072);
  design.parallel.pp = INT64_MAX;
  QVERIFY(layers_per_stage(design).empty());
}

// Whatever is wrong, each fix removes its own problem; whatever is right can be bound.
void ValidateTest::random_designs() {
  QRandomGenerator random(11);
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random.bounded(static_cast<quint32>(values.size()))];
  };
  int valid = 0, fixes = 0;
  for (int i = 0; i < 4000; ++i) {
    Design d = default_design();
    if (random.bounded(3) == 0) apply_preset(d, "gpt3-175b");
    if (random.bounded(3) == 0) d.model.heads = pick({1, 12, 24, 36, 96, 0});
    if (random.bounded(3) == 0) d.model.kv_heads = pick({1, 2, 3, 6, 8, 12, 96, -1});
    if (random.bounded(5) == 0) d.model.layers = pick({1, 2, 3, 31, 126});
    if (random.bounded(5) == 0) d.model.ffn = pick({1, 1000, 12288, 11008});
    if (random.bounded(5) == 0) d.model.positions = pick({0, 1, 100, 8192});
    d.parallel = {};
    d.parallel.tp = pick({1, 1, 2, 3, 6, 8, 16, 512});
    d.parallel.pp = pick({1, 1, 2, 3, 4, 16, 200});
    d.parallel.dp = pick({1, 1, 2, 3, 64, 1024, 0});
    if (random.bounded(4) == 0) d.parallel.cp = pick({1, 2, 3, 8, 0, 1024});
    d.parallel.context = static_cast<ContextMode>(random.bounded(6));
    d.parallel.ulysses_degree = pick({0, 0, 1, 2, 3, 8});
    if (random.bounded(8) == 0) d.model.window = pick({0, 1, 100, 9000});
    if (random.bounded(8) == 0) d.workload.profile = "megatron-2022";
    d.parallel.sequence_parallel = random.bounded(2) == 1;
    if (random.bounded(3) == 0) d.parallel.virtual_stages = pick({1, 2, 3, 4, 16, 1024});
    d.parallel.scatter_gather_pipeline = random.bounded(2) == 1;
    if (random.bounded(4) == 0)
      d.parallel.stage_layers = {pick({0, 1, 16}), pick({-1, 0, 1, 16}), pick({0, 1, 16})};
    std::swap(d.parallel.order.fastest_first[0], d.parallel.order.fastest_first[random.bounded(4u)]);
    d.workload.seq = pick({1, 7, 100, 2048, 8192});
    d.workload.batch = pick({1, 2, 7, 32, 1024, 1 << 23});
    d.workload.microbatch = pick({1, 1, 2, 3, 64});
    d.cluster.gpus_per_node = pick({1, 4, 8, 12});
    const std::vector<Problem> problems = validate(d);
    if (!has_errors(problems)) {
      ++valid;
      QCOMPARE(value(bind_symbols(d), "m") * d.workload.microbatch * d.parallel.dp, d.workload.batch);
      const std::vector<int64_t> layers = layers_per_stage(d);
      QCOMPARE(static_cast<int64_t>(layers.size()), d.parallel.pp);
      QCOMPARE(std::accumulate(layers.begin(), layers.end(), int64_t{0}), d.model.layers);
    }
    for (const Problem& problem : problems) {
      for (const Fix& fix : problem.fixes) {
        ++fixes;
        Design mended = d;
        apply(mended, fix);
        for (const Problem& left : validate(mended)) {
          const bool same = left.code == problem.code && left.where == problem.where &&
                            left.what == problem.what;
          QVERIFY2(!same, (to_string(problem) + " is still there after " + fix.label).c_str());
        }
      }
    }
  }
  QVERIFY(valid > 50);
  QVERIFY(fixes > 1000);
}

// Four bytes of a float32 weight split over four ranks, two bytes of a bfloat16 weight do not.
void ValidateTest::gathered_weights_have_the_data_type() {
  for (const char* type : {"bf16", "fp32"}) {
    Design design = default_design();
    apply_preset(design, "mixtral-8x7b");
    design.parallel = {};
    for (const char* setting :
         {"mode=decode", "dp=4", "tp=4", "ep=4", "etp=1", "dispatcher=allgather", "experts_per_token=1",
          "profile=megatron-core-te", "seq=4096", "batch=4", "microbatch=1"}) {
      const std::string text = setting;
      const size_t at = text.find('=');
      QVERIFY(!set_knob(design, *find_knob(text.substr(0, at)), text.substr(at + 1)));
    }
    QVERIFY(!set_knob(design, *find_knob("dtype"), type));
    const std::vector<Problem> problems = validate(design);
    QVERIFY2(has_errors(problems) == (type == std::string("bf16")), listing(problems).c_str());
  }
}

QTEST_APPLESS_MAIN(ValidateTest)
#include "validate_test.moc"
