// A profiled step next to a design: parts, collectives, layers, and the audit of the collectives.
#include <QTemporaryDir>
#include <QtTest>

#include "design/knobs/knobs.h"
#include "memory/estimate.h"
#include "model/library.h"
#include "plan/rank_mesh.h"
#include "plan/stage_layout.h"
#include "profile/profile_comparison.h"
#include "profile/profile_ops.h"
#include "support/profile_trace.h"
#include "validation/profile_audit.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::shared_ptr<const Report> report_of(const std::vector<std::pair<const char*, const char*>>& settings) {
  Design design = default_design();
  for (const auto& [id, value] : settings)
    if (set_knob(design, *find_knob(id), value)) qFatal("%s", id);
  return make_report(design);
}

Profile profile_of(const ProfileTrace& trace, int64_t rank = 0, int64_t ranks = 8) {
  QTemporaryDir folder;
  const std::string file = folder.filePath("t.json").toStdString();
  trace.write(file, rank, ranks);
  return std::get<Profile>(read_profile(file));
}
ProfiledStep step_of(const ProfileTrace& trace) {
  return std::get<ProfiledStep>(profiled_step(profile_of(trace)));
}

const char* call_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce: return "allreduce";
    case CollectiveKind::ReduceScatter: return "_reduce_scatter_base";
    case CollectiveKind::AllGather: return "_allgather_base";
    case CollectiveKind::Reduce: return "reduce";
    case CollectiveKind::Broadcast: return "broadcast";
    case CollectiveKind::AllToAll: return "all_to_all";
    case CollectiveKind::SendRecv: return "send";
  }
  return "";
}

// The collectives of a stage, as a run would record them. extra: calls on top.
ProfileTrace trace_of(const StageReport& stage, int64_t extra = 0) {
  ProfileTrace trace;
  int64_t id = 0;
  for (const CollectiveValue& row : stage.collectives) {
    const auto calls = static_cast<int64_t>(row.count.value),
               elements = static_cast<int64_t>(row.elements.value);
    if (row.group_size < 2) continue;
    const CollectiveKind kind = row.op.is_message() ? CollectiveKind::SendRecv
                                                    : *find_collective_kind(row.op.name());
    for (int64_t call = 0; call < calls + extra; ++call, ++id) {
      const int64_t full = call + 1 == calls ? elements - (calls - 1) * (elements / calls) : elements / calls;
      const int64_t shard = full / row.group_size;
      const bool gathers = kind == CollectiveKind::AllGather,
                 scatters = kind == CollectiveKind::ReduceScatter;
      trace.collective("ncclDevKernel", call_name(kind), static_cast<double>(10 * id), 5, id,
                       gathers ? shard : full, scatters ? shard : full, row.group_size,
                       std::string(dtype_name(row.dtype)));
    }
  }
  trace.kernel("gemm", 0, 3, id);
  return trace;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)}); }

RankProfile profile_of(const ProfiledStep& step, int64_t rank, int64_t ranks) {
  RankProfile profile;
  profile.rank = rank;
  profile.ranks = ranks;
  profile.step = step;
  return profile;
}

}  // namespace

class ProfileComparisonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void designs_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::newRow("tensor") << QStringList{"tp", "8", "pp", "1", "dp", "1", "sequence_parallel", "true"};
    QTest::newRow("data") << QStringList{"tp", "1", "pp", "1", "dp", "8"};
    QTest::newRow("both") << QStringList{"tp", "2", "pp", "1", "dp", "4"};
    QTest::newRow("pipeline") << QStringList{"tp", "2", "pp", "2", "dp", "2"};
  }

  // A run with exactly the collectives of the design passes; one call more or other bytes fail.
  void collectives_of_the_design_pass_data() { designs_data(); }
  void collectives_of_the_design_pass() {
    QFETCH(QStringList, settings);
    std::vector<std::pair<const char*, const char*>> pairs;
    std::vector<QByteArray> words;
    for (const QString& word : settings) words.push_back(word.toUtf8());
    for (size_t i = 0; i < words.size(); i += 2) pairs.emplace_back(words[i].data(), words[i + 1].data());
    const auto report = report_of(pairs);
    QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems[0]).c_str());
    const ProfiledStep step = step_of(trace_of(report->stages[0]));
    const Audit audit = audit_profile("t.json", step, 0, report);
    for (const AuditLine& line : audit.lines) QVERIFY2(line.verdict == AuditVerdict::Pass, line.what.c_str());
    QVERIFY(audit.matches());
    const Audit more = audit_profile("t.json", step_of(trace_of(report->stages[0], 1)), 0, report);
    QVERIFY(!more.matches());
    QVERIFY(!audit_profile("t.json", step, 0, report_of({{"tp", "4"}, {"pp", "1"}, {"dp", "2"}})).matches());
  }

  void parts_add_up_data() { designs_data(); }
  void parts_add_up() {
    QFETCH(QStringList, settings);
    Design design = default_design();
    for (qsizetype i = 0; i < settings.size(); i += 2)
      QVERIFY(!set_knob(design, *find_knob(settings[i].toStdString()), settings[i + 1].toStdString()));
    const auto report = make_report(design);
    const auto simulation = simulate(*report);
    const ProfiledStep step = step_of(trace_of(report->stages[0]));
    const ProfileComparison c = compare_profile(profile_of(step, 0, 8), *report, *simulation);
    double measured = 0, predicted = 0, last = HUGE_VAL;
    for (const ComparedTime& part : c.parts) {
      measured += part.measured;
      predicted += part.predicted;
      QVERIFY(std::abs(part.difference()) <= last);
      last = std::abs(part.difference());
    }
    QVERIFY(near(measured, step.seconds));
    QVERIFY(near(predicted, simulation->step_seconds));
    for (const ComparedCollective& row : c.collectives) QVERIFY(row.same_volume());
    QVERIFY(c.notes.empty());
    QVERIFY(!compare_profile(profile_of(step, 0, 64), *report, *simulation).notes.empty());
  }

  void other_accelerators_are_named_data() {
    QTest::addColumn<QString>("device");
    QTest::addColumn<bool>("other");
    QTest::newRow("A100") << "NVIDIA A100-SXM4-80GB" << true;
    QTest::newRow("MI300X") << "AMD Instinct MI300X" << true;
    QTest::newRow("H100") << "NVIDIA H100 80GB HBM3" << false;
    QTest::newRow("not recorded") << "" << false;
    QTest::newRow("no product") << "some device" << false;
  }
  void other_accelerators_are_named() {
    QFETCH(QString, device);
    QFETCH(bool, other);
    const auto report = report_of({{"accelerator", "h100"}});
    RankProfile profile = profile_of(step_of(trace_of(report->stages[0])), 0, report->ranks);
    profile.device = device.toStdString();
    const auto notes = compare_profile(profile, *report, *simulate(*report)).notes;
    QCOMPARE(notes.size(), size_t{other});
    if (other) QVERIFY(notes[0].find(profile.device) != std::string::npos);
  }

  // Layers are compared in their order on the stage; each has the seconds of all microbatches.
  void layers() {
    const auto report = report_of({{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    const auto simulation = simulate(*report);
    ProfileTrace trace;
    const int64_t layers = report->stages[1].layers;
    for (int64_t i = 0; i < layers; ++i) {
      const double at = 100.0 * static_cast<double>(i);
      trace.module("LlamaDecoderLayer_" + std::to_string(i), at, 50).launch(i, at + 1);
      trace.kernel("gemm", at + 10, 20, i);
    }
    const ProfiledStep step = step_of(trace);
    const ProfileComparison c = compare_profile(profile_of(step, 4, 8), *report, *simulation);
    QCOMPARE(c.stage, stage_of_rank(*report, 4));
    QCOMPARE(c.layers.size(), static_cast<size_t>(layers));
    for (const ComparedLayer& layer : c.layers) {
      QVERIFY(near(layer.forward.measured * 1e6, 20));
      QVERIFY(layer.forward.predicted > 0 && layer.backward.predicted > layer.forward.predicted);
      QCOMPARE(layer.name,
               "LlamaDecoderLayer_" +
                   std::to_string(layer.layer -
                                  report->stages[static_cast<size_t>(c.stage)].chunks[0].first_layer));
    }
    trace.module("LlamaDecoderLayer_99", 1e6, 50);
    const ProfileComparison other = compare_profile(profile_of(step_of(trace), 4, 8), *report, *simulation);
    QVERIFY(other.layers.size() == c.layers.size());  // a range without kernels is no layer
  }

  // Rows of a calibration, from ops with shapes.
  void ops_of_a_profile() {
    const std::string types = ", \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]";
    ProfileTrace trace;
    for (int64_t i = 0; i < 3; ++i)
      trace.op(i, "aten::mm", 0, 1, ", \"Input Dims\": [[128, 64], [64, 256]]" + types)
          .kernel("gemm", 100.0 * static_cast<double>(i), 10.0 + static_cast<double>(i), i);
    trace.op(3, "aten::addmm", 0, 1, ", \"Input Dims\": [[256], [128, 64], [64, 256]]" + types)
        .kernel("gemm", 400, 50, 3);
    trace.kernel("splitKreduce_kernel", 450, 5, 3);  // of the same op
    trace.op(4, "aten::bmm", 0, 1, ", \"Input Dims\": [[4, 128, 64], [4, 64, 256]]" + types)
        .kernel("gemm", 500, 7, 4);
    trace.op(5, "aten::mm", 0, 1, ", \"Input Dims\": [[128, 64], [63, 256]]" + types)
        .kernel("gemm", 600, 7, 5);
    trace
        .op(6, "aten::_flash_attention_forward", 0, 1,
            ", \"Input Dims\": [[2, 512, 8, 64], [2, 512, 4, 64], [2, 512, 4, 64], [], [], [], [], [], []]" +
                types +
                ", \"Concrete Inputs\": [\"\", \"\", \"\", \"\", \"\", \"512\", \"512\", \"0.\", \"True\"]")
        .kernel("flash_fwd", 700, 30, 6);
    trace.add("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "7", 800, 4,
              "\"stream\": 7, \"bytes\": 1048576");
    ProfileOps ops;
    ops.add(profile_of(trace));
    const MeasuredOps found = ops.ops();
    QCOMPARE(found.matmul.size(), size_t{2});
    QCOMPARE(found.matmul[0].shape.m, 128);
    QCOMPARE(found.matmul[0].shape.n, 256);
    QCOMPARE(found.matmul[0].shape.k, 64);
    QVERIFY(near(found.matmul[0].us, 12));  // the median of 10, 11, 12 and 50 + 5
    QCOMPARE(found.matmul[1].shape.batch, 4);
    QCOMPARE(found.attention.size(), size_t{1});
    QCOMPARE(found.attention[0].shape.kv_heads, 4);
    QCOMPARE(found.attention[0].shape.queries, 512);
    QVERIFY(found.attention[0].shape.causal && !found.attention[0].shape.backward);
    QCOMPARE(found.memory.size(), size_t{1});
    QCOMPARE(found.memory[0].bytes, 2097152.0);
    QCOMPARE(ops.without_shape(), 1);
  }

  // The shortest call counts, of kinds with two sizes or more. The test GPU's host has one device.
  void collectives_of_a_profile() {
    ProfileTrace trace;
    for (int64_t i = 0; i < 4; ++i)
      trace.kernel(
          "nccl", 100.0 * static_cast<double>(i), 20 - static_cast<double>(i), i, 20,
          ", \"Collective name\": \"allreduce\", \"In msg nelems\": " + std::to_string(i / 2 ? 512 : 2048) +
              ", \"Group size\": 4, \"dtype\": \"Float\", \"Process Group Ranks\": \"[0, 1, 2, 3]\"");
    trace.kernel("nccl", 900, 3, 9, 20,
                 ", \"Collective name\": \"broadcast\", \"In msg nelems\": 8, \"Group size\": 4, "
                 "\"dtype\": \"Float\", \"Process Group Ranks\": \"[0, 1, 2, 3]\"");
    ProfileOps ops;
    ops.add(profile_of(trace));
    const MeasuredOps found = ops.ops();
    QCOMPARE(found.collectives.size(), size_t{2});
    QCOMPARE(found.collectives[0].op, std::string("all_reduce"));
    QCOMPARE(found.collectives[0].ranks, 4);
    QCOMPARE(found.collectives[0].per_domain, 1);
    QCOMPARE(found.collectives[0].bytes, 2048.0);
    QVERIFY(near(found.collectives[0].us, 17));
    QVERIFY(near(found.collectives[1].us, 19));
  }
};

QTEST_APPLESS_MAIN(ProfileComparisonTest)
#include "profile_comparison_test.moc"
