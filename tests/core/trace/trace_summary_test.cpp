// Overview, search, neighbourhood, comparison and timeline of traces that are made node by node.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <random>

#include "bundle/bundle_simulation.h"
#include "model/parallel_loop.h"
#include "support/gzip_file.h"
#include "support/trace_bundle.h"
#include "trace/timeline_events.h"
#include "trace/trace_comparison.h"
#include "trace/trace_query.h"
#include "trace/trace_summary.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;
using chakra::CollectiveType;

namespace {

template <class T>
const T& got(const Result<T>& result) {
  if (const auto* problem = std::get_if<Problem>(&result)) throw std::runtime_error(to_string(*problem));
  return std::get<T>(result);
}

TraceSummary summary_of(const TraceFileSpec& file) {
  return got(summarize_trace("trace.0.et", trace_bytes(file)));
}

// Groups of good_bundle() in comm_groups.json.
const std::map<std::string, size_t> kGroups{{"1", 2}, {"2", 2}, {"3", 2}, {"4", 2}};

}  // namespace

class TraceSummaryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void counts_kinds_and_communication() {
    const TraceSummary s = summary_of(good_bundle().ranks[0]);
    QCOMPARE(s.nodes, 11);
    QCOMPARE(s.kinds.at("COMP_NODE"), (KindTotals{3, 3'000'000'000, 3'000'000, 0}));
    QCOMPARE(s.kinds.at("COMM_COLL_NODE").nodes, 6);
    QCOMPARE(s.comm.at({"ALL_REDUCE", "1", 1 << 20}).calls, 1);
    QCOMPARE(s.comm.at({"ALL_REDUCE", "", 64}).calls, 1);
    QCOMPARE(s.comm.at({"COMM_SEND_NODE", "", 1 << 16}).calls, 1);
    QCOMPARE(s.comm.size(), size_t{8});
    QCOMPARE(s.dependencies, 11);
    QCOMPARE(s.roots, 1);
    QCOMPARE(s.chain_length, 11);
    QVERIFY(s.dense_ids && s.cycle.empty());
  }

  void structure_defects_are_counted() {
    TraceFileSpec file = good_bundle().ranks[0];
    file.node(7).deps = {6, 9999};
    file.nodes.push_back(compute(100, {102}));
    file.nodes.push_back(compute(101, {100}));
    file.nodes.push_back(compute(102, {101}));
    file.nodes.push_back(compute(103, {102}));
    file.nodes.push_back(compute(103, {}));
    const TraceSummary s = summary_of(file);
    QCOMPARE(s.missing_dependencies, 1);
    QCOMPARE(s.duplicate_ids, 1);
    QCOMPARE(s.stuck, 4);
    QCOMPARE(s.cycle, (std::vector<uint64_t>{100, 102, 101}));
    QVERIFY(!s.dense_ids);
  }

  // Neither the order in the file nor the ids matter, be they dense or far apart.
  void order_and_ids_do_not_matter() {
    std::mt19937 random(5);
    const TraceFileSpec file = good_bundle().ranks[1];
    const TraceSummary expected = summary_of(file);
    for (const uint64_t factor : {1ull, 3ull, 1'000'000'007ull}) {
      TraceFileSpec other = file;
      for (TraceNodeSpec& n : other.nodes) {
        n.id = n.id * factor + 5;
        for (uint64_t& d : n.deps) d = d * factor + 5;
      }
      std::shuffle(other.nodes.begin(), other.nodes.end(), random);
      const TraceSummary s = summary_of(other);
      QVERIFY(s.same_content(expected));
      QCOMPARE(s.missing_dependencies, 0);
    }
  }

  void folder_groups_equal_ranks() {
    BundleSpec bundle = good_bundle();
    for (const int64_t rank : {2, 3}) bundle.ranks[rank].node(1).attr("num_ops").integer = 5;
    save(bundle, "b");
    const auto traces = got(find_traces(root() / "b"));
    QCOMPARE(traces.size(), size_t{4});
    const FolderSummary s = got(summarize_folder(traces, {}, {}));
    QCOMPARE(s.ranks, 4);
    QCOMPARE(s.classes.size(), size_t{2});
    QCOMPARE(s.classes[0].ranks, (std::vector<int64_t>{0, 1}));
    QCOMPARE(s.kinds.at("COMP_NODE").nodes, 12);
    QCOMPARE(s.comm.at({"ALL_REDUCE", "", 64}).calls, 4);
  }

  // Neither a result nor a problem, whatever the file is.
  void a_stop_ends_reading_data() {
    QTest::addColumn<bool>("compressed");
    QTest::newRow("plain") << false;
    QTest::newRow("compressed") << true;
  }
  void a_stop_ends_reading() {
    QFETCH(bool, compressed);
    save(good_bundle(), "a");
    const fs::path folder = root() / "a", file = folder / (compressed ? "trace.0.et.gz" : "trace.0.et");
    if (compressed) {
      write_gzip(file.string(), trace_bytes(good_bundle().ranks[0]));
      QVERIFY(fs::remove(folder / "trace.0.et"));
    }
    std::stop_source stop;
    stop.request_stop();
    QCOMPARE(got(summarize_trace(file, stop.get_token())).nodes, 0);
    QCOMPARE(got(load_trace(file, stop.get_token())).empty(), compressed);
    const auto traces = got(find_traces(folder));
    QCOMPARE(got(summarize_folder(traces, {}, stop.get_token())).ranks, 0);
    QCOMPARE(
        got(compare_traces({"a", traces, kGroups}, {"b", traces, kGroups}, 10, stop.get_token())).nodes.a, 0);
    std::vector<SimulatedSpan> spans(1);
    QVERIFY(
        !QByteArray::fromStdString(got(timeline_events(traces, spans, stop.get_token()))).contains("\"X\""));
  }

  // The trace that is being read when the stop comes does not count.
  void a_stop_in_between_keeps_the_ranks_so_far() {
    save(good_bundle(), "a");
    const auto traces = got(find_traces(root() / "a"));
    with_loop_threads(1, [&] {
      std::stop_source stop;
      const auto first = [&](double) { stop.request_stop(); };
      QCOMPARE(got(summarize_folder(traces, first, stop.get_token())).ranks, 1);
    });
  }

  void bad_files_are_problems_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("what");
    QTest::newRow("empty") << QByteArray() << "the file is empty";
    QTest::newRow("tar") << QByteArray(257, 'x') + "ustar" + QByteArray(250, '\0') << "tar -xf";
    QTest::newRow("text") << QByteArray("hello, this is no trace") << "byte 0";
    QTest::newRow("no node") << QByteArray(
                                    "\x05\x0a\x03"
                                    "1.0",
                                    6)
                             << "the file has no node";
    QTest::newRow("profile") << QByteArray("{\"traceEvents\": []}") << "\"traceEvents\"";
    QTest::newRow("no gzip") << QByteArray("\x1f\x8b\x08 and so on") << "";
    QTest::newRow("cut off") << QByteArray::fromStdString(trace_bytes(good_bundle().ranks[0])).chopped(5)
                             << "are left";
  }
  void bad_files_are_problems() {
    QFETCH(QByteArray, content);
    QFETCH(QString, what);
    const fs::path file = root() / "x.et";
    std::ofstream(file, std::ios::binary) << content.toStdString();
    const auto result = summarize_trace(file);
    const auto* problem = std::get_if<Problem>(&result);
    QVERIFY(problem);
    QVERIFY2(QString::fromStdString(to_string(*problem)).contains(what), to_string(*problem).c_str());
    QVERIFY(problem->where.find("x.et") != std::string::npos);
  }

  void finds_traces() {
    QVERIFY(std::holds_alternative<Problem>(find_traces(root() / "nothing")));
    QVERIFY(std::holds_alternative<Problem>(find_traces(root())));
    QVERIFY(std::get<Problem>(find_traces(root())).code == ProblemCode::TraceFormat);
    save(good_bundle(), "b");
    BundleSpec other = good_bundle();
    other.name = "other";
    save(other, "b");
    const auto two = find_traces(root() / "b");
    QVERIFY(std::get<Problem>(two).what.find("other, trace") != std::string::npos);
    QCOMPARE(got(find_traces(root() / "b" / "trace.3.et")).begin()->first, int64_t{3});
  }

  void looks_around_a_node() {
    const std::string bytes = trace_bytes(good_bundle().ranks[0]);
    const Neighbourhood near = got(around_node("t", bytes, 7, 1, 100));
    QCOMPARE(near.centre.node.kind, std::string("COMP_NODE"));
    QCOMPARE(near.others.size(), size_t{2});
    QCOMPARE(near.others[0].node.id, uint64_t{6});
    QCOMPARE(near.others[1].node.id, uint64_t{8});
    QVERIFY(std::find(near.attributes.begin(), near.attributes.end(),
                      std::pair<std::string, std::string>("num_ops", "1000000000")) != near.attributes.end());
    QCOMPARE(got(around_node("t", bytes, 7, 1000, 100)).others.size(), size_t{10});
    const Neighbourhood few = got(around_node("t", bytes, 7, 1000, 3));
    QCOMPARE(few.others.size(), size_t{3});
    QVERIFY(few.left_out > 0);
    QVERIFY(std::holds_alternative<Problem>(around_node("t", bytes, 99, 1, 100)));
    const FoundNodes found = got(find_nodes("t", bytes, "N1", 2));  // n1, n10, n11
    QCOMPARE(found.count, 3);
    QCOMPARE(found.nodes.size(), size_t{2});
  }

  void equal_bundles_have_no_differences() {
    save(good_bundle(), "a");
    BundleSpec renumbered = good_bundle();  // other names of groups, other ids
    for (auto& [rank, file] : renumbered.ranks)
      for (TraceNodeSpec& n : file.nodes) {
        n.id += 1000;
        for (uint64_t& d : n.deps) d += 1000;
        for (TraceAttr& a : n.attrs)
          if (a.name == "pg_name") a.bytes += "7";
      }
    save(renumbered, "b");
    const TraceComparison c = compare({{"17", 2}, {"27", 2}, {"37", 2}, {"47", 2}});
    QVERIFY(c.equal());
    QCOMPARE(c.nodes.a, c.nodes.b);
  }

  void differences_are_named() {
    save(good_bundle(), "a");
    BundleSpec changed = good_bundle();
    changed.ranks[2].node(5).attr("comm_size").integer = 77;
    changed.ranks[2].nodes.pop_back();
    changed.ranks[2].nodes.push_back(compute(500, {10}));
    save(changed, "b");
    const TraceComparison c = compare(kGroups);
    QVERIFY(!c.equal());
    QCOMPARE(c.different_ranks, std::vector<int64_t>{2});
    QCOMPARE(c.compared_rank, int64_t{2});
    QCOMPARE(c.difference_count, 3);
    QCOMPARE(c.differences[0].name, std::string("n5"));
    QCOMPARE(c.differences[0].b, std::string("ALL_TO_ALL of 77 bytes over 2 ranks"));
    QVERIFY(c.differences[1].kind == NodeDifference::Kind::OnlyA && c.differences[1].name == "n11");
    QVERIFY(c.differences[2].kind == NodeDifference::Kind::OnlyB && c.differences[2].name == "n500");
    QVERIFY(c.comm.at({"ALL_TO_ALL", 2, 77}).differ());
    QVERIFY(!c.comm.at({"ALL_REDUCE", 0, 64}).differ());
  }

  // Every node is one event; events of a track do not overlap.
  void timeline_has_every_node() {
    save(good_bundle(), "a");
    std::vector<SimulatedSpan> spans;
    const auto simulated = simulate_bundle(BundlePaths{.folder = root() / "a"}, {}, {},
                                           [&](const SimulatedSpan& s) { spans.push_back(s); });
    QVERIFY(got(simulated).ok());
    QCOMPARE(spans.size(), size_t{44});
    const std::string json = got(timeline_events(got(find_traces(root() / "a")), spans));
    const auto document = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
    std::map<std::pair<int, int>, double> ends;
    int events = 0;
    double last = 0;
    for (const QJsonValue value : document["traceEvents"].toArray()) {
      const QJsonObject e = value.toObject();
      if (e["ph"].toString() != "X") continue;
      ++events;
      QVERIFY(e["name"].toString().startsWith('n'));
      double& end = ends[{e["pid"].toInt(), e["tid"].toInt()}];
      QVERIFY(e["ts"].toDouble() >= end - 1e-9);
      end = e["ts"].toDouble() + e["dur"].toDouble();
      last = std::max(last, end);
    }
    QCOMPARE(events, 44);
    QVERIFY(qAbs(last * 1000 - static_cast<double>(got(simulated).cycles())) < 1);
  }

 private:
  fs::path root() const { return folder_->path().toStdString(); }
  void save(const BundleSpec& bundle, const char* name) { bundle.save(root() / name); }
  TraceComparison compare(const std::map<std::string, size_t>& groups_of_b) {
    return got(compare_traces({"a", got(find_traces(root() / "a")), kGroups},
                              {"b", got(find_traces(root() / "b")), groups_of_b}, 10));
  }
  std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_APPLESS_MAIN(TraceSummaryTest)
#include "trace_summary_test.moc"
