// Services with prefill and decode replicas, failures, and a number of replicas that follows the load.
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <set>

#include "design/document.h"
#include "serving/engine/kv_link.h"
#include "serving/requests/kv_transfers.h"
#include "serving/service/service.h"
#include "serving/service/setting_effects.h"
#include "serving/service/step_designs.h"
#include "support/served_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

ServiceSpec spec_of(int64_t requests, double rate) {
  ServiceSpec spec;
  spec.source.requests = requests;
  spec.source.rate = rate;
  return spec;
}

std::shared_ptr<const ServiceRun> run_of(const Design& design, const ServiceSpec& spec) {
  const auto made = run_service(design, spec);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

// What the problem of an impossible service is about.
std::string place_of_problem(const Design& design, const ServiceSpec& spec) {
  const auto made = run_service(design, spec);
  const auto* problem = std::get_if<Problem>(&made);
  return problem ? problem->where : "";
}

}  // namespace

class ServiceFleetTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Qwen3-8B from 8 to 8 H800 through 8 NICs, of which the authors count 200 GB/s per node (Mooncake,
  // docs/source/performance/vllm/vllm-v1-pd-performance.md @3b5a594): 0.54 ms for 128 tokens to 31.65 ms for
  // 32,768. The three shortest ones give the time of the connector.
  void transfers_take_the_time_of_network_and_connector() {
    Design design = engine_on("qwen3-8b", 8, "h800-sxm-80gb");
    design.cluster.nic_bandwidth = 200;
    ServiceSpec spec = spec_of(1, 1);
    spec.source.output_len = 2;
    spec.fleet.prefill_replicas = spec.fleet.decode_replicas = 1;
    spec.engine.max_model_len = 65536;
    QVERIFY(!set_setting(spec, *find_setting("kv_connector"), "mooncake"));
    const std::pair<int64_t, double> rows[] = {
        {128, 0.54e-3}, {1024, 1.50e-3}, {4096, 4.75e-3}, {16384, 16.43e-3}, {32768, 31.65e-3}};
    for (const auto& [tokens, measured] : rows) {
      spec.source.input_len = tokens;
      const double seconds = run_of(design, spec)->results.transfer.mean;
      QVERIFY2(std::abs(seconds / measured - 1) < 0.13, qPrintable(QString::number(seconds / measured)));
    }
    spec.fleet.kv_connector = KvConnectorChoice::Network;
    // A port has the rate of all ranks, and 147,456 bytes a token pass it.
    const KvLink link = kv_link(design, design);
    const double bytes = 32768.0 * 147456;
    QVERIFY(std::abs(run_of(design, spec)->results.transfer.mean - link.latency - bytes / link.send_rate) <
            1e-9);
    Design half = design;
    half.parallel.tp = 4;
    QVERIFY(std::abs(kv_link(half, design).send_rate / link.send_rate - 0.5) < 1e-9);
    QCOMPARE(kv_link(half, design).receive_rate, link.receive_rate);
  }

  // A rank posts a descriptor for each block of its layers: 64 blocks of 32 layers for 1,024 tokens. Engines
  // have their connectors.
  void connectors_add_their_time() {
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    ServiceSpec spec = spec_of(1, 1);
    spec.source.input_len = 1024;
    spec.fleet.prefill_replicas = spec.fleet.decode_replicas = 1;
    const auto transfer = [&](EngineKind engine, KvConnectorChoice connector) {
      spec.engine.engine = engine;
      spec.fleet.kv_connector = connector;
      return run_of(design, spec)->results.transfer.mean;
    };
    using C = KvConnectorChoice;
    const double network = transfer(EngineKind::Vllm, C::Network), nixl = transfer(EngineKind::Vllm, C::Nixl);
    QVERIFY(std::abs(nixl - network - 64 * 32 * kv_connector("nixl").descriptor_seconds) < 1e-9);
    QCOMPARE(transfer(EngineKind::Vllm, C::Engine), nixl);
    QVERIFY(std::abs(transfer(EngineKind::Sglang, C::Engine) - transfer(EngineKind::Sglang, C::Network) -
                     kv_connector("mooncake").transfer_seconds) < 1e-9);
    QCOMPARE(transfer(EngineKind::Trtllm, C::Engine), transfer(EngineKind::Trtllm, C::Network));
  }

  void prefill_and_decode_have_replicas_data() {
    QTest::addColumn<QString>("engine");
    for (const char* engine : kEngineIds) QTest::newRow(engine) << engine;
  }
  void prefill_and_decode_have_replicas() {
    QFETCH(QString, engine);
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    ServiceSpec spec = spec_of(60, 10);
    QVERIFY(!set_setting(spec, *find_setting("engine"), engine.toStdString()));
    QVERIFY(!set_setting(spec, *find_setting("prefill_replicas"), "2"));
    QVERIFY(!set_setting(spec, *find_setting("decode_replicas"), "1"));
    const auto run = run_of(design, spec);
    QCOMPARE(run->results.finished, int64_t{60});
    QCOMPARE(run->spec.replicas, int64_t{3});
    QCOMPARE(run->accelerators, int64_t{3});
    QCOMPARE(run->pools.size(), size_t{2});
    QCOMPARE(run->results.transfer.count, int64_t{60});
    for (const RequestRecord& request : run->simulation.requests) {
      QVERIFY(request.prefill_replica == 0 || request.prefill_replica == 1);
      QCOMPARE(request.replica, 2);
      QVERIFY(request.transfer_end <= request.first_token);
    }
    for (const StepRecord& step : run->simulation.steps)
      QVERIFY(step.replica == 2 ? step.prefill_tokens == 0 : step.decode_sequences == 0);
    QVERIFY(run->cost.dollars && *run->cost.dollars > 0);
    QCOMPARE(run->pools[0].gpu_seconds, 2 * run->simulation.seconds);
    // The settings of the run give the run again.
    QCOMPARE(run_of(design, run->spec)->results.e2e.mean, run->results.e2e.mean);
  }

  // SGLang takes blocks first. With a full decode cache, its prompts wait before the prefill, others after
  // it.
  void engines_have_their_handoff() {
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    ServiceSpec spec = spec_of(40, 100);
    spec.fleet.prefill_replicas = spec.fleet.decode_replicas = 1;
    spec.engine.num_gpu_blocks = 201;
    spec.engine.sglang.max_total_tokens = 3200;
    QVERIFY(run_of(design, spec)->results.transfer_wait.mean > 0.1);
    spec.engine.engine = EngineKind::Sglang;
    QCOMPARE(run_of(design, spec)->results.transfer_wait.mean, 0.0);
    QVERIFY(run_of(design, spec)->results.waited_for_receiver > 10);
    spec.fleet.kv_handoff = HandoffChoice::SourceFirst;
    QVERIFY(run_of(design, spec)->results.transfer_wait.mean > 0.1);
  }

  // Prefill replicas with another layout and accelerator: two A100 each, which read prompts more slowly.
  void prefill_replicas_have_their_design() {
    const QTemporaryDir folder;
    const std::string file = folder.filePath("prefill.json").toStdString();
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    QVERIFY(!save_design(engine_on("llama3-8b", 2, "a100-sxm-80gb"), file));
    ServiceSpec spec = spec_of(20, 2);
    spec.fleet.prefill_replicas = 2;
    spec.fleet.decode_replicas = 1;
    const auto same = run_of(design, spec);
    spec.fleet.prefill_design = file;
    const auto other = run_of(design, spec);
    QCOMPARE(other->accelerators, int64_t{5});
    QCOMPARE(other->pools[0].design.cluster.accelerator, std::string("a100-sxm-80gb"));
    QVERIFY(other->results.ttft.mean > same->results.ttft.mean);
    QVERIFY(other->pools[0].cache.blocks != same->pools[0].cache.blocks);
    // A step is opened as a design of its engine.
    const size_t first = other->simulation.steps.front().replica == 2 ? 1 : 0;
    const auto opened = step_designs(*other, first);
    QCOMPARE(std::get<StepDesigns>(opened).prefill->parallel.tp, int64_t{2});
    QVERIFY(!save_design(engine_on("llama3-70b", 4, "a100-sxm-80gb"), file));
    QCOMPARE(place_of_problem(design, spec), std::string("prefill_design"));
    spec.fleet.prefill_design = folder.filePath("missing.json").toStdString();
    QVERIFY(std::holds_alternative<Problem>(run_service(design, spec)));
  }

  void steps_of_prefill_replicas_have_their_tokens() {
    ServiceSpec spec = spec_of(10, 100);
    spec.source.input_len = 4000;
    spec.fleet.prefill_replicas = spec.fleet.decode_replicas = 1;
    spec.fleet.prefill_step_tokens = 500;
    const auto other = run_of(engine_on("llama3-8b", 1, "h200-sxm-141gb"), spec);
    for (const StepRecord& step : other->simulation.steps) QVERIFY(step.prefill_tokens <= 500);
  }

  // Fewer GPU-seconds and dollars than a fixed number of replicas; and never fewer than the least number.
  void replicas_that_follow_the_load_cost_less() {
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    ServiceSpec spec = spec_of(400, 4);
    spec.replicas = 4;
    const auto fixed = run_of(design, spec);
    spec.fleet.least_replicas = 1;
    spec.fleet.requests_per_replica = 4;
    spec.fleet.start_seconds = 5;
    spec.fleet.cool_down_seconds = 10;
    const auto scaled = run_of(design, spec);
    QCOMPARE(scaled->results.finished, int64_t{400});
    QVERIFY(scaled->simulation.pools[0].counts.size() > 1);
    QVERIFY(scaled->pools[0].gpu_seconds < 0.9 * fixed->pools[0].gpu_seconds);
    QVERIFY(scaled->pools[0].gpu_seconds > scaled->simulation.seconds);
    QVERIFY(*scaled->cost.dollars < *fixed->cost.dollars);
  }

  // Settings of the fleet without an effect have no step; a failure is a part of the question.
  void effects_know_the_fleet() {
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    ServiceSpec spec = spec_of(5, 10);
    const auto ids = [&] {
      std::set<std::string> out;
      const auto made = setting_effects(design, spec);
      for (const SettingEffect& effect : std::get<0>(made)->effects) out.insert(effect.setting->id);
      return out;
    };
    spec.replicas = 2;
    QVERIFY(ids().contains("router") && !ids().contains("kv_handoff") &&
            !ids().contains("requests_per_replica"));
    spec.replicas = 0;
    spec.fleet.prefill_replicas = spec.fleet.decode_replicas = 1;
    QVERIFY(ids().contains("kv_handoff") && ids().contains("kv_connector") &&
            ids().contains("decode_replicas") && !ids().contains("start_seconds"));
  }

  void failures_send_requests_again() {
    const Design design = engine_on("llama3-8b", 1, "h200-sxm-141gb");
    ServiceSpec spec = spec_of(200, 20);
    spec.replicas = 2;
    const auto before = run_of(design, spec);
    QCOMPARE(before->results.restarts, int64_t{0});
    spec.fleet.failure_time = 3;
    spec.fleet.failure_seconds = 4;
    spec.fleet.failed_replica = 1;
    const auto run = run_of(design, spec);
    QCOMPARE(run->results.finished, int64_t{200});
    QVERIFY(run->results.restarts > 0);
    QVERIFY(run->results.e2e.p99 > before->results.e2e.p99);
    spec.fleet.failed_replica = 2;
    QCOMPARE(place_of_problem(design, spec), std::string("failed_replica"));
  }

  void impossible_fleets_are_problems_data() {
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("text");
    const char* rows[][2] = {{"prefill_replicas", "-1"},    {"prefill_step_tokens", "-1"},
                             {"requests_per_replica", "0"}, {"start_seconds", "-1"},
                             {"cool_down_seconds", "-1"},   {"failure_time", "-1"},
                             {"failure_seconds", "-1"},     {"failed_replica", "-1"},
                             {"least_replicas", "-1"},      {"decode_replicas", "-1"}};
    for (const auto& [id, text] : rows) QTest::newRow(id) << id << text;
  }
  void impossible_fleets_are_problems() {
    QFETCH(QString, id);
    QFETCH(QString, text);
    ServiceSpec spec;
    QVERIFY(!set_setting(spec, *find_setting(id.toStdString()), text.toStdString()));
    const auto problem = check_spec(spec);
    QVERIFY(problem);
    QCOMPARE(problem->where, id.toStdString());
    QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
  }
  void numbers_of_replicas_fit_each_other() {
    ServiceSpec spec;
    spec.fleet.decode_replicas = 2;  // without prefill replicas
    QCOMPARE(check_spec(spec)->where, std::string("prefill_replicas"));
    spec.fleet.prefill_replicas = 1;
    QVERIFY(!check_spec(spec));
    spec.replicas = 4;
    QCOMPARE(place_of_problem(engine_on("llama3-8b", 1, "h200-sxm-141gb"), spec), std::string("replicas"));
  }
};

QTEST_APPLESS_MAIN(ServiceFleetTest)
#include "service_fleet_test.moc"
