// The export explains how a simulated step differs from the estimated step, and writes JSON that protobuf
// reads.
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bundle/simulator_facts.h"
#include "bundle/step_gap.h"
#include "chakra/lower.h"
#include "chakra/trace_json.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

namespace {

bool mentions(const std::vector<std::string>& facts, const char* words) {
  return std::any_of(facts.begin(), facts.end(),
                     [&](const std::string& fact) { return fact.find(words) != std::string::npos; });
}

}  // namespace

class StepGapTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  // Durations bring the compute of the simulated step to that of the estimated step; waits for the host do
  // not shorten it.
  void durations_close_the_gap_of_compute() {
    const StepGap roofline = gap({}), durations = gap({.durations = true}),
                  launches = gap({.durations = true, .launches = true});
    QVERIFY(roofline.simulated_compute < 0.95 * roofline.own_compute);
    // Concurrent communication slows 5 % of the estimated compute; the text names this cause.
    const double share = durations.simulated_compute / durations.own_compute;
    QVERIFY(gap_text(durations).find("without concurrent communication") != std::string::npos);
    QVERIFY2(std::abs(share - 1) < 0.06, (std::to_string(share) + " " + gap_text(durations)).c_str());
    QVERIFY(launches.simulated_compute >= durations.simulated_compute);
    QVERIFY(gap_text(roofline).find("--durations writes") != std::string::npos);
    QVERIFY(gap_text(durations).find("--durations writes") == std::string::npos);
    for (const StepGap& of : {roofline, durations, launches}) {
      QVERIFY(std::abs(of.simulated_compute + of.simulated_exposed - of.simulated_step) < 1e-12);
      QVERIFY(std::abs(of.own_compute + of.own_exposed + of.own_host - of.own_step) < 1e-9);
    }
  }

  // Kernels of a small decode are shorter than their launches.
  void launches_lengthen_small_kernels() {
    Design design = trace_design("llama3-8b", 2, 1, 1, false, 1, 4);
    design.workload.mode = Mode::Decode;
    design.workload.batch = design.workload.microbatch = 1;
    design.workload.context_length = 128;
    const auto seconds = [&](TraceTimes times) {
      const auto report = trace_report(design);
      double sum = 0;
      const RankProgram program = Lowering(*report, times).stage(0, false);
      for (const TraceNode& n : program.nodes) sum += program.ops[n.op].seconds;
      return sum;
    };
    QVERIFY(seconds(TraceTimes::Launches) >= seconds(TraceTimes::Durations));
    QVERIFY(seconds(TraceTimes::Durations) > 0);
    QCOMPARE(seconds(TraceTimes::Roofline), 0.0);
  }

  void facts_concern_the_bundle() {
    const auto two_stages = trace_report(trace_design("llama3-8b", 1, 2, 1, false, 2, 2)),
               one_stage = trace_report(trace_design("llama3-8b", 2, 1, 1, false, 1, 2));
    QVERIFY(mentions(simulator_facts(*two_stages, {}), "eager"));
    QVERIFY(!mentions(simulator_facts(*one_stage, {}), "eager"));
    QVERIFY(mentions(simulator_facts(*one_stage, {}), "134"));
    QVERIFY(!mentions(simulator_facts(*one_stage, {}), "track-local-mem"));
    QVERIFY(mentions(simulator_facts(*one_stage, {.tensors = true}), "track-local-mem"));
    QVERIFY(!mentions(simulator_facts(*one_stage, {.tensors = true}), "prints no peak"));
    Design offload = one_stage->design;
    offload.workload.offload_activations = 1;
    QVERIFY(mentions(simulator_facts(*trace_report(offload), {.tensors = true}), "prints no peak"));
    QVERIFY(!mentions(simulator_facts(*one_stage, {}), "roofline takes"));
    QVERIFY(mentions(simulator_facts(*one_stage, {.granularity = Granularity::Layer}), "roofline takes"));
    QVERIFY(mentions(simulator_facts(*one_stage, {.durations = true, .granularity = Granularity::Layer}),
                     "hide more communication"));
  }

  // A bundle that is too large for a simulation has the causes without seconds.
  void causes_without_a_simulation() {
    const auto report = trace_report(trace_design("llama3-8b", 2, 1, 1, false, 1, 4));
    const auto own = simulate(*report);
    const std::string text = gap_causes_text(step_gap(*report, {.granularity = Granularity::Pass}, *own));
    for (const char* words : {"larger of all FLOPs and all bytes", "--durations writes", "one collective"})
      QVERIFY2(text.find(words) != std::string::npos, text.c_str());
    QVERIFY(gap_causes_text(step_gap(*report, {.durations = true}, *own)).find("merged") ==
            std::string::npos);
    const auto many = trace_report(trace_design("llama3-8b", 1, 1, 2048, false, 1, 2));
    QVERIFY(mentions(simulator_facts(*many, {}), "ulimit -n 2148"));
  }

  void json_has_every_node() {
    const auto report = trace_report(trace_design("llama3-8b", 2, 1, 1, false, 1, 2));
    const auto made = export_bundle(*report, {.target = target(), .tensors = true, .json = true});
    const auto& summary = std::get<ExportSummary>(made);
    int64_t nodes = 0;
    for (const char* file : {"trace.0.json", "trace.1.json"}) {
      std::ifstream stream(target() / file);
      std::string line;
      std::getline(stream, line);
      QVERIFY(nlohmann::json::parse(line).at("version").get<std::string>() == "1.0");
      for (int64_t id = 1; std::getline(stream, line); ++id, ++nodes) {
        const nlohmann::json node = nlohmann::json::parse(line);
        QVERIFY(node.at("id").get<std::string>() ==
                std::to_string(id));  // protobuf writes 64-bit numbers as strings
        QVERIFY(node.contains("type") && node.contains("attr") && node.contains("name"));
      }
    }
    QCOMPARE(nodes, summary.nodes);
    QVERIFY(check_bundle(target()).ok());
  }

  void json_of_broken_bytes_fails_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("cut") << QByteArray("\x05\x0a\x03", 3);
    QTest::newRow("huge size") << QByteArray("\xff\xff\xff\xff\x0f\x0a", 6);
    QTest::newRow("no message") << QByteArray("\x02\xff\xff", 3);
  }
  void json_of_broken_bytes_fails() {
    QFETCH(QByteArray, bytes);
    QVERIFY_EXCEPTION_THROWN(trace_json({bytes.data(), static_cast<size_t>(bytes.size())}),
                             std::invalid_argument);
  }

 private:
  fs::path target() const { return fs::path(folder_->path().toStdString()) / "bundle"; }
  StepGap gap(ExportOptions options) {
    options.target = target();
    options.replace = true;
    const auto report = trace_report(trace_design("llama3-8b", 2, 2, 2, true, 4, 4));
    export_bundle(*report, options);
    const auto simulated = simulate_bundle(target());
    return step_gap(*report, options, *simulate(*report), std::get<SimulationReport>(simulated));
  }
  std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_GUILESS_MAIN(StepGapTest)
#include "step_gap_test.moc"
