// Network files of packet-level backends, read by parsers that follow those of the simulators.
#include <QElapsedTimer>
#include <QTest>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "astra_sim/htsim_network.h"
#include "astra_sim/ns3_network.h"
#include "astra_sim/packet_network.h"
#include "design/cluster.h"
#include "support/trace_designs.h"
#include "timing/machine_of.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const std::string& text_of(const PacketNetwork& network, const char* name) {
  for (const PacketFile& file : network.files)
    if (file.name == name) return file.text;
  throw std::runtime_error(name);
}

// "400Gbps" in bit/s and "300ns", as ns3::DataRate and ns3::Time read them.
double number_with_unit(const std::string& text, const std::map<std::string, double>& units) {
  size_t end = 0;
  const double value = std::stod(text, &end);
  return value * units.at(text.substr(end));
}

struct Path {
  int hops = 0;
  double latency_ns = 0, gbit = 1e30;
};

// The graph of ns-3, read token by token as SetupNetwork() does.
struct Ns3Graph {
  int nodes = 0, switches = 0, links = 0;
  std::vector<bool> is_switch;
  struct Edge {
    int to = 0;
    double gbit = 0, latency_ns = 0;
  };
  std::vector<std::vector<Edge>> edges;
  std::set<int64_t> rates;

  explicit Ns3Graph(const std::string& text) {
    std::istringstream file(text);
    file >> nodes >> switches >> links;
    is_switch.resize(static_cast<size_t>(nodes));
    edges.resize(static_cast<size_t>(nodes));
    for (int i = 0, id = 0; i < switches && file >> id; ++i) is_switch.at(static_cast<size_t>(id)) = true;
    std::set<std::pair<int, int>> joined;
    for (int i = 0; i < links; ++i) {
      int from = 0, to = 0;
      std::string rate, latency;
      double error = 1;
      file >> from >> to >> rate >> latency >> error;
      if (!file || error != 0 || from == to) throw std::runtime_error("link " + std::to_string(i));
      // ns-3 has one interface per pair of nodes.
      if (!joined.insert(std::minmax(from, to)).second) throw std::runtime_error("two links of a pair");
      const double bps = number_with_unit(rate, {{"Gbps", 1e9}, {"Mbps", 1e6}, {"bps", 1}}),
                   ns = number_with_unit(latency, {{"ns", 1}});
      rates.insert(std::llround(bps));
      edges.at(static_cast<size_t>(from)).push_back({to, bps / 1e9, ns});
      edges.at(static_cast<size_t>(to)).push_back({from, bps / 1e9, ns});
    }
    std::string rest;
    if (file >> rest) throw std::runtime_error("after the links: " + rest);
  }
  // CalculateRoute(): the fewest hops through switches; ranks do not forward. ns-3 spreads messages over all
  // these paths, so they must be equal.
  std::map<int, Path> paths(int from) const {
    std::map<int, Path> found{{from, {}}};
    std::deque<int> queue{from};
    for (; !queue.empty(); queue.pop_front()) {
      const int now = queue.front();
      for (const Edge& edge : edges[static_cast<size_t>(now)]) {
        const Path& to_here = found[now];
        const Path on{to_here.hops + 1, to_here.latency_ns + edge.latency_ns,
                      std::min(to_here.gbit, edge.gbit)};
        const auto [known, is_new] = found.emplace(edge.to, on);
        if (is_new && is_switch[static_cast<size_t>(edge.to)]) queue.push_back(edge.to);
        if (known->second.hops == on.hops &&
            (known->second.latency_ns != on.latency_ns || known->second.gbit != on.gbit))
          throw std::runtime_error("unequal paths to " + std::to_string(edge.to));
      }
    }
    return found;
  }
};

// The keys of ns-3's configuration, which ReadConf() reads as words.
std::map<std::string, std::vector<std::string>> ns3_config(const std::string& text) {
  std::map<std::string, std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key)) continue;
    if (out.contains(key)) throw std::runtime_error("twice: " + key);
    for (std::string word; words >> word;) out[key].push_back(word);
  }
  return out;
}

// htsim's fat tree, with the checks of FatTreeTopology::load(), set_custom_params() and init_network().
struct HtsimTree {
  int64_t nodes = 0, tiers = 0, pod = 0;
  struct Tier {
    std::map<std::string, int64_t> values;
    int64_t operator[](const char* key) const {
      const auto found = values.find(key);
      return found == values.end() ? 0 : found->second;
    }
  };
  Tier tier[3];
  int64_t lower = 0, upper = 0, core = 0;  // switches

  static void require(bool fits, const char* what) {
    if (!fits) throw std::runtime_error(what);
  }
  static std::vector<std::string> words_of(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> out;
    for (std::string word; std::getline(words, word, ' ');) out.push_back(word);
    return out;
  }

  explicit HtsimTree(const std::string& text) {
    std::istringstream lines(text);
    const std::set<std::string> keys{"downlink_speed_gbps", "radix_down", "radix_up",
                                     "oversubscribed",      "bundle",     "switch_latency_ns",
                                     "downlink_latency_ns"};
    int at = -1;
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> words = words_of(line);
      if (words.empty()) continue;
      require(words.size() == 2, "a key and a whole number");
      for (char& c : words[0]) c = static_cast<char>(std::tolower(c));
      require(words[1].find_first_not_of("0123456789") == std::string::npos, "a whole number");
      const int64_t value = std::stoll(words[1]);
      if (words[0] == "tier") {
        require(value == at + 1 && value < tiers, "tiers in order");
        at = static_cast<int>(value);
      } else if (at < 0) {
        require(words[0] == "nodes" || words[0] == "tiers" || words[0] == "podsize", "header");
        (words[0] == "nodes" ? nodes : words[0] == "tiers" ? tiers : pod) = value;
      } else {
        require(keys.contains(words[0]), "known key");  // queue sizes are duplicates for the reader
        require(tier[at].values.emplace(words[0], value).second, "no key twice");
      }
    }
    require(at + 1 == tiers && (tiers == 2 || tiers == 3), "two or three tiers");
    check_counts();
    check_ports();
  }

  void check_counts() {
    for (int64_t t = 0; t < tiers; ++t)
      require(tier[t]["downlink_speed_gbps"] > 0 && tier[t]["downlink_latency_ns"] > 0 &&
                  tier[t]["radix_down"] > 0 && tier[t]["bundle"] == 1 &&
                  (tier[t]["radix_up"] > 0) == (t + 1 < tiers),
              "the values of a tier");
    require(nodes % pod == 0 && pod % tier[0]["radix_down"] == 0, "full pods");
    const int64_t pods = nodes / pod, speed0 = tier[0]["downlink_speed_gbps"],
                  speed1 = tier[1]["downlink_speed_gbps"];
    require(nodes * speed0 % (speed1 * tier[0]["oversubscribed"]) == 0, "uplinks of tier 0");
    const int64_t up0 = nodes * speed0 / (speed1 * tier[0]["oversubscribed"]);
    require(tier[0]["radix_down"] / tier[0]["radix_up"] == tier[0]["oversubscribed"], "oversubscribed");
    require(up0 % (pods * tier[1]["radix_down"]) == 0, "switches of tier 1");
    const int64_t per_pod = up0 / (pods * tier[1]["radix_down"]);
    require(per_pod == tier[0]["radix_up"], "radix up of tier 0");
    lower = nodes / tier[0]["radix_down"];
    upper = per_pod * pods;
    if (tiers < 3) return;
    const int64_t speed2 = tier[2]["downlink_speed_gbps"];
    require(up0 * speed1 % (speed2 * tier[1]["oversubscribed"]) == 0, "uplinks of tier 1");
    const int64_t up1 = up0 * speed1 / (speed2 * tier[1]["oversubscribed"]);
    require(up1 % tier[2]["radix_down"] == 0, "switches of tier 2");
    core = up1 / tier[2]["radix_down"];
    require(core % per_pod == 0 && core / per_pod == tier[1]["radix_up"], "radix up of tier 1");
  }

  void check_ports() const {
    require(tier[0]["radix_down"] + tier[0]["radix_up"] <= 96, "ports of tier 0");
    require(tier[1]["radix_down"] + tier[1]["radix_up"] <= 64, "ports of tier 1");
    require(tiers < 3 || tier[2]["radix_down"] <= 64, "ports of tier 2");
  }

  Path path(int64_t a, int64_t b) const {
    const int64_t up = a / tier[0]["radix_down"] == b / tier[0]["radix_down"] ? 1
                       : a / pod == b / pod                                   ? 2
                                                                              : 3;
    Path out;
    for (int64_t t = 0; t < up; ++t) {
      out.hops += 2;
      out.latency_ns += 2 * static_cast<double>(tier[t]["downlink_latency_ns"]);
      out.gbit = std::min(out.gbit, static_cast<double>(tier[t]["downlink_speed_gbps"]));
    }
    return out;
  }
};

struct Made {
  Network network;
  int64_t ranks = 0;
  SimCluster cluster;
};

Made made(const Design& design) {
  const auto report = trace_report(design);
  return {machine_of(design).network, report->ranks, sim_cluster(Lowering(*report), false)};
}

Design on(const char* accelerator, int64_t dp, const char* network = "auto") {
  Design design = trace_design("llama3-8b", 1, 1, dp, false, 1, 2);
  const ClusterSpec before = design.cluster;
  design.cluster.accelerator = accelerator;
  design.cluster.network = network;
  follow_node_size(design.cluster, before);
  return design;
}

Design in_pods() {
  Design design = on("h100-sxm-80gb", 64);
  design.cluster.oversubscription = 4000;
  design.cluster.pod_size = 32;
  return design;
}

const Problem* problem_of(const Result<PacketNetwork>& result) { return std::get_if<Problem>(&result); }

// A path from rank 0: to a rank, latency in ns, slowest link in Gbit/s.
struct Wanted {
  int to = 0;
  double latency_ns = 0, gbit = 0;
};
using Paths = QList<Wanted>;

}  // namespace

Q_DECLARE_METATYPE(Wanted)
Q_DECLARE_METATYPE(shardscape::Design)

class PacketNetworkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Rates and latencies are those of the catalogue, in Gbit/s and ns.
  void ns3_paths_data() {
    QTest::addColumn<Design>("design");
    QTest::addColumn<QList<int>>("counts");  // switches and links
    QTest::addColumn<Paths>("paths");
    QTest::newRow("one node") << on("h100-sxm-80gb", 8) << QList{1, 8}
                              << Paths{{1, 600, 3600}, {7, 600, 3600}};
    // 8 domains, 8 rails, and 8 spines. Rank 9 is on another rail.
    QTest::newRow("rails") << on("h100-sxm-80gb", 64) << QList{8 + 8 + 8, 3 * 64}
                           << Paths{{1, 600, 3600}, {8, 2700, 400}, {63, 3600, 400}, {9, 3600, 400}};
    QTest::newRow("two blocks of leaf switches") << on("h100-sxm-80gb", 512) << QList{64 + 16 + 32, 3 * 512}
                                                 << Paths{{8, 2700, 400}, {248, 2700, 400}, {256, 3600, 400}};
    QTest::newRow("a node that is not full") << on("h100-sxm-80gb", 12) << QList{2 + 8 + 2, 12 + 12 + 8 * 2}
                                             << Paths{{7, 600, 3600}, {8, 2700, 400}};
    QTest::newRow("one leaf switch for all NICs of a node")
        << on("h100-sxm-80gb", 64, "grand-teton-roce") << QList{8 + 4 + 16, 64 + 8 + 4 * 16}
        << Paths{{1, 600, 3600}, {8, 3500, 3200}, {16, 5500, 400}};
    QTest::newRow("pods") << in_pods() << QList{8 + 16 + 2 * 4 + 4, 64 + 64 + 16 * 4 + 2 * 4}
                          << Paths{{8, 2700, 400}, {32, 3600, 400}};
    // Without a size of pods, each domain is one: its NICs have a quarter of their rate.
    Design narrow = on("h100-sxm-80gb", 64);
    narrow.cluster.oversubscription = 4000;
    QTest::newRow("oversubscribed domains")
        << narrow << QList{8 + 8 + 8, 3 * 64} << Paths{{1, 600, 3600}, {8, 2700, 100}, {9, 3600, 100}};
    QTest::newRow("a mesh") << on("mi300x-192gb", 16) << QList{8 + 1, 2 * 28 + 16 + 8}
                            << Paths{{1, 800, 512}, {8, 9500, 400}};
    // 4 x 4 x 4, all dimensions closed: 6 links of 100 GB/s each.
    QTest::newRow("a torus") << on("tpu-v5p", 64, "tpu-v5p-pod") << QList{64, 64 + 3 * 64}
                             << Paths{{1, 1000, 800}, {2, 2000, 800}, {63, 3000, 800}};
    // The NICs of 64 ranks of 25 Gbit/s on each of 4 rails; one spine joins the rails.
    QTest::newRow("two tori") << on("tpu-v5e", 512, "tpu-v5e-pod") << QList{2 + 4 + 1, 512 + 2 * 4 + 4}
                              << Paths{{1, 1000, 1600}, {255, 1000, 1600}, {256, 2700, 1600}};
  }
  void ns3_paths() {
    QFETCH(Design, design);
    QFETCH(QList<int>, counts);
    QFETCH(Paths, paths);
    const Made of = made(design);
    const auto result = packet_network(PacketBackend::Ns3, of.network, of.ranks, of.cluster);
    QVERIFY2(!problem_of(result), problem_of(result) ? to_string(*problem_of(result)).c_str() : "");
    const auto& network = std::get<PacketNetwork>(result);
    const Ns3Graph graph(text_of(network, kNs3TopologyName));
    QCOMPARE(graph.switches, counts[0]);
    QCOMPARE(graph.links, counts[1]);
    QCOMPARE(int64_t{graph.nodes}, of.ranks + counts[0]);
    for (int i = 0; i < graph.nodes; ++i) QCOMPARE(graph.is_switch[static_cast<size_t>(i)], i >= of.ranks);
    const auto from_first = graph.paths(0), from_last = graph.paths(static_cast<int>(of.ranks) - 1);
    for (int rank = 0; rank < of.ranks; ++rank)
      QVERIFY2(from_first.contains(rank) && from_last.contains(rank), std::to_string(rank).c_str());
    for (const Wanted& wanted : paths) {
      const Path& path = from_first.at(wanted.to);
      QVERIFY2(
          path.latency_ns == wanted.latency_ns && path.gbit == wanted.gbit,
          qPrintable(QString("to %1: %2 ns, %3 Gbit/s").arg(wanted.to).arg(path.latency_ns).arg(path.gbit)));
    }
    check_ns3_config(network, graph, of.ranks);
  }

  static void check_ns3_config(const PacketNetwork& network, const Ns3Graph& graph, int64_t ranks) {
    const auto config = ns3_config(text_of(network, kNs3ConfigName));
    QCOMPARE(config.at("TOPOLOGY_FILE"), std::vector<std::string>{kNs3TopologyName});
    for (const char* key : {"FLOW_FILE", "TRACE_FILE"})
      QCOMPARE(text_of(network, config.at(key).at(0).c_str()), std::string("0\n"));
    for (const char* key : {"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"}) {
      const auto& words = config.at(key);
      QCOMPARE(words.size(), 1 + 2 * std::stoul(words[0]));
      std::set<int64_t> rates;
      for (size_t i = 1; i < words.size(); i += 2) rates.insert(std::stoll(words[i]));
      QVERIFY2(rates == graph.rates, key);
    }
    // The reserved bytes of a switch leave some to share, and its ports exist.
    for (size_t i = static_cast<size_t>(ranks); i < graph.edges.size(); ++i) {
      double reserved = 0;
      for (const auto& edge : graph.edges[i]) reserved += 3 * edge.gbit / 8 * edge.latency_ns + 4096;
      QVERIFY(reserved < 0.75 * (1 << 20) * std::stod(config.at("BUFFER_SIZE").at(0)));
      QVERIFY(graph.edges[i].size() <= 1024);
    }
    const auto logical = nlohmann::json::parse(text_of(network, kNs3LogicalName));
    int64_t product = 1;
    for (const auto& dimension : logical.at("logical-dims"))
      product *= std::stoll(dimension.get<std::string>());
    QCOMPARE(product, ranks);
  }

  // The largest pod has as much bandwidth to others as its NICs have, divided by the oversubscription.
  void pods_are_oversubscribed() {
    const Made of = made(in_pods());
    const auto result = packet_network(PacketBackend::Ns3, of.network, of.ranks, of.cluster);
    const Ns3Graph graph(text_of(std::get<PacketNetwork>(result), kNs3TopologyName));
    double gbit = 0;
    for (int core = graph.nodes - 4; core < graph.nodes; ++core) {
      QCOMPARE(graph.edges[static_cast<size_t>(core)].size(), size_t{2});  // pods
      gbit += graph.edges[static_cast<size_t>(core)][0].gbit;
    }
    QCOMPARE(gbit, 32 * 400.0 / 4);
  }

  void htsim_paths_data() {
    QTest::addColumn<Design>("design");
    QTest::addColumn<QList<int>>("counts");  // switches of each tier
    QTest::addColumn<Paths>("paths");
    QTest::newRow("one node") << on("h100-sxm-80gb", 8) << QList{1, 1, 0} << Paths{{7, 600, 3600}};
    QTest::newRow("8 nodes") << on("h100-sxm-80gb", 64) << QList{8, 64, 8}
                             << Paths{{7, 600, 3600}, {8, 2700, 400}, {63, 2700, 400}};
    QTest::newRow("64 nodes") << on("h100-sxm-80gb", 512) << QList{64, 512, 8} << Paths{{511, 2700, 400}};
    QTest::newRow("nodes that are not full")
        << on("h100-sxm-80gb", 12) << QList{2, 12, 6} << Paths{{5, 600, 3600}, {6, 2700, 400}};
    // 64 ranks and 32 switches of NICs have 96 ports; each of the latter has the NICs of two ranks.
    QTest::newRow("racks") << on("gb200-nvl72-186gb", 128) << QList{2, 64, 64}
                           << Paths{{63, 600, 7200}, {64, 2700, 400}};
    QTest::newRow("a mesh of 448 GB/s")
        << on("mi300x-192gb", 16) << QList{2, 16, 8} << Paths{{7, 800, 3600}, {8, 9500, 400}};
  }
  void htsim_paths() {
    QFETCH(Design, design);
    QFETCH(QList<int>, counts);
    QFETCH(Paths, paths);
    const Made of = made(design);
    const auto result = packet_network(PacketBackend::Htsim, of.network, of.ranks, of.cluster);
    QVERIFY2(!problem_of(result), problem_of(result) ? to_string(*problem_of(result)).c_str() : "");
    const HtsimTree tree(text_of(std::get<PacketNetwork>(result), kHtsimName));
    QCOMPARE(tree.nodes, of.ranks);
    QCOMPARE((QList<int>{int(tree.lower), int(tree.upper), int(tree.core)}), counts);
    for (const Wanted& wanted : paths) {
      const Path path = tree.path(0, wanted.to);
      QVERIFY2(
          path.latency_ns == wanted.latency_ns && path.gbit == wanted.gbit,
          qPrintable(QString("to %1: %2 ns, %3 Gbit/s").arg(wanted.to).arg(path.latency_ns).arg(path.gbit)));
    }
  }

  void substitutions_are_named() {
    const auto notes = [](PacketBackend backend, const Design& design) {
      const Made of = made(design);
      const auto result = packet_network(backend, of.network, of.ranks, of.cluster);
      std::string all;
      for (const std::string& text : std::get<PacketNetwork>(result).substitutions) all += text + "\n";
      return all;
    };
    QCOMPARE(notes(PacketBackend::Ns3, on("h100-sxm-80gb", 8)), std::string());
    QCOMPARE(notes(PacketBackend::Htsim, on("h100-sxm-80gb", 8)), std::string());
    const std::string mesh = notes(PacketBackend::Htsim, on("mi300x-192gb", 16));
    QVERIFY2(mesh.find("3,600 Gbit/s instead of 3,584") != std::string::npos ||
                 mesh.find("3,600 Gbit/s instead of 3584") != std::string::npos,
             mesh.c_str());
    QVERIFY(mesh.find("are a switch") != std::string::npos);
    const std::string pods = notes(PacketBackend::Htsim, in_pods());
    QVERIFY2(pods.find("oversubscription of 4") != std::string::npos, pods.c_str());
    const std::string shared = notes(PacketBackend::Ns3, on("h100-sxm-80gb", 64, "grand-teton-roce"));
    QVERIFY2(shared.find("more than its own NIC") != std::string::npos, shared.c_str());
  }

  void files_grow_with_ranks_only() {
    const Network network = machine_of(on("h100-sxm-80gb", 16)).network;
    const auto size = [&](int64_t ranks) {
      const auto result = packet_network(PacketBackend::Ns3, network, ranks, {});
      return static_cast<double>(text_of(std::get<PacketNetwork>(result), kNs3TopologyName).size());
    };
    const double small = size(4096), large = size(16384);
    QVERIFY2(large / small > 3.5 && large / small < 4.6, std::to_string(large / small).c_str());
    QVERIFY(large < 100 * 16384);
  }

  void what_the_readers_cannot_take_is_refused() {
    const Network network = machine_of(on("h100-sxm-80gb", 16)).network;
    QElapsedTimer timer;
    timer.start();
    for (const PacketBackend backend : {PacketBackend::Ns3, PacketBackend::Htsim}) {
      const auto result = packet_network(backend, network, 131'072, {});
      QVERIFY(problem_of(result));
      QCOMPARE(problem_of(result)->code, ProblemCode::ValueTooLarge);
      QCOMPARE(problem_of(packet_network(backend, network, 1, {}))->code, ProblemCode::OneRank);
    }
    QVERIFY(timer.elapsed() < 20'000);
    QVERIFY(!problem_of(packet_network(PacketBackend::Htsim, network, 512, {})));
    QVERIFY(problem_of(packet_network(PacketBackend::Htsim, network, 520, {})));
    // A leaf switch for all nodes has no more than 1,024 ports.
    Network one_leaf = network;
    one_leaf.leaf = 0;
    QVERIFY(!problem_of(packet_network(PacketBackend::Ns3, one_leaf, 8 * 1023, {})));
    QVERIFY(problem_of(packet_network(PacketBackend::Ns3, one_leaf, 8 * 1024, {})));
  }

  void names_of_backends() {
    const auto read = [](const char* text) { return parse_packet_backends(text, "--networks"); };
    QCOMPARE(std::get<0>(read("htsim,ns3")),
             (std::vector<PacketBackend>{PacketBackend::Ns3, PacketBackend::Htsim}));
    QCOMPARE(std::get<0>(read("htsim")), std::vector<PacketBackend>{PacketBackend::Htsim});
    for (const char* text : {"", "ns-3", "ns3,", ",ns3", "ns3,ns3"})
      QVERIFY2(std::holds_alternative<Problem>(read(text)), text);
  }
};

QTEST_APPLESS_MAIN(PacketNetworkTest)
#include "packet_network_test.moc"
