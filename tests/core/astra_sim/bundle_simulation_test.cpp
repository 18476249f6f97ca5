// Simulated time of collectives and bundles; every expected number is worked out by hand. Configuration files
// of a cluster.
#include <QTemporaryDir>
#include <QTest>
#include <fstream>

#include "astra_sim/config_files.h"
#include "astra_sim/nanoseconds.h"
#include "bundle/bundle.h"
#include "bundle/bundle_simulation.h"
#include "chakra/trace_reader.h"
#include "support/collective_config.h"
#include "support/trace_bundle.h"
#include "support/trace_designs.h"
#include "timing/machine_of.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;
using chakra::CollectiveType;

namespace {

constexpr const char* kKinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};

std::vector<int64_t> times(const BundleConfig& c, CollectiveType type, int64_t bytes,
                           const std::vector<int64_t>& members, const std::vector<int64_t>& begin) {
  return collective_times(c, {.type = type, .bytes = bytes, .members = members}, begin);
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

class PlayTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void collectives_data() {
    QTest::addColumn<QString>("topology");
    QTest::addColumn<QString>("by");
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<int>("ns");
    const auto row = [](const char* name, const char* topology, const char* by, CollectiveType type,
                        int bytes, int ns) {
      QTest::newRow(name) << topology << by << static_cast<int>(type) << bytes << ns;
    };
    // Four ranks, messages of 1,000 bytes: 200 + 1,000 through a switch, 100 + 1,000 along a link.
    row("ring all-gather", "Switch", "ring", CollectiveType::AllGather, 1000, 1 + 3 * (1200 + 1));
    row("ring reduce-scatter", "Switch", "ring", CollectiveType::ReduceScatter, 4000, 1 + 3 * (1200 + 1 + 3));
    row("ring all-reduce", "Switch", "ring", CollectiveType::AllReduce, 4000,
        1 + 3 * (1200 + 1 + 3) + 3 * (1200 + 1));
    row("ring all-reduce on a ring", "Ring", "ring", CollectiveType::AllReduce, 4000,
        1 + 3 * (1100 + 1 + 3) + 3 * (1100 + 1));
    row("ring all-to-all: n(n-1)/2 messages", "Switch", "ring", CollectiveType::AllToAll, 4000,
        1 + 6 * (1200 + 1));
    row("all-to-all one by one", "Switch", "direct1", CollectiveType::AllToAll, 4000, 1 + 3 * (1200 + 1));
    row("all-to-all at once", "FullyConnected", "direct", CollectiveType::AllToAll, 4000, 1 + 1100 + 1);
    row("all-gather at once", "FullyConnected", "direct", CollectiveType::AllGather, 1000, 1 + 1100 + 1);
    row("all-reduce at once", "FullyConnected", "direct", CollectiveType::AllReduce, 4000,
        1 + (1100 + 1 + 3) + (1100 + 1));
    // 2,000 bytes to the next rank, 1,000 to the second next, and back. The sum of 1,000 bytes is passed on.
    row("halving and doubling", "Switch", "halvingDoubling", CollectiveType::AllReduce, 4000,
        1 + (2200 + 1 + 3) + 2 * (1200 + 1) + (2200 + 1));
    row("halving", "Switch", "halvingDoubling", CollectiveType::ReduceScatter, 4000,
        1 + (2200 + 1 + 3) + (1200 + 1));
    row("doubling", "Switch", "halvingDoubling", CollectiveType::AllGather, 1000,
        1 + (1200 + 1) + (2200 + 1));
    row("no less than a byte per rank", "Switch", "ring", CollectiveType::AllReduce, 2, 1 + 6 * (201 + 1));
  }
  void collectives() {
    QFETCH(QString, topology);
    QFETCH(QString, by);
    QFETCH(int, type);
    QFETCH(int, bytes);
    QFETCH(int, ns);
    const BundleConfig c = collective_config(topology.toStdString(), {4}, by.toStdString());
    for (const int64_t t : times(c, static_cast<CollectiveType>(type), bytes, {0, 1, 2, 3}, {0, 0, 0, 0}))
      QCOMPARE(t, int64_t{ns});
  }

  // In a group smaller than the job, every message takes 10 ns at each end. A rank that begins late delays
  // the ranks that need its message.
  void groups_and_late_members() {
    const BundleConfig c = collective_config("Switch", {4}, "ring");
    QCOMPARE(times(c, CollectiveType::AllGather, 1000, {0, 1}, {0, 0}),
             (std::vector<int64_t>{10 + 1200 + 10, 10 + 1200 + 10}));
    QCOMPARE(times(c, CollectiveType::AllGather, 1000, {0, 1}, {0, 500}),
             (std::vector<int64_t>{510 + 1200 + 10, 10 + 1200 + 10}));
  }

  void streams_follow_each_other() {
    BundleConfig c = collective_config("Switch", {4}, "ring");
    c.dataset_splits = 2;
    QCOMPARE(times(c, CollectiveType::AllGather, 1000, {0, 1, 2, 3}, {0, 0, 0, 0}).front(),
             int64_t{2 * (1 + 3 * (700 + 1))});
    // Streams that run at the same time do not slow each other down.
    c.active_chunks = 2;
    QCOMPARE(times(c, CollectiveType::AllGather, 1000, {0, 1, 2, 3}, {0, 0, 0, 0}).front(),
             int64_t{1 + 3 * (700 + 1)});
    // Of three streams, the third starts when the first has ended.
    c.dataset_splits = 3;
    QCOMPARE(times(c, CollectiveType::AllGather, 1500, {0, 1, 2, 3}, {0, 0, 0, 0}).front(),
             int64_t{2 * (1 + 3 * (700 + 1))});
    c.dataset_splits = int64_t{1} << 40;
    QVERIFY(std::get<Problem>(SimNetwork::make(c, {})).code == ProblemCode::NotSimulated);
  }

  // Halving and doubling exchanges pairs: a group of another size would read beyond its members.
  void halving_needs_powers_of_two() {
    const auto made = [](const BundleConfig& c, int64_t ranks, int64_t group) {
      return SimNetwork::make(c, only_use(CollectiveType::AllGather, {{ranks, group}}));
    };
    BundleConfig c = collective_config("Switch", {4}, "halvingDoubling");
    QVERIFY(std::holds_alternative<SimNetwork>(made(c, 4, 0)));
    QVERIFY(std::holds_alternative<SimNetwork>(made(c, 2, 7)));
    QVERIFY(std::get<Problem>(made(c, 3, 7)).what.find("group 7 has 3 ranks") != std::string::npos);
    c = collective_config("Switch", {6}, "halvingDoubling");
    QVERIFY(std::get<Problem>(made(c, 6, 0)).what.find("dimension 0 has 6 ranks") != std::string::npos);
    QVERIFY(std::holds_alternative<SimNetwork>(SimNetwork::make(c, {})));  // no collective uses it
    c = collective_config("Switch", {2, 3}, "oneHalvingDoubling");
    QVERIFY(std::get<Problem>(made(c, 6, 0)).what.find("the job has 6 ranks") != std::string::npos);
  }

  void trees_run_all_reduces_of_the_whole_job() {
    BundleConfig c = collective_config("Switch", {4}, "doubleBinaryTree");
    for (auto& list : c.implementations) list = {"doubleBinaryTree"};
    const auto made = [&](CollectiveType type, int64_t ranks) {
      return SimNetwork::make(c, only_use(type, {{ranks, 5}}));
    };
    QVERIFY(std::holds_alternative<SimNetwork>(made(CollectiveType::AllReduce, 4)));
    QVERIFY(std::get<Problem>(made(CollectiveType::AllReduce, 2)).what.find("group 5 has 2 of 4 ranks") !=
            std::string::npos);
    QVERIFY(std::get<Problem>(made(CollectiveType::AllGather, 4))
                .what.find("all-gather-implementation: doubleBinaryTree works for all-reduces only") !=
            std::string::npos);
  }

  // Numbers of a file may be of any size: times stop at kForever, and nothing overflows.
  void absurd_numbers_do_not_overflow() {
    for (const char* by : {"ring", "direct", "direct1", "halvingDoubling"}) {
      BundleConfig c = collective_config("Ring", {4}, by);
      c.dimensions[0].latency = 1e300;
      c.endpoint_delay = 1e300;
      for (const CollectiveType type : {CollectiveType::AllReduce, CollectiveType::AllGather,
                                        CollectiveType::ReduceScatter, CollectiveType::AllToAll})
        QCOMPARE(times(c, type, std::numeric_limits<int64_t>::max(), {0, 1, 2, 3}, {0, 0, 0, 0}).front(),
                 kForever);
    }
    BundleConfig c = collective_config("Switch", {4}, "ring");
    c.dataset_splits = 8;
    std::vector<int64_t> at{0, 0, 0, 0};
    at = times(c, CollectiveType::AllGather, 4, {0, 1, 2, 3}, at);  // less than a byte per stream
    QCOMPARE(at, (std::vector<int64_t>{0, 0, 0, 0}));
  }

  void dimensions() {
    BundleConfig c = collective_config("Switch", {2, 2}, "ring");
    c.dimensions[1].gigabytes /= 2;
    const auto network = SimNetwork::make(c, {});
    QCOMPARE(std::get<SimNetwork>(network).message(0, 1, 1000), int64_t{200 + 1000});
    QCOMPARE(std::get<SimNetwork>(network).message(0, 2, 1000), int64_t{200 + 2000});
    QCOMPARE(std::get<SimNetwork>(network).message(0, 3, 1000),
             int64_t{200 + 1000});  // the first dimension that differs
    // One dimension after the other, each with all 4,000 bytes in messages of 2,000.
    const int64_t inside = 1 + (2200 + 1 + 6) + (2200 + 1), across = 1 + (4200 + 1 + 6) + (4200 + 1);
    QCOMPARE(times(c, CollectiveType::AllReduce, 4000, {0, 1, 2, 3}, {0, 0, 0, 0}).front(), inside + across);
    // Level by level: scatter 4,000 inside, reduce 2,000 across in messages of 1,000, gather 2,000 inside.
    c.level_by_level = true;
    const int64_t levels = (1 + 2200 + 1 + 6) + (1 + (2200 + 1 + 3) + (2200 + 1)) + (1 + 2200 + 1);
    QCOMPARE(times(c, CollectiveType::AllReduce, 4000, {0, 1, 2, 3}, {0, 0, 0, 0}).front(), levels);
    // Gathers begin across: 1,000, then 2,000 inside.
    QCOMPARE(times(c, CollectiveType::AllGather, 1000, {0, 1, 2, 3}, {0, 0, 0, 0}).front(),
             int64_t{(1 + 2200 + 1) + (1 + 2200 + 1)});
    // A group smaller than the job is one ring, whatever algorithms the lists name. An all-to-all of two
    // ranks is one message.
    for (auto& list : c.implementations) list.assign(2, "direct1");
    QCOMPARE(times(c, CollectiveType::AllToAll, 2000, {0, 2}, {0, 0}).front(), int64_t{10 + 2200 + 10});
  }

  void unsupported_bundles_are_refused() {
    BundleConfig c = collective_config("Switch", {4}, "ring");
    c.replay_only = true;
    QVERIFY(std::get<Problem>(SimNetwork::make(c, {})).code == ProblemCode::NotSimulated);
    QVERIFY(std::get<Problem>(SimNetwork::make({}, {})).code == ProblemCode::NetworkInvalid);
    BundleConfig huge = collective_config("Switch", {4}, "ring");
    huge.ranks = int64_t{1} << 30;
    const Problem too_many = std::get<Problem>(SimNetwork::make(huge, {}));
    QVERIFY2(too_many.where == "network.yml", to_string(too_many).c_str());
    BundleConfig backward = collective_config("Switch", {4}, "ring");
    backward.dimensions.front().latency = -1;
    QVERIFY(std::get<Problem>(SimNetwork::make(backward, {})).code == ProblemCode::NetworkInvalid);
    for (const char* by : {"direct0", "oneDoubleBinaryTree", "star"}) {
      const BundleConfig unknown = collective_config("Switch", {4}, by);
      QVERIFY(std::get<Problem>(SimNetwork::make(unknown, {})).code == ProblemCode::NotSimulated);
    }
  }

  // Two ranks: a roofline of 1 TFLOP/s, so that 10^6 operations take 1,000 ns.
  void a_bundle_by_hand() {
    BundleSpec bundle;
    bundle.files["comm_groups.json"] = "{}";
    bundle.files["memory.json"] = R"({"memory-type": "NO_MEMORY_EXPANSION"})";
    bundle.files["network.yml"] =
        "topology: [ Switch ]\nnpus_count: [ 2 ]\nbandwidth: [ 0.931322574615478515625 ]\nlatency: [ 100 ]\n";
    bundle.files["system.json"] =
        R"({"preferred-dataset-splits": 1, "endpoint-delay": 1, "peak-perf": 1, "local-mem-bw": 1000,
      "roofline-enabled": 1, "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
      "reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["ring"]})";
    for (const int64_t rank : {0, 1}) {
      std::vector<TraceNodeSpec>& nodes = bundle.ranks[rank].nodes;
      nodes.push_back(compute(1, {}, rank == 0 ? 2'000'000 : 5'000'000, 1000));
      nodes.push_back(collective(2, {1}, CollectiveType::AllReduce, 8000, ""));
      nodes.push_back(compute(3, {2}, 1'000'000, 1000));
      nodes.push_back(transfer(4, {rank == 0 ? uint64_t{2} : uint64_t{3}}, rank == 1, 1, 0, 300, 7));
    }
    bundle.ranks[0].nodes.push_back(compute(5, {4}, 1'000'000, 1000));
    bundle.ranks[0].nodes.push_back(compute(6, {2}, 1000, 8'000'000));  // bound by memory: 8,000 ns
    QTemporaryDir folder;
    bundle.save(folder.path().toStdString());
    const auto result = simulate_bundle(folder.path().toStdString());
    QVERIFY(std::holds_alternative<SimulationReport>(result));
    const SimulationReport& play = std::get<SimulationReport>(result);
    QVERIFY2(play.finished, simulation_text(play).c_str());
    // The all-reduce begins at 2,000 and 5,000; messages of 4,000 bytes take 4,200, adding one up 3 · 4.
    const int64_t sent_0 = 2001, sent_1 = 5001;
    const int64_t again_0 = sent_1 + 4200 + 1 + 12, again_1 = sent_0 + 4200 + 1 + 12;
    const int64_t reduced_0 = again_1 + 4200 + 1, reduced_1 = again_0 + 4200 + 1;
    QCOMPARE(reduced_0, int64_t{10415});
    QCOMPARE(reduced_1, int64_t{13415});
    // Rank 1 computes node 3 and sends 300 bytes. Rank 0 computes nodes 3 and 6, and 5 only after them,
    // though its message is there.
    QCOMPARE(play.ranks[1].end, reduced_1 + 1000 + 200 + 300);
    QCOMPARE(play.ranks[0].end, reduced_0 + 1000 + 8000 + 1000);
    QVERIFY(play.ranks[1].end < reduced_0 + 9000);
    QCOMPARE(play.ranks[0].compute, int64_t{2000 + 1000 + 8000 + 1000});
    QCOMPARE(play.cycles(), play.ranks[0].end);
    QCOMPARE(play.nodes, int64_t{10});
  }

  void described_clusters_data() {
    QTest::addColumn<QString>("accelerator");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QString>("topology");
    QTest::addColumn<QList<int>>("ranks");
    QTest::addColumn<QList<double>>("gbps");
    QTest::addColumn<QList<double>>("latency");
    QTest::addColumn<bool>("exact");
    using D = QList<double>;
    QTest::newRow("one node") << "h100-sxm-80gb" << 8 << "Switch" << QList{8} << D{450} << D{300} << true;
    QTest::newRow("part of a node") << "a100-sxm-80gb" << 2 << "Switch" << QList{2} << D{300} << D{300}
                                    << true;
    QTest::newRow("two nodes") << "h100-sxm-80gb" << 16 << "Switch Switch" << QList{8, 2} << D{450, 50}
                               << D{300, 1350} << true;
    QTest::newRow("racks") << "gb200-nvl72-186gb" << 128 << "Switch Switch" << QList{64, 2} << D{900, 50}
                           << D{300, 1350} << true;
    QTest::newRow("every pair has a link")
        << "mi300x-192gb" << 8 << "FullyConnected" << QList{8} << D{64} << D{800} << true;
    QTest::newRow("torus") << "tpu-v4" << 64 << "Ring" << QList{4, 4, 4} << D{100, 100, 100}
                           << D{1000, 1000, 1000} << true;
    QTest::newRow("some of the devices that links lead to")
        << "mi300x-192gb" << 4 << "FullyConnected" << QList{4} << D{64} << D{800} << true;
    QTest::newRow("part of a cube is not closed")
        << "tpu-v4" << 16 << "Ring" << QList{2, 2, 4} << D{50, 50, 50} << D{1000, 1000, 1000} << false;
    QTest::newRow("racks of two nodes") << "h100-grand-teton-96gb" << 16 << "Switch Switch" << QList{8, 2}
                                        << D{450, 50} << D{300, 1750} << true;
    QTest::newRow("beyond a leaf switch") << "h100-grand-teton-96gb" << 32 << "Switch Switch" << QList{8, 4}
                                          << D{450, 50} << D{300, 1750} << false;
    QTest::newRow("nodes that are not full")
        << "h100-sxm-80gb" << 12 << "Switch Switch" << QList{6, 2} << D{450, 50} << D{300, 1350} << false;
    QTest::newRow("a number of ranks without divisors")
        << "h100-sxm-80gb" << 13 << "Switch" << QList{13} << D{50} << D{1350} << false;
  }
  void described_clusters() {
    QFETCH(QString, accelerator);
    QFETCH(int, dp);
    QFETCH(QString, topology);
    QFETCH(QList<int>, ranks);
    QFETCH(QList<double>, gbps);
    QFETCH(QList<double>, latency);
    QFETCH(bool, exact);
    Design design = trace_design("llama3-8b", 1, 1, dp, false, 1, 2);
    design.cluster.accelerator = accelerator.toStdString();
    const auto report = trace_report(design);
    const SimCluster cluster = sim_cluster(Lowering(*report), false);
    QCOMPARE(cluster.dimensions.size(), size_t(ranks.size()));
    const QStringList topologies = topology.split(' ');
    for (int d = 0; d < ranks.size(); ++d) {
      const SimDimension& got = cluster.dimensions[size_t(d)];
      QCOMPARE(QString::fromStdString(got.topology), topologies.value(d, topologies.last()));
      QCOMPARE(got.ranks, int64_t{ranks[d]});
      QCOMPARE(got.gbps, gbps[d]);
      QCOMPARE(got.latency_ns, latency[d]);
    }
    QVERIFY2(cluster.substitutions.empty() == exact,
             cluster.substitutions.empty() ? "" : cluster.substitutions.front().c_str());
    // Written files can be read, in the units of the simulator.
    QTemporaryDir folder;
    for (const auto& [name, text] : {std::pair<std::string, std::string>{"network.yml", network_yml(cluster)},
                                     {"system.json", system_json(*report, cluster, true)},
                                     {"memory.json", memory_json(*report)},
                                     {"comm_groups.json", "{}"}})
      std::ofstream(std::filesystem::path(folder.path().toStdString()) / name) << text;
    Findings findings;
    const BundleConfig read = read_bundle_config({.folder = folder.path().toStdString()}, findings);
    QVERIFY(findings.take().empty());
    QCOMPARE(read.ranks, int64_t{dp});
    QCOMPARE(read.peak_flops, peak_flops(*report->accelerator, report->design.workload.dtype));
    QCOMPARE(read.memory_bytes_per_second, report->accelerator->memory_gbps * 1e9);
    for (int d = 0; d < ranks.size(); ++d)
      QVERIFY(std::abs(read.dimensions[size_t(d)].gigabytes * (1 << 30) / 1e9 / gbps[d] - 1) < 1e-12);
    QCOMPARE(read.level_by_level, ranks.size() > 1);
    for (size_t k = 0; k < 4; ++k)
      QVERIFY2(read.implementations[k].size() == size_t(ranks.size()), kKinds[k]);
  }

  void pods_and_knobs() {
    Design design = trace_design("llama3-8b", 1, 1, 32, false, 1, 2);
    design.cluster.oversubscription = 4000;
    design.cluster.pod_size = 16;
    design.cluster.nic_bandwidth = 200;
    design.cluster.scaleup_latency = 1000;
    design.cluster.network_latency = 5000;
    const auto report = trace_report(design);
    const SimCluster cluster = sim_cluster(Lowering(*report), false);
    QCOMPARE(cluster.dimensions.size(), size_t{3});
    const double gbps[] = {450, 25, 25.0 / 4}, latency[] = {500, 2500, 2500};
    const int64_t ranks[] = {8, 2, 2};
    for (size_t d = 0; d < 3; ++d) {
      QCOMPARE(cluster.dimensions[d].ranks, ranks[d]);
      QCOMPARE(cluster.dimensions[d].gbps, gbps[d]);
      QCOMPARE(cluster.dimensions[d].latency_ns, latency[d]);
    }
    const SimCluster flat = sim_cluster(Lowering(*report), true);
    QCOMPARE(flat.dimensions.size(), size_t{1});
    QCOMPARE(flat.dimensions[0].ranks, int64_t{32});
    QCOMPARE(flat.dimensions[0].gbps, 25.0 / 4);
    QVERIFY(!flat.substitutions.empty());
  }

  // A ring of dp 8 with tp 2 between its ranks passes nodes at another place in them: the simulator charges
  // that hop to NVLink.
  void hops_that_the_simulator_misplaces_are_named() {
    const auto report = trace_report(trace_design("llama3-8b", 2, 1, 8, false, 1, 2));
    const SimCluster cluster = sim_cluster(Lowering(*report), false);
    QCOMPARE(cluster.substitutions.size(), size_t{1});
    QVERIFY2(cluster.substitutions[0].find(": dp") != std::string::npos, cluster.substitutions[0].c_str());
    // With tp 8 each of its rings has one rank per node.
    QVERIFY(sim_cluster(Lowering(*trace_report(trace_design("llama3-8b", 8, 1, 2, false, 1, 2))), false)
                .substitutions.empty());
  }

  // Durations of one rank add up to what the step simulation computes.
  void durations_are_those_of_the_step() {
    const auto report = trace_report(trace_design("llama3-8b", 1, 1, 2, false, 3, 4));
    QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    for (const bool durations : {false, true})
      QVERIFY(std::holds_alternative<ExportSummary>(export_bundle(
          *report, {.target = root / (durations ? "with" : "without"), .durations = durations})));
    const auto total = [&](const char* bundle) {
      const std::string bytes = slurp(root / bundle / "trace.1.et");
      TraceReader reader(bytes);
      std::string version;
      RawNode node;
      uint64_t microseconds = 0;
      for (reader.read_metadata(version); reader.next(node) == TraceReader::Step::Node;) {
        if (static_cast<chakra::NodeType>(node.type) != chakra::NodeType::Comp && node.duration != 0)
          return -1.0;
        microseconds += node.duration;
      }
      return static_cast<double>(microseconds) * 1e-6;
    };
    QCOMPARE(total("without"), 0.0);
    const auto simulation = simulate(*report);
    const StageTimes& stage = simulation->stages[0];
    double computed = 0;
    for (const TimeCategory c : {TimeCategory::MatrixProducts, TimeCategory::Attention,
                                 TimeCategory::MemoryBound, TimeCategory::Optimizer})
      computed += stage.seconds[static_cast<size_t>(c)];
    // Zeroing the gradients is no node of the trace; nothing else of the optimizer has a name.
    double zeroing = 0;
    for (const Span& span : stage.spans)
      if (span.kind == SpanKind::Optimizer && span.name >= 0) zeroing += span.end - span.begin;
    QVERIFY(zeroing > 0);
    const double with = total("with");
    QVERIFY2(std::abs(with - (computed - zeroing)) < 2e-6,
             qPrintable(QString("%1 of %2 without %3").arg(with).arg(computed).arg(zeroing)));
    const auto played = simulate_bundle(root / "with");
    QVERIFY(std::holds_alternative<SimulationReport>(played) && std::get<SimulationReport>(played).finished);
    const double compute = static_cast<double>(std::get<SimulationReport>(played).ranks[1].compute) * 1e-9;
    QVERIFY2(std::abs(compute / with - 1) < 1e-4,
             qPrintable(QString::number(compute)));  // a nanosecond for every empty node
  }
};

QTEST_APPLESS_MAIN(PlayTest)
#include "bundle_simulation_test.moc"
