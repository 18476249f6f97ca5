// Settings of torchtitan: what a schedule says of virtual stages.
#include <QtTest>

#include "design/validate/validate.h"
#include "launch/launch_export.h"
#include "support/read_launch.h"

using namespace shardscape;
using test::expect_knobs;
using test::field;
using test::read_launch;

namespace {

const std::string kSettings = R"([model]
name = "llama3"
flavor = "70B"
[training]
local_batch_size = 8
seq_len = 8192
[parallelism]
tensor_parallel_degree = 4
pipeline_parallel_degree = 4
)";

}  // namespace

class TorchtitanLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  void virtual_stages_data() {
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("stages");
    QTest::newRow("one") << "1F1B"
                         << "1f1b"
                         << "1";
    QTest::newRow("interleaved") << "Interleaved1F1B"
                                 << "1f1b"
                                 << "2";
    QTest::newRow("breadth first") << "LoopedBFS"
                                   << "flexible"
                                   << "2";
    QTest::newRow("zero bubble") << "ZBVZeroBubble"
                                 << "zb-v"
                                 << "2";
    QTest::newRow("dual pipe") << "DualPipeV"
                               << "dualpipe-v"
                               << "2";
  }
  void virtual_stages() {
    QFETCH(QString, schedule);
    QFETCH(QString, kind);
    QFETCH(QString, stages);
    const LaunchImport read = read_launch(
        kSettings + "pipeline_parallel_schedule = \"" + schedule.toStdString() + "\"\n", 128);
    QCOMPARE(expect_knobs(read, {{"schedule", kind.toStdString()}, {"virtual_stages", stages.toStdString()}}),
             QString());
    for (const Problem& problem : validate(read.design))
      QVERIFY2(problem.severity != Severity::Error, to_string(problem).c_str());
  }

  // More stages than the two of these schedules: torchtitan refuses them.
  void too_many_virtual_stages() {
    const LaunchImport read = read_launch(kSettings +
                                              "pipeline_parallel_schedule = \"DualPipeV\"\n"
                                              "pipeline_parallel_layers_per_stage = 7\n",
                                          128);
    QVERIFY(field(read, "parallelism.pipeline_parallel_layers_per_stage")->use == LaunchUse::NotUnderstood);
  }

  // A script that names its TOML: flags of the command replace its values.
  void scripts_data() {
    QTest::addColumn<QString>("flags");
    QTest::addColumn<QString>("knob");
    QTest::addColumn<QString>("value");
    const auto row = [](const char* flags, const char* knob, const char* value) {
      QTest::newRow(flags) << QString(flags) << QString(knob) << QString(value);
    };
    row("--job.config_file ./run.toml", "tp", "4");
    row("--job.config-file=conf/run.toml", "tp", "4");
    row("--job.config_file run.toml --parallelism.tensor_parallel_degree 8", "tp", "8");
    row("--job.config_file run.toml --parallelism.tensor-parallel-degree=8", "dp", "4");
    row("--job.config_file run.toml --parallelism.pipeline_parallel_schedule GPipe", "schedule", "gpipe");
    row("--job.config_file run.toml --parallelism.enable_async_tensor_parallel", "tp_comm_overlap", "true");
    row("--job.config_file run.toml --parallelism.no-enable-async-tensor-parallel", "tp_comm_overlap",
        "false");
  }
  void scripts() {
    QFETCH(QString, flags);
    QFETCH(QString, knob);
    QFETCH(QString, value);
    const LaunchImport read = read_launch(
        "torchrun --nproc_per_node=8 --nnodes 16 -m torchtitan.train " + flags.toStdString() + "\n", 0, "",
        {{"./run.toml", kSettings}, {"run.toml", kSettings}});
    QCOMPARE(read.gpus.value_or(0), int64_t(128));
    QCOMPARE(expect_knobs(read, {{knob.toStdString(), value.toStdString()}, {"seq", "8192"}}), QString());
  }
  void scripts_without_their_file() {
    const LaunchImport read = read_launch("torchrun -m torchtitan.train --job.config_file no.toml\n", 8);
    QVERIFY(!read.ok());
    QVERIFY(read.problems[0].what.find("no.toml") != std::string::npos);
  }

  void written_schedules_come_back_data() {
    QTest::addColumn<QString>("schedule");
    for (const char* schedule : {"dualpipe-v", "zb-v"}) QTest::newRow(schedule) << QString(schedule);
  }
  void written_schedules_come_back() {
    QFETCH(QString, schedule);
    Design design;
    QVERIFY(apply_preset(design, "llama3-70b"));
    const std::vector<std::pair<std::string, std::string>> knobs{{"tp", "4"},
                                                                 {"pp", "4"},
                                                                 {"dp", "8"},
                                                                 {"schedule", schedule.toStdString()},
                                                                 {"virtual_stages", "2"},
                                                                 {"seq", "8192"},
                                                                 {"batch", "64"},
                                                                 {"microbatch", "1"}};
    for (const auto& [id, value] : knobs) QVERIFY(!set_knob(design, *find_knob(id), value));
    const auto written = export_launch(design, "torchtitan");
    QVERIFY(std::holds_alternative<LaunchText>(written));
    for (const LaunchGap& gap : std::get<LaunchText>(written).gaps)
      QVERIFY(gap.knob != "virtual_stages" && gap.knob != "schedule" && gap.knob != "stage_layers");
    QCOMPARE(expect_knobs(read_launch(std::get<LaunchText>(written).text, 128), knobs), QString());
  }
};

QTEST_APPLESS_MAIN(TorchtitanLaunchTest)
#include "torchtitan_launch_test.moc"
