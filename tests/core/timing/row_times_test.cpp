// The time of every collective and of every kind of kernel in a step: they add up to the simulated step, and
// each collective outside of layers takes as long as its spans.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <cmath>
#include <map>
#include <random>

#include "base/units.h"
#include "performance/collective_time.h"
#include "pipeline/peak_candidates.h"
#include "plan/collective_rows.h"
#include "report/report_json.h"
#include "report/time_report.h"
#include "support/random_designs.h"
#include "support/stage_seconds.h"
#include "support/test_share.h"
#include "support/trace_designs.h"
#include "timing/row_times.h"
#include "timing/step_ops.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

QString name_of(const CollectiveValue& row) {
  return QString::fromStdString(std::string(phase_name(row.phase)) + " " + std::string(row.op.name()) + " " +
                                row.group + " " + std::string(dtype_name(row.dtype)));
}

// The spans of the timeline that a row outside of layers counts. A receive ends with its message, which is as
// long as the sender's span.
double spans_of(const Simulation& s, const StageTimes& stage, const CollectiveValue& row) {
  double out = 0;
  for (const Span& span : stage.spans) {
    const bool messages = row.phase == Phase::Pipeline && row.op.is_message();
    if (messages && span.kind == SpanKind::Send && row.op == CommOp::send()) out += span.end - span.begin;
    if (messages && span.kind == SpanKind::Receive && row.op == CommOp::receive()) {
      const Span& sent = s.stages[static_cast<size_t>(span.waits_stage)]
                             .spans[static_cast<size_t>(span.waits_span)];
      out += sent.end - sent.begin;
    }
    if (span.kind == SpanKind::Collective && is_row(row, *s.names[static_cast<size_t>(span.name)].collective))
      out += span.end - span.begin;
  }
  return out;
}

QStringList faults(const std::shared_ptr<const Report>& report) {
  QStringList out;
  const auto simulation = simulate(*report);
  const Simulation& s = *simulation;
  const double tiny = kTiny * s.step_seconds;
  StepOps ops(report, simulation);
  for (size_t i = 0; i < s.stages.size(); ++i) {
    const StageTimes& stage = s.stages[i];
    const std::vector<CollectiveValue>& rows = report->stages[i].collectives;
    const auto fail = [&](const QString& what, double is, double wanted) {
      out << QString("stage %1: %2: %3 instead of %4")
                 .arg(i)
                 .arg(what)
                 .arg(is, 0, 'g', 12)
                 .arg(wanted, 0, 'g', 12);
    };
    if (rows.size() != stage.collectives.size()) return {"a row without a time"};
    // Ops of layers as the timeline shows them: what compute does not hide.
    std::map<std::pair<int, int>, double> shown;
    for (const SimulatedLayer& layer : stage.layers)
      for (const OpSpan& op : ops.of(static_cast<int>(i), layer))
        shown[{op.segment, op.op}] += op.end - op.begin;
    double all = 0, exposed = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      const CollectiveTime& time = stage.collectives[r];
      if (time.exposed > time.seconds + tiny) fail(name_of(rows[r]) + " exposed", time.exposed, time.seconds);
      if (!has_waits(rows[r])) continue;
      all += time.seconds;
      exposed += time.exposed;
      double outside = spans_of(s, stage, rows[r]), inside = 0;
      if (rows[r].phase == Phase::Pipeline && !rows[r].op.is_message()) outside += stage.message_gathers;
      bool whole = true;  // no compute hides a part of these ops
      for (size_t g = 0; g < report->graph().segments.size(); ++g)
        for (OpId id = 0; id < static_cast<OpId>(report->graph().segments[g].ops.size()); ++id) {
          const OpTime& op = s.ops->ops[g][static_cast<size_t>(id)];
          const Segment& segment = report->graph().segments[g];
          if (!is_behind(segment, segment.op(id), rows[r])) continue;
          whole = whole && op.seconds == op.communication && !has_concurrent_blocks(segment);
          inside += shown[{static_cast<int>(g), id}];
        }
      const bool ring = rows[r].op.is_message() && rows[r].phase != Phase::Pipeline;
      whole = whole && !ring && !overlaps_passes(report->design.parallel);
      if (whole && std::abs(time.seconds - outside - inside) > tiny)
        fail(name_of(rows[r]), time.seconds, outside + inside);
      if (time.seconds < outside - tiny) fail(name_of(rows[r]) + " below its spans", time.seconds, outside);
    }
    if (std::abs(all - stage.communication) > tiny) fail("communication", all, stage.communication);
    if (std::abs(exposed - stage.exposed) > tiny) fail("exposed", exposed, stage.exposed);
    double computed = 0, updated = 0;
    for (const KernelTime& one : stage.kernels)
      (one.kind == OpKind::Optimizer ? updated : computed) += one.seconds;
    const double products = seconds_of(stage, TimeCategory::MatrixProducts) +
                            seconds_of(stage, TimeCategory::Attention) +
                            seconds_of(stage, TimeCategory::MemoryBound);
    if (std::abs(computed - products) > tiny) fail("kernels", computed, products);
    if (std::abs(updated - seconds_of(stage, TimeCategory::Optimizer)) > tiny)
      fail("optimizer", updated, seconds_of(stage, TimeCategory::Optimizer));
  }
  return out;
}

}  // namespace

class RowTimesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rows_add_up_to_the_step_data() { add_trace_rows(); }
  void rows_add_up_to_the_step() {
    const QStringList found = faults(trace_report(fetched_trace_design()));
    QVERIFY2(found.isEmpty(), qPrintable(found.mid(0, 8).join('\n')));
  }

  void random_designs_add_up() {
    std::mt19937 random(7);
    int valid = 0;
    for (int i = 0; i < cases(400); ++i) {
      const auto design = repaired(random_design(random), random);
      if (!design) continue;
      const std::shared_ptr<const Report> report = make_report(*design);
      if (!report->valid() || !report->accelerator) continue;
      ++valid;
      const QStringList found = faults(report);
      QVERIFY2(found.isEmpty(), qPrintable(QString("%1 (case %2):\n%3")
                                               .arg(QString::fromStdString(design->name))
                                               .arg(i)
                                               .arg(found.mid(0, 8).join('\n'))));
    }
    QVERIFY(valid > 0);
  }

  // The report has the same figures, as JSON and as text.
  void reports_have_the_times() {
    const auto report = trace_report(preset_design("llama3-8b", 2, 2, 2));
    const auto simulation = simulate(*report);
    const QByteArray json = QByteArray::fromStdString(with_time(report_json(*report), *report, *simulation));
    const QJsonObject all = QJsonDocument::fromJson(json).object();
    const std::string text = row_times_text(*report, *simulation);
    for (int s = 0; s < 2; ++s) {
      const StageTimes& times = simulation->stages[static_cast<size_t>(s)];
      const QJsonArray rows = all["stages"].toArray()[s].toObject()["collectives"].toArray();
      QCOMPARE(static_cast<size_t>(rows.size()), times.collectives.size());
      for (int r = 0; r < rows.size(); ++r) {
        const QJsonObject row = rows[r].toObject();
        const CollectiveTime& time = times.collectives[static_cast<size_t>(r)];
        QCOMPARE(row["seconds"].toDouble(), time.seconds);
        QCOMPARE(row["exposed_seconds"].toDouble(), time.exposed);
        QCOMPARE(row["seconds_per_call"].toDouble(), time.per_call);
        QCOMPARE(row["bus_bandwidth"].toDouble(), time.bus_rate);
        QCOMPARE(row["level"].toString().toStdString(), std::string(network_level_name(time.level)));
        QVERIFY(text.find(format_seconds(time.per_call)) != std::string::npos);
      }
      const QJsonArray
          kernels = all["time"].toObject()["stages"].toArray()[s].toObject()["kernels"].toArray();
      double sum = 0;
      for (const QJsonValue& one : kernels) sum += one.toObject()["seconds"].toDouble();
      double expected = 0;
      for (const KernelTime& one : times.kernels) expected += one.seconds;
      QVERIFY(sum > 0 && std::abs(sum - expected) <= 1e-9 * expected);
    }
  }

  // nccl-tests, doc/PERFORMANCE.md.
  void bus_bandwidth_is_that_of_nccl_tests() {
    QCOMPARE(bus_factor(CollectiveKind::AllReduce, 8), 2 * 7.0 / 8);
    QCOMPARE(bus_factor(CollectiveKind::AllGather, 8), 7.0 / 8);
    QCOMPARE(bus_factor(CollectiveKind::ReduceScatter, 4), 3.0 / 4);
    QCOMPARE(bus_factor(CollectiveKind::AllToAll, 2), 1.0 / 2);
    QCOMPARE(bus_factor(CollectiveKind::Broadcast, 8), 1.0);
    QCOMPARE(bus_factor(CollectiveKind::SendRecv, 2), 1.0);
    const auto report = trace_report(preset_design("llama3-8b", 8, 1, 2));
    const auto s = simulate(*report);
    bool any = false;
    for (size_t r = 0; r < report->stages[0].collectives.size(); ++r) {
      const CollectiveValue& row = report->stages[0].collectives[r];
      const CollectiveTime& time = s->stages[0].collectives[r];
      if (row.op != CollectiveKind::AllReduce || row.group != "tp" || time.seconds <= 0) continue;
      any = true;
      QCOMPARE(time.per_call * to_double(row.count.value), time.seconds);
      QCOMPARE(time.bus_rate, to_double(row.bytes.value) / time.seconds * 7 / 4);
    }
    QVERIFY(any);
  }

  void levels_of_groups() {
    Network net;  // nodes of 8, 8 rails, no leaf or pod size
    const auto level = [&](const std::vector<int64_t>& ranks) {
      return network_level(net, span_of(ranks, net));
    };
    QCOMPARE(level({0, 1, 7}), NetworkLevel::Scaleup);
    QCOMPARE(level({0, 8, 16}), NetworkLevel::Leaf);  // one rail
    QCOMPARE(level({0, 9}), NetworkLevel::Leaf);      // NVLink leads to the other rail's NIC
    net.leaf = 16;
    net.hop.spine_us = 1;
    QCOMPARE(level({0, 8}), NetworkLevel::Leaf);
    QCOMPARE(level({0, 16}), NetworkLevel::Spine);
    net.oversubscription = 4;
    net.pod = 32;
    QCOMPARE(level({0, 16}), NetworkLevel::Spine);
    QCOMPARE(level({0, 32}), NetworkLevel::Pods);
    net.domain = 4;  // links do not reach all NICs of the node
    net.leaf = net.pod = 0;
    QCOMPARE(level({0, 9}), NetworkLevel::Spine);
    net.domain = 72;
    QCOMPARE(level({0, 64}), NetworkLevel::Scaleup);
    QCOMPARE(network_level_label(NetworkLevel::Scaleup, net), std::string_view("rack"));
    QCOMPARE(network_level_label(NetworkLevel::Leaf, net), std::string_view("rail"));
  }

  // Groups of the design on the level that their ranks span: tp inside a node, dp over nodes.
  void rows_have_the_level_of_their_group() {
    const auto report = trace_report(preset_design("llama3-8b", 8, 2, 2));
    const auto s = simulate(*report);
    for (size_t r = 0; r < report->stages[0].collectives.size(); ++r) {
      const std::string& group = report->stages[0].collectives[r].group;
      const NetworkLevel level = s->stages[0].collectives[r].level;
      if (group == "tp") QCOMPARE(level, NetworkLevel::Scaleup);
      if (group == "dp" || group == "pp") QVERIFY(level > NetworkLevel::Scaleup);
    }
  }
};

QTEST_APPLESS_MAIN(RowTimesTest)
#include "row_times_test.moc"
