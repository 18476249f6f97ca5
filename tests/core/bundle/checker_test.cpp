// A good bundle passes the checker. For every rule of the checker, a bundle that breaks the rule fails.
#include <sys/stat.h>

#include <QTest>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>

#include "bundle/checker.h"
#include "support/checked_bundles.h"
#include "support/trace_bundle.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;
using chakra::CollectiveType;
using chakra::NodeType;

namespace {

struct Breakage {
  const char* name;
  const char* code;
  bool error;
  std::function<void(BundleSpec&)> apply;
  const char* folder = "bundle";
};

auto in_file(const char* file, const char* from, const char* to) {
  return [=](BundleSpec& b) { b.files[file] = replaced(b.files[file], from, to); };
}

// Applies to one node of rank 0.
auto at_node(uint64_t id, std::function<void(TraceNodeSpec&)> change) {
  return [=](BundleSpec& b) { change(b.ranks[0].node(id)); };
}
auto set_integer(uint64_t id, const char* attr, int64_t value) {
  return at_node(id, [=](TraceNodeSpec& n) { n.attr(attr).integer = value; });
}
auto set_kind(uint64_t id, const char* attr, uint32_t kind) {
  return at_node(id, [=](TraceNodeSpec& n) { n.attr(attr).kind = kind; });
}

using Breakages = std::vector<Breakage>;

Breakages of_files() {
  return {
      {"no traces", "NO_TRACES", true, [](BundleSpec& b) { b.ranks.clear(); }},
      {"two names", "SEVERAL_NAMES", true, [](BundleSpec& b) { b.more["other.0.et"] = "x"; }},
      {"gap in the ranks", "MISSING_RANK", true, [](BundleSpec& b) { b.ranks.erase(2); }},
      {"last rank missing", "MISSING_RANK", true, [](BundleSpec& b) { b.ranks.erase(3); }},
      {"trace beyond the ranks", "EXTRA_FILE", false, [](BundleSpec& b) { b.ranks[4] = b.ranks[3]; }},
      {"product of npus_count", "NPUS_PRODUCT", true, [](BundleSpec& b) { b.ranks[4] = b.ranks[3]; }},
      {"damaged gzip", "READ", true, [](BundleSpec& b) { b.ranks[1].raw = "\x1f\x8b\x08 and so on"; }},
      {"schema 0.0.1", "SCHEMA", true,
       // A node with id 1, name "n", node_type COMP_NODE, tensor_size 8 and num_ops 9.
       [](BundleSpec& b) { b.ranks[1].raw = "\x0b\x08\x01\x12\x01n\x18\x03\x30\x08\x60\x09"; }},
      {"JSON", "SCHEMA", true,
       [](BundleSpec& b) {
         b.ranks[1].raw = R"({"nodes": [{"id": 1, "name": "n", "node_type": "comp_node"}]})";
       }},
      {"no metadata", "NO_METADATA", true, [](BundleSpec& b) { b.ranks[1].metadata = false; }},
      {"no nodes", "NO_NODES", true, [](BundleSpec& b) { b.ranks[1].nodes.clear(); }},
      {"truncated", "PARSE", true,
       [](BundleSpec& b) {
         b.ranks[1].raw = trace_bytes(b.ranks[1]);
         b.ranks[1].raw.resize(b.ranks[1].raw.size() - 3);
       }},
      {"length cut off", "PARSE", true,
       [](BundleSpec& b) { b.ranks[1].raw = trace_bytes(b.ranks[1]) + "\xff"; }},
      {"length too long", "PARSE", true,
       [](BundleSpec& b) { b.ranks[1].raw = trace_bytes(b.ranks[1]) + "\xff\xff\xff\xff\xff\xff\x01"; }},
      {"empty message", "PARSE", true,
       [](BundleSpec& b) { b.ranks[1].raw = trace_bytes(b.ranks[1]) + std::string(1, '\0'); }},
      {"garbage instead of a node", "PARSE", true,
       [](BundleSpec& b) {
         b.ranks[1].raw = trace_bytes(b.ranks[1]) +
                          "\x03"
                          "abc";
       }},
  };
}

Breakages of_dependencies() {
  return {
      {"duplicate id", "DUPLICATE_ID", true, [](BundleSpec& b) { b.ranks[0].node(11).id = 7; }},
      {"missing dependency", "DEP_MISSING", true, at_node(7, [](auto& n) { n.deps.push_back(99); })},
      {"self dependency", "SELF_DEPENDENCY", true, at_node(7, [](auto& n) { n.deps.push_back(7); })},
      {"cycle", "CYCLE", true, at_node(2, [](auto& n) { n.deps.push_back(5); })},
      {"cycle leaves the rank unfinished", "NOT_FINISHED", true,
       at_node(2, [](auto& n) { n.deps.push_back(5); })},
      {"many ready at once", "WIDE_READY", false,
       [](BundleSpec& b) {
         for (uint64_t id = 100; id < 700; ++id) b.ranks[0].nodes.push_back(compute(id, {1}));
       }},
      {"order left to timing", "ORDER_FREE", false,
       [](BundleSpec& b) {
         for (auto& [rank, file] : b.ranks) file.node(4).deps = {2};
       }},
  };
}

Breakages of_nodes() {
  using namespace chakra::attr_field;
  return {
      {"unknown node type", "NODE_TYPE", true, at_node(7, [](auto& n) { n.type = 12; })},
      {"metadata node", "NODE_TYPE", true,
       at_node(7, [](auto& n) { n.type = static_cast<int>(NodeType::Metadata); })},
      {"invalid node", "NODE_TYPE", true,
       at_node(7, [](auto& n) { n.type = static_cast<int>(NodeType::Invalid); })},
      {"memory node without expansion", "MEMORY_NODE", true,
       at_node(7, [](auto& n) { n.type = static_cast<int>(NodeType::MemLoad); })},
      {"num_ops missing", "ATTR_MISSING", true, at_node(7, [](auto& n) { n.drop("num_ops"); })},
      {"tensor_size missing", "ATTR_MISSING", true, at_node(7, [](auto& n) { n.drop("tensor_size"); })},
      {"comm_size missing", "ATTR_MISSING", true, at_node(2, [](auto& n) { n.drop("comm_size"); })},
      {"comm_tag missing", "ATTR_MISSING", true, at_node(6, [](auto& n) { n.drop("comm_tag"); })},
      {"tensors wanted by the system", "ATTR_MISSING", true,
       in_file("system.json", "\"roofline-enabled\": 1", "\"roofline-enabled\": 1, \"track-local-mem\": 1")},
      {"float instead of integer", "ATTR_KIND", true, set_kind(2, "comm_size", kFloat)},
      {"string instead of integer", "ATTR_KIND", true, set_kind(7, "num_ops", kString)},
      {"integer instead of string", "ATTR_KIND", true, set_kind(2, "pg_name", kInt64)},
      {"is_cpu_op of a wrong kind", "ATTR_KIND", true, set_kind(7, "is_cpu_op", kString)},
      {"involved_dim of a wrong kind", "ATTR_KIND", true,
       at_node(10, [](auto& n) { n.attr("involved_dim").kind = kInt64; })},
      {"kind that old readers miss", "ATTR_UNUSUAL_KIND", false, set_kind(2, "comm_size", kUint64)},
      {"attribute twice", "ATTR_REPEATED", false,
       at_node(7, [](auto& n) { n.attrs.push_back({.name = "num_ops", .kind = kInt64, .integer = 5}); })},
      {"zero num_ops", "ATTR_RANGE", true, set_integer(7, "num_ops", 0)},
      {"zero tensor_size", "ATTR_RANGE", true, set_integer(7, "tensor_size", 0)},
      {"zero comm_size", "ATTR_RANGE", true, set_integer(2, "comm_size", 0)},
      {"negative comm_size", "ATTR_RANGE", true, set_integer(6, "comm_size", -5)},
      {"negative tag", "ATTR_RANGE", true, set_integer(6, "comm_tag", -1)},
      {"compute on the CPU", "CPU_OP", false, set_integer(7, "is_cpu_op", 1)},
      {"communication on the CPU", "CPU_OP", true, set_integer(2, "is_cpu_op", 1)},
      {"root shorter than a nanosecond", "ROOT_TOO_SHORT", true,
       at_node(1,
               [](auto& n) {
                 n.attr("num_ops").integer = 1000;
                 n.attr("tensor_size").integer = 1000;
               })},
      {"collective at the start without a delay", "ROOT_AT_ZERO", true,
       at_node(2, [](auto& n) { n.deps.clear(); })},
      {"odd list of tensors", "TENSOR_LIST", true,
       at_node(7,
               [](auto& n) {
                 n.attrs.push_back(
                     {.name = "inputs", .kind = kStringList, .bytes = encode_string_list({"x"})});
               })},
      {"tensor without bytes", "TENSOR_LIST", true,
       at_node(7,
               [](auto& n) {
                 n.attrs.push_back(
                     {.name = "outputs", .kind = kStringList, .bytes = encode_string_list({"x", "big"})});
               })},
      {"tensor written twice", "TENSOR_WRITTEN_TWICE", true,
       [](BundleSpec& b) {
         for (const uint64_t id : {1, 7})
           b.ranks[0].node(id).attrs.push_back(
               {.name = "outputs", .kind = kStringList, .bytes = encode_string_list({"x", "8"})});
       }},
  };
}

Breakages of_collectives() {
  using namespace chakra::attr_field;
  return {
      {"unsupported collective", "COLLECTIVE_TYPE", true,
       set_integer(2, "comm_type", static_cast<int>(CollectiveType::Reduce))},
      {"unknown collective", "COLLECTIVE_TYPE", true, set_integer(2, "comm_type", 77)},
      {"broadcast", "BROADCAST", false,
       set_integer(2, "comm_type", static_cast<int>(CollectiveType::Broadcast))},
      {"all-gather smaller than the splits", "ALL_GATHER_SMALL", true,
       in_file("system.json", "\"preferred-dataset-splits\": 1", "\"preferred-dataset-splits\": 1048576")},
      {"group name no integer", "GROUP_NAME", true,
       at_node(2, [](auto& n) { n.attr("pg_name").bytes = "tp"; })},
      {"group not in the file", "GROUP_UNKNOWN", true,
       at_node(2, [](auto& n) { n.attr("pg_name").bytes = "9"; })},
      {"rank outside its group", "NOT_A_MEMBER", true,
       at_node(2, [](auto& n) { n.attr("pg_name").bytes = "2"; })},
      {"group of one", "GROUP_OF_ONE", true, in_file("comm_groups.json", "[0, 1]", "[0]")},
      {"world of one", "GROUP_OF_ONE", true,
       [](BundleSpec& b) {
         b.ranks = {{0, b.ranks[0]}};
         b.files["network.yml"] = replaced(b.files["network.yml"], "[ 4 ]", "[ 1 ]");
       }},
      {"no involved dimension", "INVOLVED_DIM", true,
       at_node(10,
               [](auto& n) {
                 n.attrs.push_back(
                     {.name = "involved_dim", .kind = kBoolList, .bytes = encode_bool_list({false, false})});
               })},
      {"sizes differ", "COLLECTIVE_MISMATCH", true, set_integer(2, "comm_size", 12345)},
      {"types differ", "COLLECTIVE_MISMATCH", true,
       set_integer(2, "comm_type", static_cast<int>(CollectiveType::AllToAll))},
      {"order differs", "COLLECTIVE_MISMATCH", true,
       [](BundleSpec& b) { std::swap(b.ranks[0].node(3).attrs, b.ranks[0].node(4).attrs); }},
      {"sizes differ and nobody finishes", "WAITS", true, set_integer(2, "comm_size", 12345)},
      {"one collective too few", "COLLECTIVE_COUNT", true,
       [](BundleSpec& b) { b.ranks[0].node(5) = compute(5, {4}); }},
      {"member that takes no part", "COLLECTIVE_COUNT", true,
       [](BundleSpec& b) { b.ranks[0].node(9) = compute(9, {8}); }},
      {"member that takes no part in the world", "COLLECTIVE_COUNT", true,
       [](BundleSpec& b) { b.ranks[0].node(10) = compute(10, {9}); }},
      // ASTRA-sim tags messages of the world with the number of streams that a rank has begun.
      {"other collectives before one of the world", "WAITS", true,
       [](BundleSpec& b) {
         for (const int64_t rank : {0, 1}) {
           b.ranks[rank].nodes.push_back(collective(12, {9}, CollectiveType::AllReduce, 1000, "1"));
           b.ranks[rank].node(10).deps.push_back(12);
         }
       }},
      // Two groups whose members disagree about which comes first.
      {"crossed groups", "WAITS", true,
       [](BundleSpec& b) {
         for (const int64_t rank : {0, 3})
           std::swap(b.ranks[rank].node(5).attrs, b.ranks[rank].node(9).attrs);
         for (const int64_t rank : {0, 1, 2, 3}) {
           b.ranks[rank].node(6) = compute(6, {5});
           b.ranks[rank].node(8) = compute(8, {7});
         }
       }},
  };
}

Breakages of_messages() {
  return {
      {"source is not the sender", "OWN_RANK", true, set_integer(6, "comm_src", 3)},
      {"send to itself", "SELF_SEND", true, set_integer(6, "comm_dst", 0)},
      {"peer outside the world", "PEER_RANGE", true, set_integer(6, "comm_dst", 4)},
      {"negative peer", "PEER_RANGE", true, set_integer(6, "comm_dst", -1)},
      {"send without receive", "SEND_UNMATCHED", true, set_integer(6, "comm_tag", 77)},
      {"receive without send", "RECEIVE_UNMATCHED", true, set_integer(6, "comm_tag", 77)},
      {"receive of another size", "RECEIVE_UNMATCHED", true, set_integer(8, "comm_size", 77)},
      {"receive waits for ever", "WAITS", true, set_integer(6, "comm_tag", 77)},
      {"tag beyond the modulus", "TAG_LARGE", false,
       [](BundleSpec& b) {
         for (const int64_t rank : {0, 2}) b.ranks[rank].node(6).attr("comm_tag").integer = 500'000'007;
       }},
      {"tag used twice", "TAG_REUSED", false,
       [](BundleSpec& b) {
         for (const int64_t rank : {0, 2}) {
           TraceFileSpec& file = b.ranks[rank];
           TraceNodeSpec again = file.node(6);
           again.id = 12;
           again.deps = {11};
           file.nodes.push_back(again);
         }
       }},
  };
}

Breakages of_groups() {
  return {
      {"groups missing", "GROUP_UNKNOWN", true, [](BundleSpec& b) { b.files.erase("comm_groups.json"); }},
      {"groups no JSON", "GROUP_FILE", true,
       [](BundleSpec& b) { b.files["comm_groups.json"] = "{\"1\": [0, 1"; }},
      {"groups no object", "GROUP_FILE", true,
       [](BundleSpec& b) { b.files["comm_groups.json"] = "[[0, 1]]"; }},
      {"path that contains empty", "GROUP_PATH", true, [](BundleSpec&) {}, "not_empty"},
      {"group key no integer", "GROUP_KEY", true, in_file("comm_groups.json", "{", "{\"tp\": [0, 1], ")},
      {"group key zero", "GROUP_KEY", true, in_file("comm_groups.json", "{", "{\"0\": [0, 1], ")},
      {"group key twice", "GROUP_FILE", true, in_file("comm_groups.json", "{", "{\"1\": [0, 1], ")},
      {"group key too large", "GROUP_KEY", true,
       in_file("comm_groups.json", "{", "{\"2147483648\": [0, 1], ")},
      {"group id above 2147", "GROUP_ID_LARGE", false,
       in_file("comm_groups.json", "{", "{\"2148\": [0, 1], ")},
      {"group without members", "GROUP_MEMBERS", true, in_file("comm_groups.json", "{", "{\"5\": [], ")},
      {"group of names", "GROUP_MEMBERS", true, in_file("comm_groups.json", "{", "{\"5\": [\"0\", \"1\"], ")},
      {"group with a rank twice", "GROUP_MEMBERS", true,
       in_file("comm_groups.json", "{", "{\"5\": [0, 0], ")},
      {"group with a rank too many", "GROUP_MEMBERS", true,
       in_file("comm_groups.json", "{", "{\"5\": [0, 4], ")},
      {"group with a negative rank", "GROUP_MEMBERS", true,
       in_file("comm_groups.json", "{", "{\"5\": [-1, 0], ")},
      {"group out of order", "GROUP_ORDER", false, in_file("comm_groups.json", "[0, 1]", "[1, 0]")},
      {"group ids equal modulo 500", "GROUP_COLLISION", false,
       [](BundleSpec& b) {
         b.files["comm_groups.json"] = replaced(b.files["comm_groups.json"], "\"3\"", "\"501\"");
         for (const int64_t rank : {0, 2}) b.ranks[rank].node(9).attr("pg_name").bytes = "501";
       }},
  };
}

Breakages of_configuration() {
  return {
      {"system missing", "CONFIG_FILE", true, [](BundleSpec& b) { b.files.erase("system.json"); }},
      {"network missing", "CONFIG_FILE", true, [](BundleSpec& b) { b.files.erase("network.yml"); }},
      {"memory missing", "CONFIG_FILE", false, [](BundleSpec& b) { b.files.erase("memory.json"); }},
      {"system no JSON", "CONFIG_FILE", true, [](BundleSpec& b) { b.files["system.json"] = "{"; }},
      {"splits missing", "SYSTEM_KEY", true, in_file("system.json", "\"preferred-dataset-splits\": 1,", "")},
      {"unknown scheduling policy", "SYSTEM_KEY", true, in_file("system.json", "LIFO", "ROUND_ROBIN")},
      {"roofline without peak", "SYSTEM_KEY", true, in_file("system.json", "\"peak-perf\": 989,", "")},
      {"implementation list too short", "IMPLEMENTATION_LIST", true,
       in_file("network.yml",
               "topology: [ Switch ]\nnpus_count: [ 4 ]  # ranks\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]",
               "topology: [ Ring, Switch ]\nnpus_count: [ 2, 2 ]\nbandwidth: [ 9, 9 ]\nlatency: [ 1, 1 ]")},
      {"implementation list too long", "IMPLEMENTATION_LIST", true,
       in_file("system.json", "\"all-gather-implementation\": [\"ring\"]",
               "\"all-gather-implementation\": [\"ring\", \"ring\"]")},
      {"unknown implementation", "IMPLEMENTATION", true,
       in_file("system.json", "\"all-gather-implementation\": [\"ring\"]",
               "\"all-gather-implementation\": [\"star\"]")},
      {"tree of an all-gather", "IMPLEMENTATION", true,
       in_file("system.json", "\"all-gather-implementation\": [\"ring\"]",
               "\"all-gather-implementation\": [\"doubleBinaryTree\"]")},
      {"tree of groups", "IMPLEMENTATION", true,
       in_file("system.json", "\"all-reduce-implementation\": [\"ring\"]",
               "\"all-reduce-implementation\": [\"doubleBinaryTree\"]")},
      {"window of no messages", "IMPLEMENTATION", true,
       in_file("system.json", "\"all-gather-implementation\": [\"ring\"]",
               "\"all-gather-implementation\": [\"direct0\"]")},
      {"network list missing", "NETWORK_KEY", true, in_file("network.yml", "latency: [ 500.0 ]", "")},
      {"network lists of different length", "NETWORK_LISTS", true,
       in_file("network.yml", "[ 50.0 ]", "[ 50.0, 50.0 ]")},
      {"unknown topology", "TOPOLOGY", true, in_file("network.yml", "Switch", "Torus")},
      {"dimension of one rank", "NPUS_COUNT", true, in_file("network.yml", "[ 4 ]", "[ 1 ]")},
      {"npus_count no number", "NPUS_COUNT", true, in_file("network.yml", "[ 4 ]", "[ four ]")},
      {"latency negative", "NETWORK_NUMBER", true, in_file("network.yml", "latency: [ ", "latency: [ -")},
      {"bandwidth zero", "NETWORK_NUMBER", true, in_file("network.yml", "50.0", "0")},
      {"unknown memory type", "MEMORY_TYPE", true, in_file("memory.json", "NO_MEMORY_EXPANSION", "SOME")},
  };
}

Breakages of_manifest() {
  return {
      {"manifest of other traces", "MANIFEST_DIGEST", false,
       [](BundleSpec& b) {
         b.more["manifest.json"] = R"({"format": "shardscape-bundle", "ranks": 4, "classes":
             [{"digest": "poly61:0000000000000001", "rank_runs": [[0, 3, 1]]}]})";
       }},
      {"manifest that is none", "MANIFEST", false, [](BundleSpec& b) { b.more["manifest.json"] = "{"; }},
      {"manifest of another number of ranks", "MANIFEST", true,
       [](BundleSpec& b) {
         b.more["manifest.json"] = R"({"format": "shardscape-bundle", "ranks": 8, "classes": []})";
       }},
  };
}

const Breakages& breakages() {
  static const Breakages all = [] {
    Breakages list;
    for (const auto& some : {of_files(), of_dependencies(), of_nodes(), of_collectives(), of_messages(),
                             of_groups(), of_configuration(), of_manifest()})
      list.insert(list.end(), some.begin(), some.end());
    return list;
  }();
  return all;
}

}  // namespace

class CheckerTest : public QObject, private CheckedBundles {
  Q_OBJECT

 private Q_SLOTS:
  void good_bundle_passes() {
    const CheckReport report = check(good_bundle());
    QVERIFY2(report.ok(), check_text(report).c_str());
    QVERIFY2(report.findings.empty(), check_text(report).c_str());
    QCOMPARE(report.ranks, 4);
    QCOMPARE(report.nodes, 44);
    QCOMPARE(report.collectives, 24);
    QCOMPARE(report.sends, 4);
  }

  void broken_bundles_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < breakages().size(); ++i) QTest::newRow(breakages()[i].name) << static_cast<int>(i);
  }

  void broken_bundles() {
    QFETCH(int, index);
    const Breakage& breakage = breakages()[static_cast<size_t>(index)];
    BundleSpec bundle = good_bundle();
    breakage.apply(bundle);
    const CheckReport report = check(bundle, breakage.folder);
    const auto it = std::find_if(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
      return f.code == breakage.code && f.error == breakage.error;
    });
    QVERIFY2(it != report.findings.end(), check_text(report).c_str());
    QVERIFY(!it->message.empty());
    if (breakage.error) QVERIFY2(!report.ok(), check_text(report).c_str());
  }

  // No rule without a bundle that breaks it.
  void every_code_is_broken_once() {
    std::set<std::string> broken{"READ_ONLY", "READ", "STOPPED", "GZIP"};  // tested by themselves below
    for (const Breakage& b : breakages()) broken.insert(b.code);
    const std::regex pattern(R"re((?:error|warning)\("([A-Z][A-Z_]+)")re");
    int found = 0;
    std::vector<fs::path> sources;
    for (const char* folder : {"chakra", "astra_sim", "bundle"})
      for (const auto& entry : fs::directory_iterator(fs::path(SHARDSCAPE_SOURCE_DIR) / "core" / folder))
        sources.push_back(entry.path());
    for (const fs::path& source : sources) {
      std::ifstream stream(source);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern); it != std::sregex_iterator();
           ++it, ++found)
        QVERIFY2(broken.contains((*it)[1]), (*it)[1].str().c_str());
    }
    QVERIFY(found > 50);
  }

  void a_warning_does_not_spoil_a_bundle() {
    BundleSpec bundle = good_bundle();
    bundle.files["comm_groups.json"] = R"({"1": [1, 0], "2": [2, 3], "3": [0, 2], "4": [1, 3]})";
    const CheckReport report = check(bundle);
    QVERIFY2(report.ok(), check_text(report).c_str());
    QCOMPARE(report.findings.size(), size_t{1});
  }

  void unreadable_trace() {
    BundleSpec bundle = good_bundle();
    bundle.ranks.erase(1);
    const fs::path folder = fresh_folder("bundle");
    bundle.save(folder);
    fs::create_directory(folder / "trace.1.et");
    QVERIFY(has(check_bundle(folder), "READ"));
  }

  void read_only_trace() {
    const fs::path folder = fresh_folder("bundle");
    good_bundle().save(folder);
    fs::permissions(folder / "trace.1.et", fs::perms::owner_read);
    std::ofstream probe(folder / "trace.1.et", std::ios::app);
    if (probe) QSKIP("this user may write to read-only files");
    QVERIFY(has(check_bundle(folder), "READ_ONLY"));
  }

  void stopped_check_is_not_ok() {
    const fs::path folder = fresh_folder("bundle");
    good_bundle().save(folder);
    std::stop_source stop;
    stop.request_stop();
    const CheckReport report = check_bundle(folder, {}, stop.get_token());
    QVERIFY(!report.ok());
    QVERIFY(has(report, "STOPPED"));
  }

  void findings_are_capped_and_counted() {
    BundleSpec bundle = good_bundle();
    for (uint64_t id = 100; id < 400; ++id) bundle.ranks[0].nodes.push_back(compute(id, {9999}));
    const CheckReport report = check(bundle);
    const auto count = std::count_if(report.findings.begin(), report.findings.end(),
                                     [](const Finding& f) { return f.code == "DEP_MISSING"; });
    QVERIFY(count > 5 && count < 50);
    QVERIFY(check_text(report).find("and 280 more of this kind") != std::string::npos);
  }

  // A total of findings counts those that are not listed.
  void totals_count_findings() {
    BundleSpec bundle = good_bundle();
    for (uint64_t id = 100; id < 400; ++id) bundle.ranks[0].nodes.push_back(compute(id, {9999}));
    const CheckReport report = check(bundle);
    const auto others = std::count_if(report.findings.begin(), report.findings.end(),
                                      [](const Finding& f) { return f.error && f.code != "DEP_MISSING"; });
    QCOMPARE(finding_count(report.findings, true), int64_t{300 + others});
    const std::string total = ": " + std::to_string(300 + others) + " errors";
    QVERIFY2(check_text(report).find(total) != std::string::npos, check_text(report).c_str());
  }

  // A manifest or the name of a file may state any number of ranks.
  void absurd_numbers_of_ranks_take_no_memory() {
    BundleSpec bundle = good_bundle();
    bundle.more["manifest.json"] = R"({"format": "shardscape-bundle", "ranks": 4611686018427387904,
      "classes": [{"digest": "", "rank_runs": [[0, 4611686018427387903, 1], [5, 4611686018427387903, 9]]}]})";
    const CheckReport report = check(bundle);
    QVERIFY(has(report, "MANIFEST") && !report.ok());
    bundle = good_bundle();
    bundle.ranks[2147483647] = bundle.ranks[3];
    bundle.files.erase("network.yml");
    QVERIFY(has(check(bundle), "MISSING_RANK"));
  }

  void a_pipe_is_no_trace() {
    const fs::path folder = fresh_folder("bundle");
    BundleSpec bundle = good_bundle();
    bundle.ranks.erase(1);
    bundle.files.erase("system.json");
    bundle.save(folder);
    QCOMPARE(::mkfifo((folder / "trace.1.et").c_str(), 0600), 0);
    QCOMPARE(::mkfifo((folder / "system.json").c_str(), 0600), 0);
    const CheckReport report = check_bundle(folder);
    QVERIFY(has(report, "READ") && has(report, "CONFIG_FILE"));
  }

  void deep_json_is_refused() {
    for (const char* file : {"system.json", "comm_groups.json", "memory.json"}) {
      BundleSpec bundle = good_bundle();
      bundle.files[file] = std::string(200'000, '[');
      QVERIFY(!check(bundle).ok());
      bundle.files[file] = "{\"a\": " + std::string(150, '[') + std::string(150, ']') + "}";
      QVERIFY(!check(bundle).ok());
    }
  }

  void says_who_waits_for_whom() {
    BundleSpec bundle = good_bundle();
    bundle.ranks[3].node(5) = compute(5, {4});
    const std::string text = check_text(check(bundle));
    QVERIFY2(text.find("missing rank 3") != std::string::npos, text.c_str());
  }

  void json_names_everything() {
    BundleSpec bundle = good_bundle();
    bundle.ranks[0].node(7).deps.push_back(99);
    const std::string json = check_json(check(bundle));
    for (const char* part : {"\"ok\": false", "\"severity\": \"error\"", "\"code\": \"DEP_MISSING\"",
                             "\"rank\": 0", "\"node\": 7"})
      QVERIFY2(json.find(part) != std::string::npos, json.c_str());
  }
};

QTEST_GUILESS_MAIN(CheckerTest)
#include "checker_test.moc"
