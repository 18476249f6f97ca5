// Command lines and logs of MaxText become designs.
#include <QtTest>

#include "support/read_launch.h"

using namespace shardscape;
using test::expect_knobs;
using test::field;
using test::read_launch;

class MaxTextLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  // override_model_config lets the command line replace sizes of the named model.
  void sizes_of_named_models_data() {
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QString>("knob");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("use");
    const auto row = [](const char* arguments, const char* knob, const char* value, const char* name,
                        LaunchUse use) {
      QTest::newRow(arguments) << QString(arguments) << QString(knob) << QString(value) << QString(name)
                               << static_cast<int>(use);
    };
    row("model_name=llama3-8b override_model_config=true base_num_decoder_layers=8", "layers", "8",
        "base_num_decoder_layers", LaunchUse::Taken);
    row("model_name=llama3-8b override_model_config=True base_emb_dim=2048", "hidden", "2048", "base_emb_dim",
        LaunchUse::Taken);
    row("model_name=llama3-8b override_model_config=true vocab_size=32000", "vocab", "32000", "vocab_size",
        LaunchUse::Taken);
    row("model_name=gemma2-27b override_model_config=true base_num_decoder_layers=4", "layers", "8",
        "base_num_decoder_layers", LaunchUse::Taken);
    row("model_name=mixtral-8x7b override_model_config=true num_experts=16", "experts", "16", "num_experts",
        LaunchUse::Taken);
    row("model_name=mixtral-8x7b override_model_config=true base_mlp_dim=7168", "expert_ffn", "7168",
        "base_mlp_dim", LaunchUse::Taken);
    row("model_name=llama3-8b override_model_config=true num_experts=1", "layers", "32", "num_experts",
        LaunchUse::NoEffect);
    row("model_name=llama3-8b base_num_decoder_layers=8", "layers", "32", "base_num_decoder_layers",
        LaunchUse::NoEffect);
  }
  void sizes_of_named_models() {
    QFETCH(QString, arguments);
    QFETCH(QString, knob);
    QFETCH(QString, value);
    QFETCH(QString, name);
    QFETCH(int, use);
    const LaunchImport read = read_launch(
        "python3 -m MaxText.train base.yml " + arguments.toStdString() + "\n", 8);
    QCOMPARE(expect_knobs(read, {{knob.toStdString(), value.toStdString()}}), QString());
    const LaunchField* found = field(read, name.toStdString());
    QVERIFY(found);
    QCOMPARE(static_cast<int>(found->use), use);
  }
};

QTEST_APPLESS_MAIN(MaxTextLaunchTest)
#include "maxtext_launch_test.moc"
