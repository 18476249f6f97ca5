// Launch files become designs; every field is accounted for.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_export.h"
#include "launch/launch_import.h"

using namespace shardscape;

namespace {

const char* const kScript = R"---(#!/bin/bash
TP=${TP:-2}
GPUS_PER_NODE=8
DISTRIBUTED="--nproc_per_node $GPUS_PER_NODE --nnodes ${NODES:-4}"
MODEL=(
    --num-layers 60 --hidden-size 5120 --num-attention-heads 40  # don't forget the head
    --group-query-attention --num-query-groups 8
    --swiglu --disable-bias-linear --normalization RMSNorm --position-embedding-type rope
    --num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 1536
    --moe-layer-freq "([0]*1+[1]*59)"
    --moe-shared-expert-intermediate-size 3072
    --vocab-size 102400 --untie-embeddings-and-output-weights
)
if [ "$TP" -gt 1 ]; then EXTRA="--sequence-parallel"; fi
torchrun $DISTRIBUTED pretrain_gpt.py "${MODEL[@]}" $EXTRA \
    --tensor-model-parallel-size $TP --expert-model-parallel-size 8 --expert-tensor-parallel-size 1 \
    --moe-token-dispatcher-type alltoall --seq-length 4096 --micro-batch-size 1 --global-batch-size 512 \
    --ffn-hidden-size 12288 --bf16 --use-distributed-optimizer --hidden-dropout 0 --attention-dropout 0 \
    --lr 1e-4 --frobnicate 3
)---";

LaunchImport imported(std::string text, std::optional<int64_t> gpus = {}, ShellInput shell = {}) {
  LaunchRequest request;
  request.text = std::move(text);
  request.where = "run.sh";
  request.gpus = gpus;
  request.shell = std::move(shell);
  return import_launch(request);
}

std::string knob(const LaunchImport& import, const char* id) {
  return knob_text(import.design, *find_knob(id));
}

const LaunchField* field(const LaunchImport& import, const std::string& name) {
  for (const LaunchField& one : import.fields)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace

class LaunchImportTest : public QObject {
  Q_OBJECT
 private slots:
  // Launches are read under the names under which they are written.
  void names_of_written_launches_data() {
    QTest::addColumn<QString>("name");
    for (const LaunchFramework& one : launch_export_frameworks()) {
      const QString name = QString::fromUtf8(one.id.data(), static_cast<qsizetype>(one.id.size()));
      QTest::newRow(qPrintable(name)) << name;
    }
  }
  void names_of_written_launches() {
    QFETCH(QString, name);
    Design design;
    QVERIFY(apply_preset(design, "llama3-8b"));
    const bool serves = name == "vllm" || name == "sglang" || name == "trtllm";
    if (serves) QVERIFY(!set_knob(design, *find_knob("mode"), "decode"));
    const auto written = export_launch(design, name.toStdString());
    QVERIFY(std::holds_alternative<LaunchText>(written));
    LaunchRequest request;
    request.text = std::get<LaunchText>(written).text;
    request.where = "run.sh";
    request.framework = name.toStdString();
    request.gpus = design.world();
    const LaunchImport read = import_launch(request);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
  }

  // What a refusal says of texts that are no whole launch.
  void refusals_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("where");
    QTest::addColumn<QString>("what");
    const auto row = [](const char* name, const char* text, const char* where, const char* what) {
      QTest::newRow(name) << QString(text) << QString(where) << QString(what);
    };
    row("TOML that ends in a value", "[model]\nname = \"llama3\"\nflavor = \"70", "run.sh, line 3",
        "not TOML");
    row("TOML that ends in a section", "# c\n[model]\nname = \"llama3\"\n[train", "run.sh, line 4",
        "not TOML");
    row("TOML of something else", "[package]\nname = \"x\"\n", "run.sh", "no sections of torchtitan");
    row("log of MaxText", "Config param per_device_batch_size: 2.0\nConfig param model_name: llama2-7b\n",
        "run.sh", "does not say on how many GPUs");
    row("GPT-NeoX",
        "pipe_parallel_size: 2\nmodel_parallel_size: 2\nnum_layers: 16\nhidden_size: 2048\n"
        "num_attention_heads: 16\nseq_length: 2048\n",
        "run.sh", "does not say on how many GPUs");
  }
  void refusals() {
    QFETCH(QString, text);
    QFETCH(QString, where);
    QFETCH(QString, what);
    QVERIFY(looks_like_launch(text.toStdString()));
    const LaunchImport read = imported(text.toStdString());
    QVERIFY(!read.ok());
    QCOMPARE(QString::fromStdString(read.problems[0].where), where);
    QVERIFY2(QString::fromStdString(read.problems[0].what).contains(what), read.problems[0].what.c_str());
  }

  // A fork of Megatron-LM is named, and its own arguments are not understood.
  void mindspeed() {
    const LaunchImport read = imported(
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 "
        "--seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 --global-batch-size 8 "
        "--use-fused-rmsnorm --noop-layers 1\n");
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(read.notes.size(), size_t(1));
    QVERIFY(read.notes[0].text.find("MindSpeed, a fork of Megatron-LM") != std::string::npos);
    QVERIFY(field(read, "--noop-layers")->use == LaunchUse::NotUnderstood);
    QVERIFY(field(read, "--noop-layers")->note.find("MindSpeed") != std::string::npos);
    QVERIFY(imported(kScript).notes.empty());
  }

  void a_script_is_a_design() {
    const LaunchImport read = imported(kScript);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(read.framework, std::string("megatron-lm"));
    QCOMPARE(read.gpus.value_or(0), int64_t(32));
    QCOMPARE(read.gpus_from, std::string("--nproc_per_node x --nnodes"));
    QCOMPARE(read.design.model.architecture, std::string("deepseek-moe"));
    for (const auto& [id, value] :
         std::initializer_list<std::pair<const char*, const char*>>{{"layers", "60"},
                                                                    {"dense_layers", "1"},
                                                                    {"experts", "64"},
                                                                    {"experts_per_token", "6"},
                                                                    {"expert_ffn", "1536"},
                                                                    {"shared_experts", "2"},
                                                                    {"kv_heads", "8"},
                                                                    {"head_dim", "128"},
                                                                    {"tp", "2"},
                                                                    {"dp", "16"},
                                                                    {"ep", "8"},
                                                                    {"etp", "1"},
                                                                    {"dispatcher", "alltoall"},
                                                                    {"sequence_parallel", "true"},
                                                                    {"batch", "512"},
                                                                    {"sync", "distributed-optimizer"}})
      QCOMPARE(QString::fromStdString(knob(read, id)), QString(value));
    for (const Problem& problem : validate(read.design))
      QVERIFY2(problem.severity != Severity::Error, to_string(problem).c_str());
  }

  void every_field_is_accounted_for() {
    const LaunchImport read = imported(kScript);
    const auto use = [&](const char* name) {
      const LaunchField* found = field(read, name);
      return found ? static_cast<int>(found->use) : -1;
    };
    QCOMPARE(use("--num-layers"), static_cast<int>(LaunchUse::Taken));
    QCOMPARE(use("--kv-channels"), static_cast<int>(LaunchUse::Derived));
    QCOMPARE(use("gpus"), static_cast<int>(LaunchUse::Derived));
    QCOMPARE(use("--pipeline-model-parallel-size"), static_cast<int>(LaunchUse::Assumed));
    QCOMPARE(use("--lr"), static_cast<int>(LaunchUse::NoEffect));
    QCOMPARE(use("--frobnicate"), static_cast<int>(LaunchUse::NotUnderstood));
    QCOMPARE(field(read, "--num-layers")->line, 15);
    for (const char* name : {"--swiglu", "--disable-bias-linear", "--ffn-hidden-size", "--moe-layer-freq"})
      QVERIFY2(use(name) >= 0, name);
  }

  void variables_and_gpus() {
    QCOMPARE(knob(imported(kScript, {}, {{}, {{"TP", "4"}, {"NODES", "2"}}, {}}), "dp"), std::string("4"));
    const LaunchImport given = imported(kScript, 64);
    QCOMPARE(knob(given, "dp"), std::string("32"));
    QCOMPARE(given.gpus_from, std::string("given"));
    for (const char* start :
         {"python", "torchrun --nproc_per_node 8 --nnodes $NODES", "torchrun --nproc_per_node 8 --nnodes 1:4",
          "torchrun --nproc_per_node -8", "torchrun --nproc_per_node 4000000000000 --nnodes 4000000000000"}) {
      const LaunchImport none = imported(std::string(start) + " pretrain_gpt.py --num-layers 2");
      QVERIFY2(none.problems.size() == 1, start);
      QCOMPARE(static_cast<int>(none.problems[0].code), static_cast<int>(ProblemCode::LaunchGpus));
    }
  }

  void a_value_with_spaces_stays_with_its_flag() {
    const LaunchImport read = imported(
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --wandb-exp-name=\"my run\" --seed 1");
    QCOMPARE(QString::fromStdString(field(read, "--num-layers")->value), QString("2"));
    QCOMPARE(QString::fromStdString(field(read, "--wandb-exp-name")->value), QString("my run"));
  }

  void a_log_is_a_design() {
    const char* const log = R"---(using world size: 16, data-parallel size: 8
0: ------------------------ arguments ------------------------
0:   accumulate_allreduce_grads_in_fp32 .............. True
0:   bf16 ............................................ True
0:   gradient_accumulation_fusion .................... False
0:   hidden_dropout .................................. 0.0
0:   attention_dropout ............................... 0.0
0:   hidden_size ..................................... 1024
0:   kv_channels ..................................... None
0:   global_batch_size ............................... 64
0:   micro_batch_size ................................ 2
0:   max_position_embeddings ......................... 2048
0:   num_attention_heads ............................. 16
0:   num_layers ...................................... 24
0:   seq_length ...................................... 2048
0:   tensor_model_parallel_size ...................... 2
0:   use_distributed_optimizer ....................... False
0:   world_size ...................................... 16
0: -------------------- end of arguments ---------------------
)---";
    const LaunchImport read = imported(log);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(read.gpus.value_or(0), int64_t(16));
    QCOMPARE(knob(read, "dp"), std::string("8"));
    QCOMPARE(knob(read, "hidden"), std::string("1024"));
    QCOMPARE(knob(read, "gradient_accumulation_fusion"), std::string("false"));
    QCOMPARE(knob(read, "sync"), std::string("ddp-flat"));
    QCOMPARE(field(read, "--hidden-size")->line, 8);
  }

  // Rows have the names of variables, and Python's texts of lists and enumerations.
  void rows_of_a_log_are_arguments() {
    const char* const log = R"---(
  add_bias_linear ................................. False
  add_position_embedding .......................... True
  attention_backend ............................... AttnBackend.auto
  bf16 ............................................ True
  context_parallel_size ........................... 2
  cp_comm_type .................................... ['p2p']
  empty_unused_memory_level ....................... 0
  fp8 ............................................. hybrid
  global_batch_size ............................... 64
  hidden_size ..................................... 1024
  max_position_embeddings ......................... 2048
  megatron_fsdp_grad_comm_dtype ................... auto
  megatron_fsdp_main_grads_dtype .................. auto
  microbatch_group_size_per_vp_stage .............. 4
  num_attention_heads ............................. 16
  num_layers ...................................... 24
  num_virtual_stages_per_pipeline_rank ............ 2
  pipeline_model_parallel_size .................... 2
  rampup_batch_size ............................... ['16', '16', '1000']
  recompute_granularity ........................... selective
  recompute_modules ............................... ['core_attn']
  seq_length ...................................... 2048
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 2
  world_size ...................................... 16
)---";
    const LaunchImport read = imported(log);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(read.design.model.architecture, std::string("gpt; swiglu, unbiased"));
    for (const auto& [id, value] :
         std::initializer_list<std::pair<const char*, const char*>>{{"compute", "fp8"},
                                                                    {"context", "zigzag"},
                                                                    {"microbatch_group", "4"},
                                                                    {"batch_ramp_samples", "1000"},
                                                                    {"recompute_modules", "core_attn"},
                                                                    {"grad_dtype", "fp32"},
                                                                    {"profile", "megatron-core-te"}})
      QCOMPARE(QString::fromStdString(knob(read, id)), QString(value));
    for (const LaunchField& one : read.fields)
      QVERIFY2(one.use != LaunchUse::NoCounterpart && one.use != LaunchUse::NotUnderstood, one.name.c_str());
  }

  void programs_data() {
    QTest::addColumn<QString>("script");
    QTest::newRow("module") << "python -m torch.distributed.run --nproc_per_node 8 -m megatron.training "
                               "--num-layers 2";
    QTest::newRow("module of torchrun") << "torchrun --nproc_per_node=8 -m megatron.training --num-layers 2";
    QTest::newRow("no name of Python") << "torchrun --nproc-per-node 8 $PROGRAM --num-layers 2";
    QTest::newRow("srun") << "srun -m block torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2";
  }
  void programs() {
    QFETCH(QString, script);
    const LaunchImport read = imported(script.toStdString());
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(read.gpus.value_or(0), int64_t(8));
    QCOMPARE(QString::fromStdString(knob(read, "layers")), QString("2"));
  }

  void other_commands_are_noted() {
    const LaunchImport read = imported(
        "torchrun --nproc_per_node 8 a.py --num-layers 2\ntorchrun --nproc_per_node 8 b.py --num-layers 4");
    QCOMPARE(QString::fromStdString(knob(read, "layers")), QString("2"));
    QCOMPARE(read.notes.size(), size_t(1));
    QCOMPARE(read.notes[0].line, 2);
  }

  void refused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const char* text, ProblemCode code, const char* message) {
      QTest::newRow(name) << QString(text) << static_cast<int>(code) << QString(message);
    };
    row("no launch", "hello", ProblemCode::LaunchFormat,
        "run.sh: the text is no launch of a known framework");
    row("no command", "A=\"--num-layers 2\"", ProblemCode::LaunchFormat,
        "run.sh: no command of the script has the argument");
    row("syntax", "x --num-layers 2\nrun \"a", ProblemCode::LaunchSyntax, "run.sh, line 2: ");
  }
  void refused() {
    QFETCH(QString, text);
    QFETCH(int, code);
    QFETCH(QString, message);
    const LaunchImport read = imported(text.toStdString());
    QCOMPARE(read.problems.size(), size_t(1));
    QCOMPARE(static_cast<int>(read.problems[0].code), code);
    const QString shown = QString::fromStdString(to_string(read.problems[0]));
    QVERIFY2(shown.startsWith(message), qPrintable(shown));
  }
};

QTEST_APPLESS_MAIN(LaunchImportTest)
#include "launch_import_test.moc"
