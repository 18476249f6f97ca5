// Launches of the host in training: CUDA graphs, and reads of the routing.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "performance/op_time.h"
#include "support/designs.h"
#include "timing/layer_seconds.h"
#include "timing/machine_of.h"
#include "timing/op_seconds.h"
#include "timing/simulation.h"
#include "timing/steady_state/step_numbers.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design mixture(CudaGraphs graphs, Dispatcher dispatcher = Dispatcher::AllToAll, bool padded = false) {
  Design d = preset_design("qwen3-30b-a3b", 1, 1, 16);
  d.model.layers = 4;
  d.workload.seq = 1024;
  d.workload.batch = 64;
  d.workload.profile = "megatron-core-te";
  d.workload.cuda_graphs = graphs;
  d.workload.capacity_factor = padded ? 1000 : 0;
  d.workload.pad_to_capacity = padded;
  d.parallel.ep = 8;
  d.parallel.dispatcher = dispatcher;
  d.cluster.accelerator = "h100-sxm-80gb";
  return d;
}

// Launches of the forward and the backward of a layer, with a launch of one second.
std::pair<double, double> launches(const Design& design) {
  Machine machine = machine_of(design);
  machine.host_launch_us = 1e6;
  const auto report = make_report(design);
  LayerTable table(*report, machine);
  for (size_t s = 0; s < report->graph().segments.size(); ++s)
    if (report->graph().segments[s].kind == SegmentKind::Layer) {
      const LayerSeconds& layer = table.at(static_cast<int>(s), {});
      return {layer.of(Part::Forward).launches, layer.of(Part::Backward).launches};
    }
  return {};
}

bool reads(const Design& design) {
  const auto report = make_report(design);
  LayerTable table(*report, machine_of(design));
  for (size_t s = 0; s < report->graph().segments.size(); ++s)
    if (report->graph().segments[s].kind == SegmentKind::Layer)
      return table.at(static_cast<int>(s), {}).of(Part::Forward).host_waits;
  return false;
}

}  // namespace

class HostLaunchesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Captured modules cost one launch each; a captured iteration costs none.
  void graphsSaveLaunches() {
    const auto none = launches(mixture(CudaGraphs::None)),
               attention = launches(mixture(CudaGraphs::Attention)),
               router = launches(mixture(CudaGraphs::Router)),
               both = launches(mixture(CudaGraphs::AttentionRouter)),
               layer = launches(mixture(CudaGraphs::Layer, Dispatcher::AllToAll, true)),
               iteration = launches(mixture(CudaGraphs::Iteration, Dispatcher::Flex));
    for (const auto direction : {&std::pair<double, double>::first, &std::pair<double, double>::second}) {
      QVERIFY(attention.*direction < none.*direction && router.*direction < none.*direction);
      QCOMPARE(none.*direction - attention.*direction + none.*direction - router.*direction,
               none.*direction - both.*direction);
      QVERIFY(both.*direction > 2);
      QCOMPARE(layer.*direction, 1.0);
      QCOMPARE(iteration.*direction, 0.0);
    }
  }

  // Each of the 16 experts of a rank has a GEMM of its own: two in a forward, four in a backward.
  void separateExpertsLaunchTheirGemms() {
    Design d = mixture(CudaGraphs::None);
    const auto sixteen = launches(d);
    d.parallel.ep = 16;
    const auto eight = launches(d);
    QCOMPARE(sixteen.first - eight.first, 2 * 8.0);
    QCOMPARE(sixteen.second - eight.second, 4 * 8.0);
  }

  // gpt-oss adds the last bias of every local expert in kernels of its own: two in a forward, six in a
  // backward.
  void expertsLaunchTheirBiases() {
    Design d = preset_design("gpt-oss-120b", 1, 1, 16);
    d.model.layers = 4;
    d.workload.seq = 1024;
    d.workload.batch = 64;
    d.workload.profile = "megatron-core-te";
    d.parallel.ep = 8;
    d.cluster.accelerator = "h100-sxm-80gb";
    const auto sixteen = launches(d);
    d.parallel.ep = 16;
    const auto eight = launches(d);
    QCOMPARE(sixteen.first - eight.first, (2 + 2) * 8.0);
    QCOMPARE(sixteen.second - eight.second, (4 + 6) * 8.0);
  }

  // The host reads the numbers of tokens, unless they are known or stay on the device.
  void hostReadsRouting() {
    QVERIFY(reads(mixture(CudaGraphs::None)));
    QVERIFY(reads(mixture(CudaGraphs::AttentionRouter)));
    QVERIFY(reads(mixture(CudaGraphs::None, Dispatcher::Flex)));
    QVERIFY(!reads(mixture(CudaGraphs::None, Dispatcher::AllToAll, true)));
    QVERIFY(!reads(mixture(CudaGraphs::Iteration, Dispatcher::Flex)));
    Design other = mixture(CudaGraphs::None);
    other.workload.profile = "flash";
    QVERIFY(!reads(other));
  }

  // The router's 11 kernels take the time of 11 short kernels on the device, captured or not. Fused in one
  // kernel, as in a profile without numbers of kernels, they take one.
  void shortKernelsTakeTimeOnTheDevice() {
    const auto top_k = [](const Design& d) {
      const auto report = make_report(d);
      const OpSeconds seconds = op_seconds(*report, machine_of(d));
      for (size_t s = 0; s < report->graph().segments.size(); ++s)
        for (size_t id = 0; id < report->graph().segments[s].ops.size(); ++id)
          if (report->graph().segments[s].ops[id].kind == OpKind::SoftmaxTopK)
            return seconds.ops[s][id].seconds;
      return 0.0;
    };
    Design fused = mixture(CudaGraphs::None);
    fused.workload.profile = "flash";
    const double kernel = shortest_kernel_seconds(machine_of(fused));
    QVERIFY(kernel > 1e-6 && kernel < 5e-6);
    QVERIFY(top_k(fused) >= kernel);
    for (const CudaGraphs graphs : {CudaGraphs::None, CudaGraphs::Router})
      QVERIFY(std::abs(top_k(mixture(graphs)) - top_k(fused) - 10 * kernel) < 1e-12);
  }

  void graphsShortenLaunchBoundSteps() {
    const auto step = [](const Design& d) { return simulate(*make_report(d))->step_seconds; };
    const double none = step(mixture(CudaGraphs::None)), both = step(mixture(CudaGraphs::AttentionRouter));
    QVERIFY2(both < 0.95 * none, qPrintable(QString::number(both / none)));
    for (const CudaGraphs graphs : {CudaGraphs::None, CudaGraphs::AttentionRouter}) {
      const auto report = make_report(mixture(graphs));
      Report copy = *report;
      const double fast = step_numbers(copy).step_seconds, full = simulate(*report)->step_seconds;
      QVERIFY2(std::abs(fast / full - 1) < 1e-6, qPrintable(QString::number(fast / full - 1)));
    }
  }

  // Kernels whose sizes the host reads cannot be captured.
  void wholeLayersNeedKnownSizes() {
    for (const CudaGraphs graphs : {CudaGraphs::Layer, CudaGraphs::Iteration}) {
      const std::vector<Problem> problems = validate(mixture(graphs));
      const auto found = std::find_if(problems.begin(), problems.end(), [](const Problem& p) {
        return p.code == ProblemCode::CapturedTokensUnknown && p.where == "cuda_graphs";
      });
      QVERIFY(found != problems.end());
      QVERIFY(first_error(mixture(graphs, Dispatcher::AllToAll, true)).empty());
      QVERIFY(first_error(mixture(graphs, Dispatcher::Flex)).empty());
    }
  }
};

QTEST_GUILESS_MAIN(HostLaunchesTest)
#include "host_launches_test.moc"
