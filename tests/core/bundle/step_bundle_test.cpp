// Windows of engine steps as bundles: valid traces, the seconds of the run, and the work of its batches.
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <map>

#include "bundle/bundle_simulation.h"
#include "bundle/checker.h"
#include "bundle/step_bundle.h"
#include "serving/engine/step_design.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

namespace {

struct Layout {
  const char* name;
  const char* preset;
  int64_t tp = 1, pp = 1, dp = 1, ep = 1, cp = 1, dcp = 1;
  bool sequence_parallel = false;
  int64_t etp = 0;
};
const Layout kLayouts[] = {
    {.name = "tp 2", .preset = "llama3-8b", .tp = 2},
    {.name = "tp 2, sequence parallel", .preset = "llama3-8b", .tp = 2, .sequence_parallel = true},
    {.name = "two stages of tp 2", .preset = "llama3-8b", .tp = 2, .pp = 2},
    {.name = "ring", .preset = "llama3-8b", .cp = 2},
    {.name = "context over tp in decode", .preset = "llama3-8b", .tp = 4, .dcp = 2},
    {.name = "replicas share experts", .preset = "qwen3-30b-a3b", .dp = 4, .ep = 4},
    {.name = "experts over tp and dp", .preset = "qwen3-30b-a3b", .tp = 2, .dp = 2, .ep = 4, .etp = 1},
    {.name = "windows", .preset = "gpt-oss-120b", .tp = 2},
    {.name = "latent attention", .preset = "deepseek-v2-lite", .tp = 2},
};

Design design_of(const Layout& layout) {
  Design design = preset_design(layout.preset, layout.tp, layout.pp, layout.dp, layout.sequence_parallel);
  design.parallel.ep = layout.ep;
  design.parallel.etp = layout.etp;
  design.parallel.cp = layout.cp;
  if (layout.cp > 1) design.parallel.context = ContextMode::Zigzag;
  design.parallel.dcp = layout.dcp;
  design.cluster.accelerator = "h200-sxm-141gb";
  return design;
}

// Prompts of different lengths at once: the first steps have prompts, later ones both, the last ones decode.
std::shared_ptr<const ServiceRun> run_of(const Design& design, int64_t prompt = 3000) {
  ServiceSpec spec;
  spec.source.requests = 4 * design.parallel.dp;
  spec.source.arrivals = ArrivalKind::AllAtOnce;
  spec.source.input_len = prompt;
  spec.source.range_ratio = 0.3;
  spec.source.output_len = 8;
  const auto made = run_service(design, spec);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

std::shared_ptr<const StepWindow> window_of(const ServiceRun& run, const std::string& steps) {
  const auto range = read_step_range(run, 0, steps);
  if (const auto* problem = std::get_if<Problem>(&range)) qFatal("%s", to_string(*problem).c_str());
  const auto made = step_window(run, std::get<StepRange>(range));
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

// Of the compute nodes of each step.
struct Work {
  double ops = 0, attention_ops = 0;
  int64_t nodes = 0, microseconds = 0;
};
std::map<int64_t, Work> work_of(const RankProgram& program) {
  std::map<int64_t, Work> out;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const TraceOp& op = program.ops[program.nodes[i].op];
    if (op.type != chakra::NodeType::Comp) continue;
    Work& of = out[program.nodes[i].microbatch];
    of.ops += static_cast<double>(op.num_ops);
    if (op.name == "attention.o") of.attention_ops += static_cast<double>(op.num_ops);
    ++of.nodes;
    of.microseconds += program.durations[i];
  }
  return out;
}

bool near(double a, double b, double share) { return std::abs(a - b) <= share * std::abs(b); }

}  // namespace

class StepBundleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    root_ = folder_->path().toStdString();
  }

  void bundles_replay_the_run_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < static_cast<int>(std::size(kLayouts)); ++i) QTest::newRow(kLayouts[i].name) << i;
  }
  // The checker accepts prompt, mixed and decode steps together. Their replay takes the seconds of the
  // window, apart from communication, which the simulator times by itself.
  void bundles_replay_the_run() {
    QFETCH(int, index);
    const Layout& layout = kLayouts[index];
    const auto run = run_of(design_of(layout));
    const auto window = window_of(*run, ":");
    int prompts = 0, mixed = 0, decodes = 0;
    for (const WindowStep& step : window->steps())
      ++(step.prefill_tokens == 0 ? decodes : step.decode_sequences == 0 ? prompts : mixed);
    QVERIFY(prompts > 0 && mixed > 0 && decodes > 0);
    const ExportOptions options{.target = root_ / "bundle"};
    const auto result = export_bundle(*window, options);
    QVERIFY(std::holds_alternative<ExportSummary>(result));
    const CheckReport check = check_bundle(root_ / "bundle");
    QVERIFY2(check.ok() && check.findings.empty(), check_text(check).c_str());
    const auto estimate = static_cast<double>(estimate_bundle_bytes(*window, options));
    QVERIFY(near(estimate, static_cast<double>(std::get<ExportSummary>(result).bytes), 0.01));
    const auto simulated = simulate_bundle(root_ / "bundle");
    const auto& simulation = std::get<SimulationReport>(simulated);
    QVERIFY(simulation.finished);
    const double seconds = static_cast<double>(simulation.cycles()) * 1e-9, wanted = window->seconds();
    QVERIFY2(seconds > 0.8 * wanted && seconds < 1.05 * wanted,
             qPrintable(QString("%1 s instead of %2 s").arg(seconds).arg(wanted)));
  }

  // On one rank nothing but the kernels and the host takes time: each step takes its seconds.
  void steps_of_one_rank_take_their_seconds_data() {
    QTest::addColumn<QString>("preset");
    QTest::newRow("dense") << "llama3-8b";
    QTest::newRow("latent attention") << "deepseek-v2-lite";
  }
  void steps_of_one_rank_take_their_seconds() {
    QFETCH(QString, preset);
    const auto run = run_of(design_of({.name = "", .preset = preset.toUtf8()}));
    const auto window = window_of(*run, ":");
    std::map<int64_t, Work> work = work_of(window->stage(0, false));
    QCOMPARE(work.size(), window->steps().size());
    for (const WindowStep& step : window->steps()) {
      QVERIFY(step.host_seconds > 0);
      const double seconds = static_cast<double>(work[step.number].microseconds) * 1e-6;
      QVERIFY2(std::abs(seconds - step.seconds) < 2e-6 + 1e-3 * step.seconds,
               qPrintable(
                   QString("step %1: %2 s instead of %3 s").arg(step.number).arg(seconds).arg(step.seconds)));
    }
  }

  // A whole prompt has the nodes and FLOPs of its design. A chunk has the products of its queries with all
  // keys so far, and a kernel runs once in a mixed step.
  void steps_have_the_work_of_their_batches() {
    Design design = design_of({.name = "", .preset = "llama3-8b"});
    ServiceSpec spec;
    spec.source.requests = 1;
    spec.source.input_len = 4096;
    spec.source.output_len = 2;
    const auto chunked = std::get<0>(run_service(design, spec));
    std::map<int64_t, Work> chunks = work_of(window_of(*chunked, ":")->stage(0, false));
    QCOMPARE(chunks.size(), size_t{3});  // two chunks of 2,048 tokens, and the second token
    spec.engine.max_num_batched_tokens = 8192;
    const auto whole_run = std::get<0>(run_service(design, spec));
    std::map<int64_t, Work> whole = work_of(window_of(*whole_run, "0:0")->stage(0, false));
    QVERIFY(whole[0].attention_ops > 0);
    // Full products: 2,048 queries with 2,048 keys, then with 4,096.
    QVERIFY(near(4 * chunks[0].attention_ops, whole[0].attention_ops, 1e-6));
    QVERIFY(near(2 * chunks[1].attention_ops, whole[0].attention_ops, 1e-6));
    const auto report = make_report(prompt_design(design, 1, 4096));
    const Lowering lowering(*report, TraceTimes::Durations);
    std::map<int64_t, Work> own = work_of(lowering.stage(0, false));
    QVERIFY(near(whole[0].ops, own[0].ops, 1e-3));  // heads differ
    QVERIFY(near(whole[0].attention_ops, own[0].attention_ops, 1e-9));
    const auto run = run_of(design);
    std::map<int64_t, Work> steps = work_of(window_of(*run, ":")->stage(0, false));
    const auto window = window_of(*run, ":");
    for (const WindowStep& step : window->steps())
      if (step.prefill_tokens > 0) QCOMPARE(steps[step.number].nodes, whole[0].nodes);
  }

  // Idle time before a request is time of the host.
  void gaps_between_steps_are_kept() {
    ServiceSpec spec;
    spec.source.requests = 2;
    spec.source.arrivals = ArrivalKind::Constant;
    spec.source.rate = 0.5;
    spec.source.output_len = 2;
    const auto run = std::get<0>(run_service(design_of(kLayouts[0]), spec));
    const auto window = window_of(*run, ":");
    QCOMPARE(window->steps().size(), size_t{4});
    QVERIFY(window->steps()[2].host_seconds > 1.5);
    QVERIFY(std::holds_alternative<ExportSummary>(export_bundle(*window, {.target = root_ / "idle"})));
    const auto simulated = simulate_bundle(root_ / "idle");
    QVERIFY(near(static_cast<double>(std::get<SimulationReport>(simulated).cycles()) * 1e-9,
                 window->seconds(), 0.01));
  }

  // A window that begins with decode, which has no ring, and goes on with a prompt, which has one.
  void a_ring_may_begin_later() {
    ServiceSpec spec;
    spec.source.requests = 2;
    spec.source.arrivals = ArrivalKind::Constant;
    spec.source.rate = 0.5;
    spec.source.output_len = 2;
    const auto run = std::get<0>(run_service(design_of({.name = "", .preset = "llama3-8b", .cp = 4}), spec));
    const auto window = window_of(*run, "1:2");
    QCOMPARE(window->steps()[0].prefill_tokens, int64_t{0});
    QVERIFY(window->steps()[1].prefill_tokens > 0);
    QVERIFY(std::holds_alternative<ExportSummary>(export_bundle(*window, {.target = root_ / "ring"})));
    const CheckReport check = check_bundle(root_ / "ring");
    QVERIFY2(check.ok() && check.findings.empty(), check_text(check).c_str());
    QVERIFY(check.sends > 0);
  }

  void ranges_of_steps_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qlonglong>("first");
    QTest::addColumn<qlonglong>("last");  // -1: a problem
    QTest::newRow("numbers") << "1:3" << 1LL << 3LL;
    QTest::newRow("one step") << "2:2" << 2LL << 2LL;
    QTest::newRow("from the begin") << ":1" << 0LL << 1LL;
    QTest::newRow("times") << "0s:1us" << 0LL << 0LL;
    QTest::newRow("time without unit") << "0:1us" << 0LL << 0LL;
    QTest::newRow("backwards") << "3:1" << 0LL << -1LL;
    QTest::newRow("too far") << "0:100000" << 0LL << -1LL;
    QTest::newRow("no step") << "50s:60s" << 0LL << -1LL;
    QTest::newRow("one number") << "3" << 0LL << -1LL;
    QTest::newRow("words") << "a:b" << 0LL << -1LL;
    QTest::newRow("negative") << "-1:2" << 0LL << -1LL;
  }
  void ranges_of_steps() {
    QFETCH(QString, text);
    QFETCH(qlonglong, first);
    QFETCH(qlonglong, last);
    static const auto run = run_of(design_of(kLayouts[0]));
    const auto range = read_step_range(*run, 0, text.toStdString());
    QCOMPARE(std::holds_alternative<Problem>(range), last < 0);
    if (last < 0) {
      QCOMPARE(std::get<Problem>(range).code, ProblemCode::RangeInvalid);
    } else {
      const StepRange wanted{0, first, last};
      QVERIFY(std::get<StepRange>(range) == wanted);
      QCOMPARE(steps_in(*run, wanted).size(), static_cast<size_t>(last - first + 1));
    }
  }

  void stopped_exports_leave_nothing() {
    const auto run = run_of(design_of(kLayouts[0]));
    const auto window = window_of(*run, ":");
    std::stop_source stop;
    stop.request_stop();
    const auto result = export_bundle(*window, {.target = root_ / "a" / "bundle"}, {}, stop.get_token());
    QVERIFY(std::holds_alternative<Problem>(result));
    QCOMPARE(std::get<Problem>(result).code, ProblemCode::ExportStopped);
    QVERIFY(fs::is_empty(root_));
    const auto stopped = step_window(*run, {0, 0, 1}, stop.get_token());
    QVERIFY(std::holds_alternative<Problem>(stopped));
  }

 private:
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path root_;
};

QTEST_GUILESS_MAIN(StepBundleTest)
#include "step_bundle_test.moc"
