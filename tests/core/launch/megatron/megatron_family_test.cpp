// Launches of frameworks on top of Megatron-core: NeMo 1, Primus, Megatron-Bridge, MLPerf, slime, and YAML
// files of Megatron-LM itself.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_import.h"

using namespace shardscape;

namespace {

const char* const kNemo = R"(trainer:
  num_nodes: 4
  devices: 8
  precision: bf16
  gradient_clip_val: 1.0
exp_manager: {name: megatron_llama}
model:
  micro_batch_size: 1
  global_batch_size: 128
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 4
  virtual_pipeline_model_parallel_size: 10
  context_parallel_size: 2
  encoder_seq_length: 8192
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 80
  hidden_size: 8192
  ffn_hidden_size: ${multiply:4, ${.hidden_size}}
  num_attention_heads: 64
  num_query_groups: 8
  hidden_dropout: 0.0
  attention_dropout: 0.0
  normalization: rmsnorm
  bias: false
  activation: fast-swiglu
  position_embedding_type: rope
  share_embeddings_and_output_weights: false
  tokenizer: {library: huggingface, type: meta-llama/Meta-Llama-3.1-70B}
  megatron_amp_O2: true
  transformer_engine: true
  sequence_parallel: ${oc.decode:${oc.env:SP,True}}
  activations_checkpoint_granularity: selective
  fp8: true
  fp8_hybrid: true
  fp32_residual_connection: true
  strange_setting: 3
  optim: {name: distributed_fused_adam, overlap_grad_sync: true, grad_sync_dtype: bf16}
)";

const char* const kPrimus = R"(work_group: ${TEAM:amd}
modules:
  pre_trainer:
    framework: megatron
    config: pre_trainer.yaml
    model: ${MODEL:llama3.1_70B}.yaml
    overrides:
      micro_batch_size: 1
      global_batch_size: 64
      seq_length: ${SEQ:8192}
      tensor_model_parallel_size: ${TP:8}
      pipeline_model_parallel_size: 4
      overlap_grad_reduce: true
      turbo_sync_free_moe_stage: 1
)";

const char* const kBridge = R"(_target_: megatron.bridge.training.config.ConfigContainer
ddp:
  _target_: megatron.bridge.training.config.DistributedDataParallelConfig
  grad_reduce_in_fp32: false
  overlap_grad_reduce: true
  use_distributed_optimizer: true
mixed_precision: bf16_with_fp8_subchannel_scaling_mixed
model:
  _target_: megatron.bridge.models.LlamaModelProvider
  activation_func: {_call_: false, _target_: torch.nn.functional.silu}
  add_bias_linear: false
  gated_linear_unit: true
  hidden_dropout: 0.0
  attention_dropout: 0.0
  hidden_size: 4096
  ffn_hidden_size: 14336
  normalization: RMSNorm
  num_attention_heads: 32
  num_layers: 32
  num_query_groups: 8
  position_embedding_type: rope
  sequence_parallel: true
  share_embeddings_and_output_weights: false
  tensor_model_parallel_size: 2
  vocab_size: 128256
dataset: {seq_length: 4096}
train: {global_batch_size: 64, micro_batch_size: 2}
)";

const char* const kTest = R"(ENV_VARS: {NCCL_ALGO: Ring}
MODEL_ARGS:
  --num-layers: 12
  --hidden-size: 512
  --num-attention-heads: 8
  --micro-batch-size: 4
  --global-batch-size: 32
  --seq-length: 1024
  --max-position-embeddings: 1024
  --pipeline-model-parallel-size: 4
  --num-layers-per-virtual-pipeline-stage: 1
  --use-distributed-optimizer: true
  --overlap-grad-reduce: false
  --bf16: true
TEST_TYPE: regular
)";

const char* const kYamlCfg = R"(language_model:
  num_layers: 24
  hidden_size: 1024
  num_attention_heads: 16
  add_bias_linear: False
  activation_func: swiglu
  normalization: RMSNorm
  position_embedding_type: rope
  hidden_dropout: 0.0
  attention_dropout: 0.0
model_parallel:
  tensor_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: null
  sequence_parallel: True
  bf16: True
micro_batch_size: 2
global_batch_size: 32
seq_length: 2048
vocab_size: 32000
)";

const char* const kMlperf = R"(source $(dirname ${BASH_SOURCE[0]})/config_common.sh
export MINIBS=288
export TENSOR_MODEL_PARALLEL=8
export PIPELINE_MODEL_PARALLEL=8
export INTERLEAVED_PIPELINE=8
export CONTEXT_PARALLEL=2
export DGXNNODES=64
export MODEL_SIZE="405b"
export ASYM_PP_EMBED=True
export ASYM_PP_LOSS=True
)";

const char* const kSlime = R"--(SCRIPT_DIR="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" &>/dev/null && pwd)"
source "${SCRIPT_DIR}/models/small.sh"
ray job submit -- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 ${MODEL_ARGS[@]} \
  --tensor-model-parallel-size 2 --sequence-parallel --context-parallel-size 2 --global-batch-size 64 \
  --use-dynamic-batch-size --max-tokens-per-gpu 4096 --sglang-cuda-graph-bs 1 2 $(seq 4 4 12) \
  --attention-dropout 0.0 --hidden-dropout 0.0
)--";

const char* const kRunner = R"(worker=$(cat <<- EOM
  python scripts/performance/run_script.py \
    --gpu b200 --model_recipe_name deepseek_v3 --gpus_per_node 8 --num_gpus 256 \
    --seq_length 4096 --compute_dtype fp8_mx --global_batch_size 4096 --micro_batch_size 1 \
    --pipeline_model_parallel_size 16 --virtual_pipeline_model_parallel_size None \
    --expert_model_parallel_size 8 --cuda_graph_impl transformer_engine --cuda_graph_scope moe_router,attn
EOM
)
torchrun --nproc-per-node 8 --nnodes 32 --no-python bash worker.sh
)";

const char* const kModel = R"(MODEL_ARGS=(
  --num-layers 36 --hidden-size 2560 --ffn-hidden-size 9728 --num-attention-heads 32
  --group-query-attention --num-query-groups 8 --kv-channels 128 --qk-layernorm --swiglu
  --disable-bias-linear --normalization RMSNorm --use-rotary-position-embeddings --vocab-size 151936
))";

LaunchImport imported(const char* text, std::optional<int64_t> gpus = {}, const char* model = "") {
  LaunchRequest request;
  request.text = text;
  request.where = "file";
  request.gpus = gpus;
  request.model = model;
  request.shell.source = [](const std::string& path) -> std::optional<std::string> {
    if (path == "./models/small.sh") return std::string(kModel);
    if (path == "./config_common.sh")
      return std::string("export FP8=True\nexport OVERLAP_GRAD_REDUCE=True\n");
    return std::nullopt;
  };
  return import_launch(request);
}

const LaunchField* field(const LaunchImport& import, const std::string& name) {
  for (const LaunchField& one : import.fields)
    if (one.name == name) return &one;
  return nullptr;
}

using Expected = std::map<std::string, std::string>;

}  // namespace

Q_DECLARE_METATYPE(Expected)

class MegatronFamilyTest : public QObject {
  Q_OBJECT
 private slots:
  void files_are_designs_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("framework");
    QTest::addColumn<int>("gpus");
    QTest::addColumn<Expected>("expected");
    QTest::newRow("NeMo 1") << kNemo << "nemo1" << 0
                            << Expected{{"layers", "80"},
                                        {"ffn", "32768"},
                                        {"kv_heads", "8"},
                                        {"vocab", "128256"},
                                        {"tp", "4"},
                                        {"pp", "4"},
                                        {"cp", "2"},
                                        {"dp", "1"},
                                        {"virtual_stages", "10"},
                                        {"batch", "128"},
                                        {"seq", "8192"},
                                        {"compute", "fp8"},
                                        {"recompute", "selective"},
                                        {"sequence_parallel", "true"},
                                        {"grad_dtype", "bf16"},
                                        {"sync", "distributed-optimizer"},
                                        {"overlap_grad_reduce", "true"},
                                        {"tied_embeddings", "false"}};
    QTest::newRow("Primus") << kPrimus << "primus" << 64
                            << Expected{{"layers", "80"},
                                        {"hidden", "8192"},
                                        {"kv_heads", "8"},
                                        {"vocab", "128256"},
                                        {"tp", "8"},
                                        {"pp", "4"},
                                        {"dp", "2"},
                                        {"sequence_parallel", "true"},
                                        {"dtype", "bf16"},
                                        {"seq", "8192"},
                                        {"batch", "64"},
                                        {"dropout", "false"},
                                        {"sync", "distributed-optimizer"}};
    QTest::newRow("Megatron-Bridge") << kBridge << "megatron-bridge" << 16
                                     << Expected{{"layers", "32"},
                                                 {"kv_heads", "8"},
                                                 {"tp", "2"},
                                                 {"dp", "8"},
                                                 {"batch", "64"},
                                                 {"microbatch", "2"},
                                                 {"seq", "4096"},
                                                 {"vocab", "128256"},
                                                 {"grad_dtype", "fp32"},
                                                 {"compute", "fp8-blockwise"},
                                                 {"sync", "distributed-optimizer"}};
    QTest::newRow("functional test") << kTest << "megatron-yaml" << 8
                                     << Expected{{"layers", "12"},
                                                 {"pp", "4"},
                                                 {"virtual_stages", "3"},
                                                 {"dp", "2"},
                                                 {"batch", "32"},
                                                 {"overlap_grad_reduce", "false"},
                                                 {"sync", "distributed-optimizer"}};
    QTest::newRow("--yaml-cfg") << kYamlCfg << "megatron-yaml" << 4 << Expected{{"layers", "24"},
                                                                                {"tp", "2"},
                                                                                {"dp", "2"},
                                                                                {"ffn", "2688"},
                                                                                {"sequence_parallel", "true"},
                                                                                {"vocab", "32000"},
                                                                                {"batch", "32"}};
    QTest::newRow("MLPerf") << kMlperf << "mlperf" << 0
                            << Expected{{"layers", "126"},
                                        {"tp", "8"},
                                        {"pp", "8"},
                                        {"cp", "2"},
                                        {"dp", "4"},
                                        {"virtual_stages", "8"},
                                        {"batch", "1152"},
                                        {"seq", "8192"},
                                        {"compute", "fp8"},
                                        {"overlap_grad_reduce", "true"},
                                        {"account_for_embedding_in_pipeline_split", "true"}};
    QTest::newRow("slime") << kSlime << "slime" << 0
                           << Expected{{"layers", "36"},  {"tp", "2"},
                                       {"cp", "2"},       {"dp", "4"},
                                       {"batch", "64"},   {"seq", "8192"},
                                       {"dtype", "bf16"}, {"sync", "distributed-optimizer"}};
    QTest::newRow("recipe runner") << kRunner << "megatron-bridge" << 0
                                   << Expected{{"layers", "61"},
                                               {"experts", "256"},
                                               {"pp", "16"},
                                               {"ep", "8"},
                                               {"dp", "16"},
                                               {"batch", "4096"},
                                               {"compute", "mxfp8"},
                                               {"virtual_stages", "1"},
                                               {"cuda_graphs", "attention-router"}};
  }
  void files_are_designs() {
    QFETCH(QString, text);
    QFETCH(QString, framework);
    QFETCH(int, gpus);
    QFETCH(Expected, expected);
    const LaunchImport read = imported(text.toUtf8(), gpus > 0 ? std::optional<int64_t>(gpus) : std::nullopt);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QCOMPARE(QString::fromStdString(read.framework), framework);
    for (const auto& [id, value] : expected)
      QCOMPARE(QString::fromStdString(id + " " + knob_text(read.design, *find_knob(id))),
               QString::fromStdString(id + " " + value));
    for (const Problem& problem : validate(read.design))
      QVERIFY2(problem.severity != Severity::Error, to_string(problem).c_str());
  }

  void fields_have_names_and_lines_of_the_file() {
    const LaunchImport read = imported(kNemo);
    const auto use = [&](const char* name) {
      const LaunchField* found = field(read, name);
      return found ? static_cast<int>(found->use) : -1;
    };
    QCOMPARE(use("model.num_layers"), static_cast<int>(LaunchUse::Taken));
    QCOMPARE(field(read, "model.num_layers")->line, 16);
    QCOMPARE(use("model.fp32_residual_connection"), static_cast<int>(LaunchUse::NoCounterpart));
    QCOMPARE(use("model.strange_setting"), static_cast<int>(LaunchUse::NotUnderstood));
    QCOMPARE(use("exp_manager.name"), static_cast<int>(LaunchUse::NoEffect));
    QCOMPARE(use("model.expert_model_parallel_size"), -1);
    const LaunchImport primus = imported(kPrimus, 64);
    QCOMPARE(static_cast<int>(field(primus, "hidden_size")->use), static_cast<int>(LaunchUse::Assumed));
    QCOMPARE(field(primus, "hidden_size")->note, std::string("of the preset llama3.1_70B"));
    QCOMPARE(static_cast<int>(field(primus, "modules.pre_trainer.overrides.turbo_sync_free_moe_stage")->use),
             static_cast<int>(LaunchUse::NoCounterpart));
  }

  void every_setting_is_accounted_for_data() {
    QTest::addColumn<QString>("text");
    for (const auto& [name, text] : {std::pair{"nemo", kNemo},
                                     {"primus", kPrimus},
                                     {"bridge", kBridge},
                                     {"test", kTest},
                                     {"yaml-cfg", kYamlCfg}})
      QTest::newRow(name) << text;
  }
  // A name of the file is the last part of a field's name.
  void every_setting_is_accounted_for() {
    QFETCH(QString, text);
    const LaunchImport read = imported(text.toUtf8(), 64);
    for (const QString& line : text.split('\n')) {
      const QString name = line.section(':', 0, 0).trimmed();
      if (name.isEmpty() || line.section(':', 1).trimmed().isEmpty() || line.contains('{')) continue;
      const bool found = std::any_of(read.fields.begin(), read.fields.end(), [&](const LaunchField& one) {
        const QString field = QString::fromStdString(one.name);
        return field == name || field.endsWith("." + name);
      });
      QVERIFY2(found, qPrintable(name));
    }
  }

  void recipes_in_python_say_what_to_read() {
    for (const char* text : {"from megatron.bridge.recipes.common import _pretrain_common\nx = 1\n",
                             "import nemo_run as run\nfrom nemo.collections import llm\n"}) {
      const LaunchImport read = imported(text, 8);
      QCOMPARE(read.problems.size(), size_t(1));
      QVERIFY(read.problems[0].accepted.find("run_config.yaml") != std::string::npos);
    }
  }

  // FP8_PARAMS counts where FP8 is on, in the file or in one that it sources.
  void fp8_parameters_of_mlperf_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("use");
    QTest::addColumn<QString>("value");
    const auto row = [](const char* text, LaunchUse use, const char* value) {
      QTest::newRow(text) << QString(text) << static_cast<int>(use) << QString(value);
    };
    row("export FP8=True\nexport FP8_PARAMS=True\n", LaunchUse::Taken, "true");
    row("export FP8_PARAMS=True\nsource ./config_common.sh\n", LaunchUse::Taken, "true");
    row("export FP8_PARAMS=True\nsource ./config_fp8.sh\n", LaunchUse::NoCounterpart, "false");
  }
  void fp8_parameters_of_mlperf() {
    QFETCH(QString, text);
    QFETCH(int, use);
    QFETCH(QString, value);
    const QByteArray script = "export DGXNNODES=2\nexport MINIBS=8\n" + text.toUtf8();
    const LaunchImport read = imported(script.constData(), {}, "llama3-8b");
    QVERIFY(read.ok());
    QCOMPARE(knob_text(read.design, *find_knob("fp8_params")), value.toStdString());
    QVERIFY(field(read, "FP8_PARAMS"));
    QCOMPARE(static_cast<int>(field(read, "FP8_PARAMS")->use), use);
    QVERIFY(use == static_cast<int>(LaunchUse::Taken) ||
            field(read, "FP8_PARAMS")->note.find("FP8=True") < 100);
  }

  void missing_values_are_asked_for() {
    const LaunchImport unknown = imported("export DGXNNODES=2\nexport MINIBS=8\n");
    QCOMPARE(static_cast<int>(unknown.problems.at(0).code), static_cast<int>(ProblemCode::LaunchFormat));
    QVERIFY(imported("export DGXNNODES=2\nexport MINIBS=8\n", {}, "llama3-8b").ok());
    const LaunchImport gpus = imported(kPrimus);
    QCOMPARE(static_cast<int>(gpus.problems.at(0).code), static_cast<int>(ProblemCode::LaunchGpus));
  }

  void logs_keep_what_was_measured() {
    const char* const log =
        "------------------------ arguments ------------------------\n"
        "  hidden_size ..................................... 512\n"
        "  num_attention_heads ............................. 8\n"
        "  num_layers ...................................... 12\n"
        "  seq_length ...................................... 1024\n"
        "  tensor_model_parallel_size ...................... 1\n"
        "  world_size ...................................... 8\n"
        " [2026-08-01] iteration 1/ 3 | elapsed time per iteration (ms): 9000.5 | throughput per GPU "
        "(TFLOP/s/GPU): 10.0 |\n"
        " [2026-08-01] iteration 2/ 3 | elapsed time per iteration (ms): 310.5 | throughput per GPU "
        "(TFLOP/s/GPU): 401.5 |\n"
        "[Rank 0] (after 2 iterations) memory (MB) | allocated: 12.5 | max allocated: 20000.0 | reserved: "
        "3.0 | "
        "max reserved: 30000.0\n"
        "[Rank 1] (after 2 iterations) memory (MB) | allocated: 12.5 | max allocated: 21000.0 | reserved: "
        "3.0 | "
        "max reserved: 29000.0\n";
    const LaunchImport read = imported(log);
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    QStringList rows;
    for (const LaunchMeasurement& one : read.measured)
      rows << QString("%1 %2 %3 line %4")
                  .arg(QString::fromStdString(one.what))
                  .arg(one.value)
                  .arg(QString::fromStdString(one.unit))
                  .arg(one.line);
    QCOMPARE(rows,
             (QStringList{"time of an iteration 310.5 ms line 9", "throughput of a GPU 401.5 TFLOP/s line 9",
                          "largest allocated memory 21000 MB line 11",
                          "largest reserved memory 30000 MB line 10"}));
    QVERIFY(imported(kTest, 8).measured.empty());
  }

  // Values that refer to each other end, and truncated files are refused or read.
  void hostile_files_end() {
    QString many =
        "model:\n  tensor_model_parallel_size: 1\n  pipeline_model_parallel_size: 1\n"
        "  encoder_seq_length: 8\n  a0: ${.a0}${.a0}\n";
    for (int i = 1; i < 40; ++i) many += QString("  a%1: ${.a%2}${.a%2}\n").arg(i).arg(i - 1);
    QVERIFY(!imported(many.toUtf8(), 8).ok());
    for (const char* text : {kNemo, kPrimus, kBridge, kTest, kYamlCfg, kMlperf, kSlime, kRunner})
      for (size_t length = 0; length < std::string(text).size(); length += 37)
        (void)imported(std::string(text).substr(0, length).c_str(), 8);
  }
};

QTEST_APPLESS_MAIN(MegatronFamilyTest)
#include "megatron_family_test.moc"
