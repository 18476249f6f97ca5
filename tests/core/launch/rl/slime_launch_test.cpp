// Scripts of slime: sizes of a preset where the script names only a checkpoint.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"

using namespace shardscape;

class SlimeLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  void a_checkpoint_names_the_model() {
    LaunchRequest request;
    request.text =
        "python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 4 --hf-checkpoint "
        "/models/Qwen3-4B/ --tensor-model-parallel-size 2 --rollout-batch-size 8 --global-batch-size 8\n";
    request.where = "run.sh";
    const LaunchImport read = import_launch(request);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(read.gpus.value_or(0), int64_t(8));
    const auto knob = [&](const char* id) { return knob_text(read.design, *find_knob(id)); };
    QCOMPARE(read.design.model.architecture, std::string("qwen3"));
    QCOMPARE(knob("layers"), std::string("36"));
    QCOMPARE(knob("dp"), std::string("4"));
    QCOMPARE(knob("seq"), std::string("4096"));
    for (const LaunchField& field : read.fields)
      if (field.name == "--rollout-batch-size")
        QCOMPARE(static_cast<int>(field.use), static_cast<int>(LaunchUse::NoEffect));
  }
  // Prompts x samples of a rollout, shared out among its steps.
  void batch_of_a_rollout_data() {
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QString>("batch");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("use");
    const auto row = [](const char* arguments, const char* batch, const char* name, LaunchUse use) {
      QTest::newRow(arguments) << QString(arguments) << QString(batch) << QString(name)
                               << static_cast<int>(use);
    };
    row("--num-steps-per-rollout 4 --n-samples-per-prompt 8", "256", "--global-batch-size",
        LaunchUse::Derived);
    row("--num-steps-per-rollout 4 --n-samples-per-prompt 8", "256", "--n-samples-per-prompt",
        LaunchUse::Taken);
    row("--num-steps-per-rollout 2", "64", "--global-batch-size", LaunchUse::Derived);
    row("--global-batch-size 512 --n-samples-per-prompt 8", "512", "--n-samples-per-prompt",
        LaunchUse::NoEffect);
    row("--global-batch-size 256 --num-steps-per-rollout 4 --n-samples-per-prompt 8", "256",
        "--global-batch-size", LaunchUse::Taken);
    row("--global-batch-size 512 --num-steps-per-rollout 4 --n-samples-per-prompt 8", "512",
        "--num-steps-per-rollout", LaunchUse::NotUnderstood);
  }
  void batch_of_a_rollout() {
    QFETCH(QString, arguments);
    QFETCH(QString, batch);
    QFETCH(QString, name);
    QFETCH(int, use);
    LaunchRequest request;
    request.text = "python3 train.py --actor-num-nodes 1 --hf-checkpoint Qwen3-4B --rollout-batch-size 128 " +
                   arguments.toStdString() + "\n";
    request.where = "run.sh";
    const LaunchImport read = import_launch(request);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(QString::fromStdString(knob_text(read.design, *find_knob("batch"))), batch);
    int found = -1;
    for (const LaunchField& field : read.fields)
      if (field.name == name.toStdString()) found = static_cast<int>(field.use);
    QCOMPARE(found, use);
  }
  void an_unknown_checkpoint_is_asked_for() {
    LaunchRequest request;
    request.text = "python3 train.py --actor-num-nodes 1 --hf-checkpoint /models/mine\n";
    request.where = "run.sh";
    const LaunchImport read = import_launch(request);
    QCOMPARE(read.problems.size(), size_t(1));
    QVERIFY(read.problems[0].accepted.find("--model") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(SlimeLaunchTest)
#include "slime_launch_test.moc"
