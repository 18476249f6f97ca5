// Settings of DeepSpeed, alone and in scripts of Megatron-DeepSpeed.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"
#include "support/read_launch.h"

using namespace shardscape;
using test::expect_knobs;
using test::field;
using test::read_launch;

class DeepspeedLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  void two_of_three_batches_are_enough_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("batch");
    QTest::addColumn<QString>("microbatch");
    QTest::newRow("total and micro") << R"("train_batch_size": 64, "train_micro_batch_size_per_gpu": 2)"
                                     << "64"
                                     << "2";
    QTest::newRow("total and steps") << R"("train_batch_size": 64, "gradient_accumulation_steps": 4)"
                                     << "64"
                                     << "2";
    QTest::newRow("micro and steps")
        << R"("train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4)"
        << "64"
        << "2";
    QTest::newRow("total") << R"("train_batch_size": 64)"
                           << "64"
                           << "8";
    QTest::newRow("micro") << R"("train_micro_batch_size_per_gpu": 2)"
                           << "16"
                           << "2";
    QTest::newRow("all automatic")
        << R"("train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto")"
        << "64"
        << "8";
  }
  void two_of_three_batches_are_enough() {
    QFETCH(QString, settings);
    QFETCH(QString, batch);
    QFETCH(QString, microbatch);
    const LaunchImport read = read_launch("{" + settings.toStdString() + "}", 8, "llama3-8b");
    QCOMPARE(
        expect_knobs(read,
                     {{"batch", batch.toStdString()}, {"microbatch", microbatch.toStdString()}, {"dp", "8"}}),
        QString());
  }

  void batches_that_contradict_are_not_understood() {
    const LaunchImport read = read_launch(
        R"({"train_batch_size": 60, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4})",
        8, "llama3-8b");
    QVERIFY(field(read, "train_batch_size"));
    QVERIFY(field(read, "train_batch_size")->use == LaunchUse::NotUnderstood);
  }

  void sections() {
    const LaunchImport read = read_launch(R"({
      "train_micro_batch_size_per_gpu": 1, "gradient_clipping": 0,
      "bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"},
      "zero_optimization": {"stage": 3, "reduce_bucket_size": 2e8, "stage3_prefetch_bucket_size": "auto",
        "overlap_comm": false, "zero_hpz_partition_size": 8,
        "offload_optimizer": {"device": "cpu", "ratio": 0.3}, "offload_param": {"device": "nvme"}},
      "steps_per_print": 10, "frobnicate": 1})",
                                          16, "llama3-8b");
    QCOMPARE(expect_knobs(read, {{"sync", "zero-3"},
                                 {"dtype", "bf16"},
                                 {"grad_dtype", "fp32"},
                                 {"clip_grad_norm", "false"},
                                 {"zero_reduce_bucket_size", "200000000"},
                                 {"stage3_prefetch_bucket_size", "15099494"},
                                 {"offload_optimizer", "true"},
                                 {"optimizer_offload_fraction", "0.3"}}),
             QString());
    const auto use = [&](const char* name) {
      const LaunchField* found = field(read, name);
      return found ? static_cast<int>(found->use) : -1;
    };
    QCOMPARE(use("zero_optimization.stage"), static_cast<int>(LaunchUse::Taken));
    QCOMPARE(use("zero_optimization.stage3_prefetch_bucket_size"), static_cast<int>(LaunchUse::Derived));
    QCOMPARE(use("steps_per_print"), static_cast<int>(LaunchUse::NoEffect));
    for (const char* name : {"zero_optimization.overlap_comm", "zero_optimization.zero_hpz_partition_size",
                             "zero_optimization.offload_param.device", "frobnicate"})
      QCOMPARE(use(name), static_cast<int>(LaunchUse::NoCounterpart));
  }

  void a_here_document_belongs_to_its_script() {
    const LaunchImport read = read_launch(R"---(#!/bin/bash
#SBATCH --nodes=2
STAGE=1
cat <<EOT > ds.json
{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": $STAGE},
 "fp16": {"enabled": true}}
EOT
torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES pretrain_gpt.py --tensor-model-parallel-size 2 \
  --pipeline-model-parallel-size 2 --num-layers 24 --hidden-size 1024 --num-attention-heads 16 \
  --seq-length 2048 \
  --max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 64 --fp16 --checkpoint-activations \
  --deepspeed --deepspeed_config ds.json --zero-stage $STAGE --lr 1e-4
)---");
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(QString::fromStdString(read.framework), QString("megatron-deepspeed"));
    QCOMPARE(expect_knobs(read, {{"tp", "2"},
                                 {"pp", "2"},
                                 {"dp", "4"},
                                 {"batch", "64"},
                                 {"dtype", "fp16"},
                                 {"grad_dtype", "fp16"},
                                 {"sync", "zero-1"},
                                 {"recompute", "full"},
                                 {"ffn", "4096"},
                                 {"vocab", "50257"}}),
             QString());
    QCOMPARE(QString::fromStdString(read.design.model.architecture), QString("gpt"));
  }

  // BF16_Optimizer of the pipeline engine shards states without ZeRO.
  void bfloat16_in_the_pipeline_engine() {
    const auto with = [](const char* more) {
      return read_launch(
          std::string("deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 4 --hidden-size 256 "
                      "--num-attention-heads 4 --bf16 --deepspeed --zero-stage 0 ") +
          more);
    };
    QCOMPARE(expect_knobs(with(""), {{"sync", "zero-1"}}), QString());
    QCOMPARE(expect_knobs(with("--no-pipeline-parallel"), {{"sync", "zero-0"}}), QString());
  }

  void refused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("gpus");
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("code");
    const auto row = [](const char* name, const char* text, int gpus, const char* model, ProblemCode code) {
      QTest::newRow(name) << QString(text) << gpus << QString(model) << static_cast<int>(code);
    };
    row("no model", R"({"zero_optimization": {}})", 8, "", ProblemCode::LaunchFormat);
    row("unknown model", R"({"zero_optimization": {}})", 8, "no-such-model", ProblemCode::LaunchFormat);
    row("no GPUs", R"({"zero_optimization": {}})", 0, "llama3-8b", ProblemCode::LaunchGpus);
    row("no JSON", R"({"zero_optimization": STAGE})", 8, "llama3-8b", ProblemCode::LaunchSyntax);
  }
  void refused() {
    QFETCH(QString, text);
    QFETCH(int, gpus);
    QFETCH(QString, model);
    QFETCH(int, code);
    const LaunchImport read = read_launch(text.toStdString(), gpus, model.toStdString());
    QVERIFY(!read.ok());
    QCOMPARE(static_cast<int>(read.problems[0].code), code);
  }

  // Any number may stand where a small one is expected.
  void large_and_odd_numbers_do_no_harm() {
    for (const char* value :
         {"0", "-1", "1e18", "1e300", "0.5", "999999999999999999999", "\"x\"", "null", "[1, 2]"})
      for (const char* name :
           {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
            "sequence_parallel_size", "zero_optimization\": {\"stage"}) {
        const std::string close = std::string(name).find('{') == std::string::npos ? "}" : "}}";
        (void)read_launch("{\"train_batch_size\": 8, \"" + std::string(name) + "\": " + value + close, 8,
                          "llama3-8b");
      }
  }
};

QTEST_APPLESS_MAIN(DeepspeedLaunchTest)
#include "deepspeed_launch_test.moc"
