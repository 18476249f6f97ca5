// Commands that run recipes of Megatron-Bridge.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"

using namespace shardscape;

class BridgeLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  void a_named_precision_says_formats_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("compute");
    QTest::addColumn<QString>("gathered");
    QTest::newRow("bf16") << "bf16_mixed"
                          << "storage"
                          << "false";
    QTest::newRow("delayed") << "bf16_with_fp8_delayed_scaling_mixed"
                             << "fp8"
                             << "true";
    QTest::newRow("blocks") << "bf16_with_fp8_subchannel_scaling_mixed"
                            << "fp8-blockwise"
                            << "false";
    QTest::newRow("MXFP8") << "bf16_with_mxfp8_mixed"
                           << "mxfp8"
                           << "true";
    QTest::newRow("NVFP4") << "bf16_with_nvfp4_mixed"
                           << "nvfp4"
                           << "false";
  }
  void a_named_precision_says_formats() {
    QFETCH(QString, name);
    QFETCH(QString, compute);
    QFETCH(QString, gathered);
    LaunchRequest request;
    request.text =
        "torchrun --nproc_per_node 8 run_recipe.py --recipe vanilla_gpt_pretrain_config "
        "model.num_layers=4 model.hidden_size=64 model.num_attention_heads=4 "
        "ddp.grad_reduce_in_fp32=false mixed_precision=" +
        name.toStdString();
    request.where = "run.sh";
    const LaunchImport read = import_launch(request);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    const auto knob = [&](const char* id) {
      return QString::fromStdString(knob_text(read.design, *find_knob(id)));
    };
    QCOMPARE(read.gpus.value_or(0), int64_t(8));
    QCOMPARE(knob("compute"), compute);
    QCOMPARE(knob("fp8_params"), gathered);
    QCOMPARE(knob("grad_dtype"), QString("fp32"));
    QCOMPARE(knob("positions"), QString("1024"));
  }
};

QTEST_APPLESS_MAIN(BridgeLaunchTest)
#include "bridge_launch_test.moc"
