// Launches of trainers on top of Hugging Face transformers.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"
#include "launch/launch_parts.h"
#include "support/read_launch.h"

using namespace shardscape;
using test::expect_knobs;
using test::field;
using test::read_launch;

class TrainerLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  void llama_factory() {
    const std::string text = R"(model_name_or_path: Qwen/Qwen3-4B
stage: sft
finetuning_type: full
deepspeed: configs/ds_z2_config.json
cutoff_len: 4096
per_device_train_batch_size: 2
gradient_accumulation_steps: 4
max_grad_norm: 0
bf16: true
learning_rate: 1.0e-5
)";
    const std::string json = R"({"train_micro_batch_size_per_gpu": "auto", "gradient_clipping": "auto",
      "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2, "overlap_comm": true}})";
    const LaunchImport read = read_launch(text, 8, "", {{"configs/ds_z2_config.json", json}});
    QCOMPARE(expect_knobs(read, {{"seq", "4096"},
                                 {"microbatch", "2"},
                                 {"batch", "64"},
                                 {"dtype", "bf16"},
                                 {"grad_dtype", "bf16"},
                                 {"sync", "zero-2"},
                                 {"recompute", "full"},
                                 {"clip_grad_norm", "false"},
                                 {"lora_rank", "0"},
                                 {"profile", "transformers-flash"}}),
             QString());
    QVERIFY(field(read, "deepspeed.zero_optimization.overlap_comm")->use == LaunchUse::NoCounterpart);
    QVERIFY(field(read, "learning_rate")->use == LaunchUse::NoEffect);
    QCOMPARE(field(read, "cutoff_len")->line, 5);
    // Without the file, its name says the stage.
    const LaunchImport alone = read_launch(text, 8);
    QCOMPARE(expect_knobs(alone, {{"sync", "zero-2"}, {"dtype", "bf16"}, {"batch", "64"}}), QString());
    QCOMPARE(alone.notes.size(), size_t(1));
    QCOMPARE(alone.notes[0].line, 4);
  }

  void adapters() {
    const LaunchImport read = read_launch(R"(model_name_or_path: meta-llama/Llama-2-7b-hf
template: default
lora_rank: 16
lora_target: q_proj,v_proj
lora_dropout: 0.05
quantization_bit: 4
double_quantization: false
bf16: true
)",
                                          4);
    QCOMPARE(expect_knobs(read, {{"lora_rank", "16"},
                                 {"lora_modules", "q,v"},
                                 {"lora_dropout", "true"},
                                 {"frozen_dtype", "nf4"},
                                 {"sync", "ddp-buckets"}}),
             QString());
  }

  void axolotl() {
    const std::string text = R"(base_model: NousResearch/Meta-Llama-3.1-8B
datasets:
  - path: some/data
    type: alpaca
sequence_len: 8192
sample_packing: true
micro_batch_size: 2
gradient_accumulation_steps: 4
dp_shard_size: 4
dp_replicate_size: 2
tensor_parallel_size: 2
optimizer: adamw_bnb_8bit
bf16: auto
gradient_checkpointing: true
fsdp_version: 2
fsdp_config:
  offload_params: false
  reshard_after_forward: false
)";
    const LaunchImport read = read_launch(text);
    QCOMPARE(read.gpus.value_or(0), int64_t(16));
    QCOMPARE(expect_knobs(read, {{"tp", "2"},
                                 {"dp", "8"},
                                 {"dp_shard", "4"},
                                 {"sync", "fsdp2"},
                                 {"reshard_after_forward", "false"},
                                 {"microbatch", "2"},
                                 {"batch", "64"},
                                 {"seq", "8192"},
                                 {"dtype", "bf16"},
                                 {"grad_dtype", "bf16"},
                                 {"moment_dtype", "int8-blockwise"},
                                 {"recompute", "full"}}),
             QString());
    QVERIFY(field(read, "sample_packing")->use == LaunchUse::NoCounterpart);
    QVERIFY(field(read, "bf16")->use == LaunchUse::Derived);
    // Degrees that contradict the GPUs.
    QVERIFY(field(read_launch(text, 32), "dp_shard_size")->use == LaunchUse::NotUnderstood);
  }

  void axolotl_context_parallelism_data() {
    QTest::addColumn<QString>("names");
    QTest::addColumn<QString>("used");
    QTest::newRow("now") << "context_parallel_size: 2\n"
                         << "context_parallel_size";
    QTest::newRow("before") << "sequence_parallel_degree: 2\n"
                            << "sequence_parallel_degree";
    QTest::newRow("both") << "context_parallel_size: 2\nsequence_parallel_degree: 4\n"
                          << "context_parallel_size";
  }
  void axolotl_context_parallelism() {
    QFETCH(QString, names);
    QFETCH(QString, used);
    const LaunchImport read = read_launch(
        "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 8192\n" + names.toStdString(), 8);
    QCOMPARE(expect_knobs(read, {{"cp", "2"}, {"dp", "4"}}), QString());
    QVERIFY(field(read, used.toStdString())->use == LaunchUse::Taken);
  }

  // Keys of a config.json replace sizes of the model; a part of the weights alone has no setting.
  void axolotl_overrides() {
    const LaunchImport read = read_launch(R"(base_model: NousResearch/Meta-Llama-3-8B
sequence_len: 8192
unfrozen_parameters: [lm_head]
overrides_of_model_config: {num_hidden_layers: 4, frobnicate: 2}
)",
                                          8);
    QCOMPARE(expect_knobs(read, {{"layers", "4"}, {"hidden", "4096"}}), QString());
    QVERIFY(field(read, "overrides_of_model_config.num_hidden_layers")->use == LaunchUse::Taken);
    QVERIFY(field(read, "overrides_of_model_config.frobnicate")->use == LaunchUse::NoCounterpart);
    QVERIFY(field(read, "unfrozen_parameters")->use == LaunchUse::NoCounterpart);
  }

  void accelerate() {
    const LaunchImport read = read_launch(R"(distributed_type: FSDP
mixed_precision: bf16
num_machines: 2
num_processes: 16
fsdp_config:
  fsdp_sharding_strategy: HYBRID_SHARD
  fsdp_activation_checkpointing: true
)",
                                          0, "llama3-8b");
    QCOMPARE(expect_knobs(read, {{"dp", "16"},
                                 {"dp_shard", "8"},
                                 {"sync", "fsdp1"},
                                 {"reshard_after_forward", "true"},
                                 {"recompute", "full"},
                                 {"dtype", "bf16"},
                                 {"grad_dtype", "bf16"}}),
             QString());
    const LaunchImport zero = read_launch(
        "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_processes: 8\ndeepspeed_config:\n  "
        "zero_stage: 3\n"
        "  gradient_accumulation_steps: 4\n  offload_optimizer_device: cpu\n  gradient_clipping: 1.0\n",
        0, "llama3-8b");
    QCOMPARE(expect_knobs(zero, {{"sync", "zero-3"},
                                 {"batch", "32"},
                                 {"offload_optimizer", "true"},
                                 {"clip_grad_norm", "true"},
                                 {"grad_dtype", "bf16"}}),
             QString());
  }

  void command_lines() {
    const LaunchImport read = read_launch(R"---(cat <<EOT > ds.json
{"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}, "train_micro_batch_size_per_gpu": "auto"}
EOT
deepspeed --num_gpus 8 run_clm.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 \
  --per_device_train_batch_size 4 --gradient_accumulation_steps=2 --gradient_checkpointing \
  --deepspeed ds.json \
  --learning_rate 1e-5 --do_train
)---");
    QCOMPARE(QString::fromStdString(read.framework), QString("transformers"));
    QCOMPARE(read.gpus.value_or(0), int64_t(8));
    QCOMPARE(expect_knobs(read, {{"sync", "zero-3"},
                                 {"microbatch", "4"},
                                 {"batch", "64"},
                                 {"dtype", "bf16"},
                                 {"recompute", "full"}}),
             QString());
    QVERIFY(field(read, "--per_device_train_batch_size")->use == LaunchUse::Taken);
  }

  // `accelerate launch` says the same in flags and in its YAML.
  void accelerate_commands_data() {
    QTest::addColumn<QString>("flags");
    QTest::addColumn<QString>("sync");
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<QString>("grad_dtype");
    QTest::addColumn<QString>("recompute");
    QTest::addColumn<int>("batch");
    const auto row = [](const char* flags, const char* sync, const char* dtype, const char* grad_dtype,
                        const char* recompute, int batch) {
      QTest::newRow(flags) << QString(flags) << QString(sync) << QString(dtype) << QString(grad_dtype)
                           << QString(recompute) << batch;
    };
    row("--config_file acc.yaml", "fsdp2", "bf16", "bf16", "full", 64);
    row("--config_file=acc.yaml", "fsdp2", "bf16", "bf16", "full", 64);
    row("--config-file conf/acc.yaml", "fsdp2", "bf16", "bf16", "full", 64);
    row("--config_file acc.yaml --fsdp_version 1 --num_processes 16", "fsdp1", "bf16", "bf16", "full", 32);
    row("--num_processes 32 --use_fsdp --fsdp_version=2 --mixed_precision bf16", "fsdp2", "bf16", "bf16",
        "none", 64);
    row("--num_processes 32 --use_fsdp --fsdp_sharding_strategy FULL_SHARD", "fsdp1", "fp32", "fp32", "none",
        64);
    row("--num_processes 32 --use_deepspeed --zero_stage 3 --mixed_precision bf16 "
        "--gradient_accumulation_steps 4",
        "zero-3", "bf16", "bf16", "none", 256);
    row("--num_processes 32 --multi_gpu", "ddp-buckets", "fp32", "fp32", "none", 64);
    row("--config_file ds.yaml", "zero-2", "bf16", "bf16", "none", 32);
  }
  void accelerate_commands() {
    QFETCH(QString, flags);
    QFETCH(QString, sync);
    QFETCH(QString, dtype);
    QFETCH(QString, grad_dtype);
    QFETCH(QString, recompute);
    QFETCH(int, batch);
    const LaunchImport read = read_launch(
        "accelerate launch " + flags.toStdString() +
            " train.py --model_name_or_path meta-llama/Meta-Llama-3-8B --per_device_train_batch_size 2\n",
        0, "",
        {{"acc.yaml",
          "distributed_type: FSDP\nnum_processes: 32\nmixed_precision: bf16\nfsdp_config:\n"
          "  fsdp_version: 2\n  fsdp_activation_checkpointing: true\n"},
         {"ds.yaml",
          "distributed_type: DEEPSPEED\nnum_processes: 16\nmixed_precision: bf16\n"
          "deepspeed_config:\n  deepspeed_config_file: zero.json\n"},
         {"zero.json", R"({"zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"}})"}});
    QCOMPARE(expect_knobs(read, {{"sync", sync.toStdString()},
                                 {"dtype", dtype.toStdString()},
                                 {"grad_dtype", grad_dtype.toStdString()},
                                 {"recompute", recompute.toStdString()},
                                 {"microbatch", "2"},
                                 {"batch", std::to_string(batch)}}),
             QString());
    for (const LaunchField& one : read.fields)
      QVERIFY2(one.use != LaunchUse::NotUnderstood && one.use != LaunchUse::NoCounterpart, one.name.c_str());
  }
  void accelerate_command_problems() {
    const std::string program = " train.py --model_name_or_path meta-llama/Meta-Llama-3-8B\n";
    const LaunchImport missing = read_launch("accelerate launch --config_file no.yaml" + program, 8);
    QVERIFY(!missing.ok());
    QVERIFY(missing.problems[0].what.find("no.yaml") != std::string::npos);
    QVERIFY(!read_launch("accelerate launch --use_megatron_lm" + program, 8).ok());
    // Flags that no reader knows are reported; the program's own settings replace those of accelerate.
    const LaunchImport read = read_launch(
        "accelerate launch --fsdp_frobnicate 3 --mixed_precision fp16 --gradient_accumulation_steps 8 "
        "train.py --bf16 --gradient_accumulation_steps 4 --model_name_or_path meta-llama/Meta-Llama-3-8B\n",
        8);
    QVERIFY(field(read, "fsdp_config.fsdp_frobnicate")->use == LaunchUse::NoCounterpart);
    QCOMPARE(expect_knobs(read, {{"dtype", "bf16"}, {"batch", "256"}}), QString());
    QCOMPARE(read.notes.size(), size_t(1));
  }

  // A script that only names its files says which file is missing; with the files, it is read.
  void scripts_with_files() {
    const std::string
        script = "CUDA_VISIBLE_DEVICES=0,1 accelerate launch --config_file fsdp.yaml train.py lora.yaml\n";
    const std::string
        yaml = "model_name_or_path: Qwen/Qwen3-4B\nfinetuning_type: full\nstage: sft\nbf16: true\n";
    const LaunchImport missing = read_launch(script, 0, "", {{"lora.yaml", yaml}});
    QVERIFY(!missing.ok());
    QVERIFY(missing.problems[0].what.find("fsdp.yaml") != std::string::npos);
    const LaunchImport read = read_launch(
        script, 0, "",
        {{"lora.yaml", yaml},
         {"fsdp.yaml", "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\nnum_processes: 2\n"}});
    QCOMPARE(expect_knobs(read, {{"sync", "fsdp2"}, {"dp", "2"}, {"dtype", "bf16"}}), QString());
  }

  void other_files_are_no_launch_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("config.json") << R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2})";
    QTest::newRow("some yaml") << "name: x\nvalue: 3\n";
  }
  void other_files_are_no_launch() {
    QFETCH(QString, text);
    QVERIFY(!looks_like_launch(text.toStdString()));
  }
};

QTEST_APPLESS_MAIN(TrainerLaunchTest)
#include "trainer_launch_test.moc"
