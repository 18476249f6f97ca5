// Validation: every rule with its message, and fixes that really mend. Symbols of a design.
#include <QtTest>
#include <functional>
#include <numeric>

#include "design/knobs.h"
#include "design/validate.h"
#include "model/library.h"

using namespace shardscape;

namespace {

using Change = std::function<void(Design&)>;

std::string listing(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_string(problem) + "\n";
  return text;
}

void apply(Design& design, const Fix& fix) {
  for (const auto& [id, text] : fix.settings) {
    const Knob* knob = find_knob(id);
    QVERIFY2(knob, id.c_str());
    const auto problem = set_knob(design, *knob, text);
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
}

int64_t value(const Binding& binding, const char* symbol) { return binding.get(Symbol::intern(symbol)).value_or(-1); }

}  // namespace

Q_DECLARE_METATYPE(Change)

class ValidateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void default_is_valid();
  void good_data();
  void good();
  void rules_data();
  void rules();
  void out_of_range_data();
  void out_of_range();
  void every_violation_is_named();
  void absurd_numbers_are_answered();
  void random_designs();
  void even_layers_data();
  void even_layers();
  void symbols();
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
  QVERIFY(other.parallel == design.parallel && other.workload == design.workload && other.cluster == design.cluster);
}

void ValidateTest::good_data() {
  QTest::addColumn<Change>("change");
  const auto row = [](const char* name, Change change) { QTest::newRow(name) << change; };
  row("one rank", [](Design& d) { d.parallel = {}; });
  row("fewer KV heads than tp", [](Design& d) { d.parallel.tp = 8; d.model.kv_heads = 2; });
  row("multi-query", [](Design& d) { d.parallel.tp = 8; d.model.kv_heads = 1; });
  row("uneven layers", [](Design& d) { d.parallel.stage_layers = {17, 15}; });
  row("stages with embedding or head only", [](Design& d) { d.parallel.pp = 4; d.parallel.stage_layers = {0, 16, 16, 0}; });
  row("more stages than layers, listed", [](Design& d) {
    d.model.layers = 2;
    d.parallel.pp = 4;
    d.parallel.stage_layers = {0, 1, 1, 0};
  });
  row("GPT-3", [](Design& d) {
    apply_preset(d, "gpt3-175b");
    d.workload.seq = 2048;
    d.parallel.tp = 8;
    d.parallel.pp = 16;
    d.workload.batch = 512;
  });
  row("Llama 3.1 405B at scale", [](Design& d) {
    apply_preset(d, "llama3.1-405b");
    d.parallel.tp = 8;
    d.parallel.pp = 16;
    d.parallel.dp = 64;
    d.workload.batch = 64 * 64;
  });
  row("131,072 ranks", [](Design& d) {
    d.parallel.tp = 8;
    d.parallel.dp = 8192;
    d.workload.batch = 8192 * 4;
  });
  row("virtual stages", [](Design& d) { d.parallel.virtual_stages = 4; });
  row("uneven virtual stages", [](Design& d) { d.parallel.virtual_stages = 2; d.parallel.stage_layers = {0, 16, 15, 1}; });
  row("scattered messages", [](Design& d) { d.parallel.sequence_parallel = false; d.parallel.scatter_gather_pipeline = true; });
  row("alias of an accelerator", [](Design& d) { d.cluster.accelerator = "a100-80gb"; });
}

void ValidateTest::good() {
  QFETCH(Change, change);
  Design design = default_design();
  change(design);
  QCOMPARE(listing(validate(design)), std::string());
}

void ValidateTest::rules_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<bool>("note");
  QTest::addColumn<QString>("where");
  QTest::addColumn<QString>("what");
  QTest::addColumn<QString>("accepted");
  QTest::addColumn<int>("fixes");  // at least so many
  const auto row = [](const char* name, Change change, bool note, const char* where, const char* what, const char* accepted, int fixes) {
    QTest::newRow(name) << change << note << where << what << accepted << fixes;
  };
  const bool error = false, note = true;
  row("window without sliding layers", [](Design& d) { d.model.window = 128; }, note,
      "window", "no layer of the llama architecture slides over a window", "0", 1);
  row("heads over tp", [](Design& d) { d.model.heads = 36; d.model.kv_heads = 4; d.parallel.tp = 8; }, error,
      "tp", "36 heads do not split over tp = 8", "a divisor of 36: 1, 2, 3, 4, 6, 9, 12, 18 or 36", 1);
  row("KV heads over tp", [](Design& d) { d.model.heads = 24; d.model.kv_heads = 12; d.model.ffn = 14336; d.parallel.tp = 8; }, error,
      "tp", "12 KV heads do not split over tp = 8", "a divisor of 12", 1);
  row("KV heads copied to tp", [](Design& d) { d.model.heads = 24; d.model.kv_heads = 6; d.parallel.tp = 8; }, error,
      "tp", "6 KV heads cannot be copied evenly to tp = 8 ranks", "a divisor or a multiple of 6", 1);
  row("query heads share KV heads", [](Design& d) { d.model.kv_heads = 6; }, error,
      "kv_heads", "32 query heads cannot share 6 KV heads evenly", "a divisor of 32: 1, 2, 4, 8, 16 or 32", 2);
  row("FFN over tp", [](Design& d) { d.model.ffn = 14337; }, error,
      "tp", "an FFN size of 14,337 does not split over tp = 2", "a divisor of 14,337", 2);
  row("sequence over tp", [](Design& d) { d.workload.seq = 8191; }, error,
      "seq", "sequence parallelism cannot split 8,191 tokens over tp = 2", "a multiple of 2", 3);
  row("sequence shorter than tp", [](Design& d) { d.workload.seq = 1; }, error,
      "seq", "sequence parallelism cannot split 1 tokens over tp = 2", "a multiple of 2", 3);
  row("sequence parallelism alone", [](Design& d) { d.parallel.tp = 1; }, note,
      "sequence_parallel", "no effect without tensor parallelism", "tp of at least 2, or off", 1);
  row("more stages than layers", [](Design& d) { d.parallel.pp = 40; d.workload.batch = 128; }, error,
      "pp", "40 stages are more than 32 layers", "at most 32", 1);
  row("stages listed", [](Design& d) { d.parallel.stage_layers = {8, 8, 8, 8}; }, error,
      "stage_layers", "4 stages are listed, but pp = 2", "2 numbers that add up to 32", 2);
  row("stages listed, and too many", [](Design& d) { d.parallel.pp = 40; d.parallel.stage_layers = {32}; d.workload.batch = 128; }, error,
      "stage_layers", "1 stages are listed, but pp = 40", "40 numbers that add up to 32", 1);
  row("layers listed", [](Design& d) { d.parallel.stage_layers = {16, 15}; }, error,
      "stage_layers", "hold 31 layers, but the model has 32", "2 numbers that add up to 32", 2);
  row("absurd layers listed", [](Design& d) { d.parallel.stage_layers = {INT64_MAX, INT64_MAX}; }, error,
      "stage_layers", "stage 0 has 9,223,372,036,854,775,807 layers", "2 numbers", 1);
  row("empty middle stage", [](Design& d) { d.parallel.pp = 3; d.parallel.stage_layers = {16, 0, 16}; }, error,
      "stage_layers", "stage 1 has no layers, and neither the embedding nor the head", "each at least 1", 1);
  row("negative layers", [](Design& d) { d.parallel.stage_layers = {33, -1}; }, error,
      "stage_layers", "stage 1 has -1 layers", "each at least 1", 1);
  row("batch", [](Design& d) { d.workload.batch = 31; }, error,
      "batch", "a batch of 31 does not split into microbatch x dp = 1 x 2", "a multiple of 2", 3);
  row("batch less than replicas", [](Design& d) { d.workload.batch = 4; d.parallel.dp = 8; d.parallel.pp = 1; }, error,
      "batch", "a batch of 4 is less than one microbatch per replica", "a multiple of 8", 2);
  row("microbatch too large", [](Design& d) { d.workload.microbatch = 64; }, error,
      "batch", "microbatch x dp = 64 x 2", "a multiple of 128", 2);
  row("too many microbatches", [](Design& d) { d.workload.batch = int64_t{1} << 22; }, error,
      "batch", "2,097,152 microbatches on 2 stages", "at most 524,288 microbatches", 1);
  row("bubble", [](Design& d) { d.parallel.pp = 8; d.workload.batch = 8; }, note,
      "batch", "4 microbatches do not fill 8 stages: each idles (pp - 1) / (m + pp - 1) = 64 %", "at least pp = 8", 1);
  row("one microbatch", [](Design& d) { d.workload.batch = 2; }, note,
      "batch", "1 microbatch does not fill 2 stages", "at least pp = 2", 1);
  row("too many ranks", [](Design& d) { d.parallel.dp = 131072; d.workload.batch = 262144; }, error,
      "dp", "tp x pp x dp = 2 x 2 x 131,072 makes 524,288 ranks", "a product of at most 131,072", 1);
  row("too many ranks twice over", [](Design& d) {
        d.parallel.tp = 32;
        d.parallel.pp = 32;
        d.parallel.dp = 256;
        d.workload.batch = 256 * 32;
        d.cluster.gpus_per_node = 32;
      }, error, "dp", "makes 262,144 ranks", "a product of at most 131,072", 3);
  row("tp larger than a node", [](Design& d) { d.parallel.tp = 16; }, note,
      "tp", "tp = 16 is larger than a node of 8 GPUs", "a divisor of 8: 1, 2, 4 or 8", 1);
  row("tp across two nodes", [](Design& d) { d.model.heads = 36; d.model.kv_heads = 12; d.model.ffn = 12288; d.parallel.tp = 6; d.workload.seq = 12288; }, note,
      "tp", "tp = 6 does not divide 8 GPUs per node", "a divisor of 8", 1);
  row("tp not neighbours", [](Design& d) {
        d.parallel.dp = 8;
        d.parallel.order = {{MeshAxis::Dp, MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Pp}};
      }, note, "rank_order", "with the order dp-tp-cp-pp", "tp first, as in tp-dp-cp-pp", 1);
  row("virtual stages alone", [](Design& d) { d.parallel.pp = 1; d.parallel.virtual_stages = 2; }, error,
      "virtual_stages", "there is none (pp = 1)", "1, or pp of at least 2", 1);
  row("virtual stages under GPipe", [](Design& d) { d.parallel.virtual_stages = 2; d.parallel.schedule = ScheduleKind::GPipe; }, error,
      "virtual_stages", "2 virtual stages are interleaved 1F1B, but the schedule is GPipe", "the schedule 1f1b", 2);
  row("layers over virtual stages", [](Design& d) { d.parallel.virtual_stages = 3; }, error,
      "virtual_stages", "32 layers do not split evenly over pp x virtual stages = 2 x 3", "1, 2, 4, 8 or 16, or stage_layers with a number for each of the 6", 4);
  row("microbatches in groups", [](Design& d) { d.parallel.pp = 4; d.parallel.virtual_stages = 2; d.workload.batch = 36; }, error,
      "batch", "microbatches in groups of pp = 4, but m = B / (b dp) = 18", "m in multiples of 4", 3);
  row("fewer microbatches than stages, interleaved", [](Design& d) { d.parallel.pp = 8; d.parallel.virtual_stages = 2; d.workload.batch = 8; }, error,
      "batch", "groups of pp = 8", "m in multiples of 8", 2);
  row("batch of interleaved stages", [](Design& d) { d.parallel.pp = 4; d.parallel.virtual_stages = 2; d.workload.batch = 31; }, error,
      "batch", "a batch of 31 does not split", "a multiple of 2", 2);
  row("virtual stages listed", [](Design& d) { d.parallel.virtual_stages = 2; d.parallel.stage_layers = {16, 16}; }, error,
      "stage_layers", "2 virtual stages are listed, but pp x virtual stages = 2 x 2", "4 numbers that add up to 32", 2);
  row("empty virtual stage", [](Design& d) { d.parallel.virtual_stages = 2; d.parallel.stage_layers = {0, 16, 0, 16}; }, error,
      "stage_layers", "virtual stage 2 has no layers", "4 numbers", 1);
  row("too many microbatches, interleaved", [](Design& d) { d.parallel.virtual_stages = 2; d.workload.batch = int64_t{1} << 20; }, error,
      "batch", "524,288 microbatches on 4 virtual stages", "at most 262,144 microbatches", 1);
  row("scatter-gather alone", [](Design& d) { d.parallel.pp = 1; d.parallel.scatter_gather_pipeline = true; }, note,
      "scatter_gather_pipeline", "no effect: there are no messages between stages", "or off", 1);
  row("scatter-gather under sequence parallelism", [](Design& d) { d.parallel.sequence_parallel = true; d.parallel.scatter_gather_pipeline = true; }, note,
      "scatter_gather_pipeline", "sequence parallelism has split the messages already", "or off", 1);
  row("scatter-gather of odd messages", [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.scatter_gather_pipeline = true;
        d.workload.seq = 8191;
        d.model.hidden = 4097;
      }, error, "scatter_gather_pipeline", "b S D = 33,558,527 elements does not split over tp = 2", "off", 1);
  row("position table too short", [](Design& d) { apply_preset(d, "gpt3-175b"); d.workload.seq = 8192; }, error,
      "seq", "8,192 tokens is longer than the table of 2,048", "at most 2,048", 2);
  row("no position table", [](Design& d) { apply_preset(d, "gpt3-175b"); d.workload.seq = 8192; d.model.positions = 0; }, error,
      "seq", "longer than the table of 0", "positions of at least 8,192", 1);
  row("positions without a table", [](Design& d) { d.model.positions = 100; }, note,
      "positions", "the llama architecture has no table of learned positions", "0", 1);
  row("architecture", [](Design& d) { d.model.architecture = "perceptron"; }, error,
      "architecture", "there is no architecture \"perceptron\"", "one of ", 0);
  row("accelerator", [](Design& d) { d.cluster.accelerator = "abacus"; }, error,
      "accelerator", "\"abacus\" is not known", "one of a100-sxm-40gb, ", 1);
  row("profile", [](Design& d) { d.workload.profile = "slow"; }, error, "profile", "\"slow\" is not known", "one of ", 1);
  row("data type", [](Design& d) { d.workload.dtype = DType::Int64; }, error, "dtype", "not one of those offered", "one of bf16, fp16 or fp32", 1);
  row("checkpoints without full recompute", [](Design& d) { d.workload.distribute_saved_activations = true; }, note,
      "distribute_saved_activations", "it has no effect", "full recompute", 1);
  row("checkpoints that do not split", [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.workload.recompute = Recompute::Full;
        d.workload.distribute_saved_activations = true;
        d.workload.seq = 8191;
      }, error, "distribute_saved_activations", "checkpoints of 8,191 tokens do not split into 2 parts", "a multiple of 2", 2);
  row("sequence over cp", [](Design& d) { d.parallel.sequence_parallel = false; d.parallel.cp = 3; }, error, "seq",
      "context parallelism cannot split 8,192 tokens into 3 parts", "a multiple of 3", 2);
  row("ulysses heads", [](Design& d) { d.parallel.cp = 8; d.parallel.context = ContextMode::Ulysses; }, error, "cp",
      "Ulysses cannot spread 8 KV heads over tp x cp = 16 ranks", "divides the KV heads", 2);
  row("zigzag blocks", [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Zigzag;
        d.workload.seq = 8190;
      }, error, "seq", "a zigzag ring cannot cut 8,190 tokens into 4 blocks", "a multiple of 4", 2);
  row("zigzag blocks with ulysses inside", [](Design& d) {
        d.parallel.cp = 4;
        d.parallel.context = ContextMode::UlyssesZigzag;
        d.parallel.ulysses_degree = 1;
        d.workload.seq = 8 * 1023 + 4;
        d.parallel.sequence_parallel = false;
      }, error, "seq", "a zigzag ring cannot cut 8,188 tokens into 8 blocks", "a multiple of 8", 2);
  row("ring with a window", [](Design& d) { d.parallel.cp = 2; d.parallel.context = ContextMode::Ring; apply_preset(d, "mistral-7b-v0.1"); }, error,
      "context", "which of them a sliding window of 4,096 tokens skips is not known", "all-gather or ulysses", 2);
  row("ring of kept scores", [](Design& d) { d.parallel.cp = 2; d.parallel.context = ContextMode::Zigzag; d.workload.profile = "megatron-2022"; }, error,
      "context", "kernel profile megatron-2022 cannot be joined from the blocks of a ring", "such as flash", 2);
  row("ulysses degree off cp", [](Design& d) { d.parallel.cp = 4; d.parallel.context = ContextMode::UlyssesRing; d.parallel.ulysses_degree = 3; }, error,
      "ulysses_degree", "3 ranks do not divide cp = 4", "a divisor of 4, or 0", 1);
  row("ulysses degree off heads", [](Design& d) { d.parallel.cp = 16; d.parallel.context = ContextMode::UlyssesRing; d.parallel.ulysses_degree = 8; }, error,
      "ulysses_degree", "8 KV heads do not spread over tp x u = 16 ranks", "or 0", 1);
  row("ulysses degree without ring", [](Design& d) { d.parallel.cp = 2; d.parallel.ulysses_degree = 2; }, note,
      "ulysses_degree", "it has no effect", "or 0", 1);
}

void ValidateTest::rules() {
  QFETCH(Change, change);
  QFETCH(bool, note);
  QFETCH(QString, where);
  QFETCH(QString, what);
  QFETCH(QString, accepted);
  QFETCH(int, fixes);
  Design design = default_design();
  change(design);
  const std::vector<Problem> problems = validate(design);
  QVERIFY2(problems.size() == 1, listing(problems).c_str());
  const Problem& problem = problems.front();
  QCOMPARE(problem.severity == Severity::Note, note);
  QCOMPARE(QString::fromStdString(problem.where), where);
  QVERIFY2(QString::fromStdString(problem.what).contains(what), problem.what.c_str());
  QVERIFY2(QString::fromStdString(problem.accepted).contains(accepted), problem.accepted.c_str());
  QVERIFY2(static_cast<int>(problem.fixes.size()) >= fixes, std::to_string(problem.fixes.size()).c_str());
  for (const Fix& fix : problem.fixes) {
    Design mended = design;
    apply(mended, fix);
    QVERIFY(!(mended == design));
    const std::vector<Problem> left = validate(mended);
    QVERIFY2(!has_errors(left), (fix.label + " leaves " + listing(left)).c_str());
    for (const Problem& other : left) QVERIFY2(!note || other.where != problem.where, (fix.label + " leaves " + listing(left)).c_str());
  }
}

void ValidateTest::out_of_range_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("where");
  const auto row = [](const char* where, int64_t& (*field)(Design&)) {
    for (int64_t bad : {int64_t{0}, int64_t{-1}, INT64_MIN, int64_t{1} << 40, INT64_MAX}) {
      QTest::addRow("%s = %lld", where, static_cast<long long>(bad)) << Change([=](Design& d) { field(d) = bad; }) << where;
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
  QCOMPARE(problems[0].accepted, accepted_values(*find_knob(where.toStdString())));
  QCOMPARE(problems[0].fixes.size(), size_t{1});
  apply(design, problems[0].fixes[0]);
  for (const Problem& left : validate(design)) QVERIFY(left.what.find("is too") == std::string::npos);
}

void ValidateTest::every_violation_is_named() {
  Design design = default_design();
  design.parallel.tp = 7;
  design.workload.batch = 33;
  design.parallel.pp = 64;
  design.cluster.accelerator = "abacus";
  design.model.hidden = 0;
  const std::vector<Problem> problems = validate(design);
  QStringList where;
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::Error) where << QString::fromStdString(problem.where);
  }
  // 7 splits neither heads nor KV heads nor the sequence; it does split the FFN.
  QCOMPARE(where, (QStringList{"hidden", "accelerator", "tp", "tp", "seq", "pp", "batch"}));
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
    if (random.bounded(4) == 0) d.parallel.stage_layers = {pick({0, 1, 16}), pick({-1, 0, 1, 16}), pick({0, 1, 16})};
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
          const bool same = left.where == problem.where && left.what == problem.what;
          QVERIFY2(!same, (to_string(problem) + " is still there after " + fix.label).c_str());
        }
      }
    }
  }
  QVERIFY(valid > 50);
  QVERIFY(fixes > 1000);
}

void ValidateTest::even_layers_data() {
  QTest::addColumn<int>("layers");
  QTest::addColumn<int>("pp");
  QTest::addColumn<QList<int>>("stages");
  QTest::newRow("even") << 32 << 4 << QList<int>{8, 8, 8, 8};
  QTest::newRow("earlier stages take the rest") << 30 << 4 << QList<int>{8, 8, 7, 7};
  QTest::newRow("one each") << 3 << 3 << QList<int>{1, 1, 1};
  QTest::newRow("one stage") << 126 << 1 << QList<int>{126};
}

void ValidateTest::even_layers() {
  QFETCH(int, layers);
  QFETCH(int, pp);
  QFETCH(QList<int>, stages);
  Design design = default_design();
  design.model.layers = layers;
  design.parallel.pp = pp;
  QCOMPARE(layers_per_stage(design), std::vector<int64_t>(stages.begin(), stages.end()));
  design.parallel.stage_layers = {1, 2, 3};
  QCOMPARE(layers_per_stage(design), (std::vector<int64_t>{1, 2, 3}));
}

void ValidateTest::symbols() {
  Design design = default_design();
  design.model.vocab = 128001;
  const Binding binding = bind_symbols(design);
  const std::pair<const char*, int64_t> wanted[] = {
      {"B", 32},   {"b", 1},     {"S", 8192}, {"L", 32},    {"D", 4096}, {"H", 32}, {"G", 8},  {"E", 128}, {"F", 14336},
      {"V", 128001}, {"Smax", 1}, {"tp", 2},   {"cp", 1},   {"pp", 2},   {"dp", 2}, {"v", 1}, {"m", 16}, {"Vp", 128256}};
  for (const auto& [symbol, number] : wanted) QVERIFY2(value(binding, symbol) == number, symbol);
  QCOMPARE(binding.items().size(), std::size(wanted));
  QStringList rules;
  for (const DerivedSymbol& derived : derived_symbols(design)) rules << QString::fromStdString(derived.definition());
  QCOMPARE(rules, (QStringList{"Vp = align(V, 128·tp)", "m = floor(B/(b·dp))"}));
  design.model.window = 100000;
  QCOMPARE(value(bind_symbols(design), "We"), int64_t{8192});
  design.model.window = 4096;
  QCOMPARE(value(bind_symbols(design), "We"), int64_t{4096});
  QCOMPARE(derived_symbols(design).back().definition(), std::string("We = min(W, S)"));
  apply_preset(design, "gpt3-175b");
  QCOMPARE(value(bind_symbols(design), "Smax"), int64_t{2048});
  design.parallel.dp = 0;
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, bind_symbols(design));
}

QTEST_APPLESS_MAIN(ValidateTest)
#include "validate_test.moc"
