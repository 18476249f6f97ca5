// Seconds of mixtures of experts, apart from GEMMs: exchanges that hide each other, packing kernels, biases.
#include <QtTest>

#include <cmath>
#include <numeric>
#include <tuple>

#include "memory/estimate.h"
#include "performance/op_time.h"
#include "performance/reached_experts.h"
#include "support/trace_designs.h"
#include "timing/machine_of.h"
#include "timing/op_seconds.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

double seconds_in(const StageTimes& stage, TimeCategory category) {
  return stage.seconds[static_cast<size_t>(category)];
}

}  // namespace

class ExpertTimeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void exchangesInPairs();
  void exchangesArePacked();
  void lastBiasOfExperts();
  void decodeReadsReachedExperts();
  void sharedExpertsRunNextToRoutedOnes();
  void sharedExpertsHideExchanges_data();
  void sharedExpertsHideExchanges();
};

// Training: shared experts hide as much of the exchanges as both take, and with processors taken by the
// exchanges they are slower.
void ExpertTimeTest::sharedExpertsHideExchanges_data() {
  QTest::addColumn<Dispatcher>("dispatcher");
  QTest::newRow("alltoall") << Dispatcher::AllToAll;
  QTest::newRow("flex") << Dispatcher::Flex;
}

void ExpertTimeTest::sharedExpertsHideExchanges() {
  QFETCH(Dispatcher, dispatcher);
  Design d = preset_design("deepseek-moe-16b", 1, 1, 16);
  d.model.layers = 4;
  d.workload.seq = 2048;
  d.workload.batch = 32;
  d.parallel.ep = 16;
  d.parallel.dispatcher = dispatcher;
  const auto stage = [&](bool overlap, int64_t processors) {
    d.parallel.shared_expert_overlap = overlap;
    d.parallel.dispatch_sms = processors;
    return simulate(*make_report(d))->stages[0];
  };
  const StageTimes alone = stage(false, 20), free = stage(true, 0), taken = stage(true, 20);
  const auto total = [](const StageTimes& times) {
    return std::accumulate(times.seconds.begin(), times.seconds.end(), 0.0);
  };
  const double hidden = seconds_in(alone, TimeCategory::ExpertComm) -
                        seconds_in(free, TimeCategory::ExpertComm);
  QVERIFY(hidden > 0);
  QVERIFY(std::abs(total(alone) - total(free) - hidden) < 1e-9 * total(alone));
  QVERIFY(std::abs(seconds_in(alone, TimeCategory::MatrixProducts) -
                   seconds_in(free, TimeCategory::MatrixProducts)) < 1e-9 * total(alone));
  QVERIFY(seconds_in(taken, TimeCategory::MatrixProducts) > seconds_in(free, TimeCategory::MatrixProducts));
  QVERIFY(total(taken) > (1 - 1e-9) * total(free) && total(taken) < total(alone));
}

// If a rank has several experts, a kernel packs their slots: after the dispatch, before the combine, and at
// the same places of the backward.
void ExpertTimeTest::exchangesArePacked() {
  Design d = trace_design("mixtral-8x7b", 1, 1, 8, false, 2, 2);
  const auto packing = [&](int64_t ep, Dispatcher dispatcher) {
    d.parallel.ep = ep;
    d.parallel.dispatcher = dispatcher;
    const auto report = make_report(d);
    const OpSeconds seconds = op_seconds(*report, machine_of(d));
    double out = 0;
    int exchanges = 0;
    for (size_t id = 0; id < seconds.ops[1].size(); ++id) {
      const Op& op = report->graph().segments[1].ops[id];
      if (op.kind != OpKind::AllToAll) continue;
      ++exchanges;
      const OpTime& time = seconds.ops[1][id];
      if (!is_communication(time.category)) out += time.seconds - time.exposed;
      const Tensor& sent = report->graph().segments[1].tensor(op.inputs[0]);
      if (!is_communication(time.category))
        out -= memory_bound_seconds(machine_of(d),
                                    2 * number(local_bytes(sent), report->stages.front().binding));
    }
    return std::pair{exchanges, out};
  };
  for (const auto& [ep, dispatcher, packs] : {std::tuple{int64_t{4}, Dispatcher::AllToAll, true},
                                              {int64_t{8}, Dispatcher::AllToAll, false},
                                              {int64_t{4}, Dispatcher::Flex, false}}) {
    const auto [exchanges, left] = packing(ep, dispatcher);
    QCOMPARE(exchanges, 4);
    QVERIFY(std::abs(left) < 1e-12);  // each exchange has one pass over its bytes, or none
    const auto report = make_report(d);
    const OpSeconds seconds = op_seconds(*report, machine_of(d));
    int packed = 0;
    for (size_t id = 0; id < seconds.ops[1].size(); ++id)
      packed += report->graph().segments[1].ops[id].kind == OpKind::AllToAll &&
                seconds.ops[1][id].category == TimeCategory::MemoryBound;
    QCOMPARE(packed, packs ? 4 : 0);
  }
}

// Megatron-core adds the last bias of experts in separate float32 kernels. Other code bases fuse it into the
// GEMM.
void ExpertTimeTest::lastBiasOfExperts() {
  Design d = trace_design("gpt-oss-20b", 1, 1, 4, false, 2, 2);
  d.parallel.ep = 4;
  const auto seconds = [&](const char* profile) {
    d.workload.profile = profile;
    const auto report = make_report(d);
    if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
    const OpSeconds all = op_seconds(*report, machine_of(d));
    std::pair<double, double> out;
    const Segment& layer = report->graph().segments[1];
    for (size_t id = 0; id < layer.ops.size(); ++id)
      if (layer.ops[id].name.ends_with(".ys"))
        out.first += all.ops[1][id].seconds;
      else if (layer.ops[id].name.ends_with(".ys.grad_w"))
        out.second += all.ops[1][id].seconds;
    return out;
  };
  const auto [in_product, summed] = seconds("flash");
  const auto [added, differentiated] = seconds("megatron-core-te");
  QCOMPARE(in_product, 0.0);
  QVERIFY(added > 0);
  QVERIFY(summed > 0 && differentiated > 5 * summed);
}

// The GEMMs of experts in decode take the time of the experts that the tokens of all ranks reach.
void ExpertTimeTest::decodeReadsReachedExperts() {
  Design d = preset_design("deepseek-v3", 8, 1, 1);
  d.workload.mode = Mode::Decode;
  d.workload.context_length = 1024;
  d.workload.batch = d.workload.microbatch = 8;
  d.cluster.accelerator = "h200-sxm-141gb";
  const auto check = [&](int64_t local, int64_t width) {
    const auto report = make_report(d);
    if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
    const Machine machine = machine_of(d);
    const OpSeconds seconds = op_seconds(*report, machine);
    const auto reached = static_cast<int64_t>(std::llround(reached_experts(8, 256, 8, local)));
    const int64_t rows = 64 * local / 256;
    int found = 0;
    for (size_t s = 0; s < seconds.ops.size(); ++s) {
      const Segment& segment = report->graph().segments[s];
      for (size_t id = 0; id < segment.ops.size(); ++id) {
        const Op& op = segment.ops[id];
        if (op.kind != OpKind::Einsum || segment.tensor(op.inputs[1]).axes.front() != Axis::Experts ||
            segment.tensor(op.outputs[0]).axes.back() != Axis::Hidden)
          continue;
        ++found;
        const MatmulShape shape{reached, (rows + reached - 1) / reached, 7168, width};
        QCOMPARE(seconds.ops[s][id].seconds, expert_matmul_seconds(machine, shape));
      }
    }
    QCOMPARE(found, 1);
  };
  check(256, 256);
  d.parallel.ep = 8;
  d.parallel.etp = 1;
  d.parallel.dispatcher = Dispatcher::AllGather;
  check(32, 2048);
}

// Engines run shared experts on a stream of their own: launches overlap with the routed experts, FLOPs and
// bytes do not. Other profiles run them in turn.
void ExpertTimeTest::sharedExpertsRunNextToRoutedOnes() {
  Design d = preset_design("deepseek-v3", 8, 1, 1);
  const auto shared = [&](const char* profile) {
    d.workload.profile = profile;
    const auto report = make_report(d);
    if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
    const OpSeconds seconds = op_seconds(*report, machine_of(d));
    double out = 0;
    for (size_t s = 0; s < seconds.ops.size(); ++s)
      for (size_t id = 0; id < seconds.ops[s].size(); ++id)
        if (report->graph().segments[s].ops[id].modules.has(RecomputeModule::SharedExperts))
          out += seconds.ops[s][id].seconds;
    return out;
  };
  d.workload.mode = Mode::Decode;
  d.workload.batch = d.workload.microbatch = 8;
  // 3 x 7,168 x 256 weights in bfloat16.
  const double weights = 3.0 * 7168 * 256 * 2, bandwidth = machine_of(d).accelerator->memory_gbps * 1e9;
  const double decode = shared("vllm");
  QVERIFY2(decode > weights / bandwidth && decode < 1.1 * weights / bandwidth,
           qPrintable(QString::number(decode * bandwidth / weights)));
  QVERIFY(shared("torchtitan") > 3 * decode);
  d.workload.mode = Mode::Prefill;
  d.workload.seq = 8192;
  d.workload.batch = d.workload.microbatch = 1;
  const double prefill = shared("vllm"), in_turn = shared("torchtitan");
  QVERIFY2(prefill > 0.4 * in_turn && prefill < in_turn, qPrintable(QString::number(prefill / in_turn)));
}

// 1F1B in overlapped pairs over one stage: only the exchanges of the first forward and of the last backward
// run alone.
void ExpertTimeTest::exchangesInPairs() {
  Design d = trace_design("mixtral-8x7b", 1, 1, 8, false, 16, 4);
  d.parallel.ep = 8;
  d.parallel.dispatcher = Dispatcher::Flex;
  d.workload.seq = 4096;
  const auto apart = simulate(*make_report(d));
  d.parallel.ep_comm_overlap = true;
  const auto report = make_report(d);
  QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
  QCOMPARE(report->stages.front().in_flight, int64_t{2});
  const auto paired = simulate(*report);
  const double exposed = seconds_in(apart->stages[0], TimeCategory::ExpertComm);
  QVERIFY(exposed > 0);
  QVERIFY(std::abs(seconds_in(paired->stages[0], TimeCategory::ExpertComm) / (exposed / 16) - 1) < 1e-6);
  QVERIFY(paired->step_seconds < apart->step_seconds);
  // Without effect where nothing can be paired.
  d.parallel.sync = SyncStrategy::Fsdp2;
  const double fsdp = simulate(*make_report(d))->step_seconds;
  d.parallel.ep_comm_overlap = false;
  QCOMPARE(simulate(*make_report(d))->step_seconds, fsdp);
}

QTEST_APPLESS_MAIN(ExpertTimeTest)
#include "expert_time_test.moc"
