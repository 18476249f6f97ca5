// Launch arguments of Megatron-LM: the designs that they describe, and arguments without a counterpart.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/megatron/megatron_arguments.h"

using namespace shardscape;

namespace {

// gpt3_7b_tp4_pp1_memory_speed of Megatron-LM's functional tests, without data, logging and checkpoints.
LaunchArguments seven_billion() {
  return {{"--num-layers", "32"},
          {"--hidden-size", "4096"},
          {"--num-attention-heads", "32"},
          {"--group-query-attention", "true"},
          {"--num-query-groups", "8"},
          {"--untie-embeddings-and-output-weights", "true"},
          {"--micro-batch-size", "2"},
          {"--global-batch-size", "8"},
          {"--seq-length", "8192"},
          {"--max-position-embeddings", "8192"},
          {"--tokenizer-type", "NullTokenizer"},
          {"--vocab-size", "131073"},
          {"--clip-grad", "1.0"},
          {"--transformer-impl", "transformer_engine"},
          {"--tensor-model-parallel-size", "4"},
          {"--use-distributed-optimizer", "true"},
          {"--overlap-grad-reduce", "true"},
          {"--overlap-param-gather", "true"},
          {"--no-gradient-accumulation-fusion", "true"},
          {"--lr", "0.00015"},
          {"--bf16", "true"}};
}

LaunchDesign with(std::initializer_list<std::pair<const char*, const char*>> changes, int64_t gpus = 8) {
  LaunchArguments arguments = seven_billion();
  for (const auto& [argument, text] : changes) arguments[argument] = text;
  return read_megatron_arguments(arguments, gpus);
}

// The architecture is no knob.
std::string knob(const LaunchDesign& launch, const std::string& id) {
  return id == "architecture" ? launch.design.model.architecture : knob_text(launch.design, *find_knob(id));
}

void row(const char* id, const char* text, const QStringList& arguments) {
  QTest::addRow("%s %s by %s", id, text, qPrintable(arguments.join(' ')))
      << arguments << QByteArray(id) << QByteArray(text);
}

void pipelineAndModelRows() {
  row("shared_expert_overlap", "true", {"--moe-shared-expert-overlap", "true"});
  row("cuda_graphs", "none", {"--cuda-graph-scope", "attn"});
  row("cuda_graphs", "attention", {"--cuda-graph-impl", "transformer_engine", "--cuda-graph-scope", "attn"});
  row("cuda_graphs", "attention-router",
      {"--cuda-graph-impl", "transformer_engine", "--cuda-graph-scope", "attn moe_router moe_preprocess"});
  row("cuda_graphs", "iteration", {"--cuda-graph-impl", "local", "--cuda-graph-scope", "full_iteration"});
  row("virtual_stages", "8",
      {"--pipeline-model-parallel-size", "2", "--num-layers-per-virtual-pipeline-stage", "2"});
  row("microbatch_group", "4",
      {"--pipeline-model-parallel-size", "2", "--num-virtual-stages-per-pipeline-rank", "2",
       "--microbatch-group-size-per-virtual-pipeline-stage", "4"});
  row("stage_layers", "14,18",
      {"--pipeline-model-parallel-size", "2", "--decoder-first-pipeline-num-layers", "14"});
  row("architecture", "gpt; rope, swiglu, unbiased",
      {"--position-embedding-type", "rope", "--swiglu", "true", "--disable-bias-linear", "true"});
  row("architecture", "llama",
      {"--position-embedding-type", "rope", "--swiglu", "true", "--disable-bias-linear", "true",
       "--normalization", "RMSNorm"});
  row("ffn", "10880", {"--swiglu", "true"});  // 8 · 4,096 / 3, rounded down to 64
  row("profile", "megatron-core-te-unfused", {"--attention-backend", "unfused"});
  row("profile", "megatron-core-te-fused-loss",
      {"--cross-entropy-loss-fusion", "true", "--cross-entropy-fusion-impl", "te"});
  row("profile", "megatron-2022", {"--transformer-impl", "local"});
  row("dropout", "false", {"--hidden-dropout", "0.0", "--attention-dropout", "0.0"});
  row("vocab", "129280",
      {"--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", "deepseek-ai/DeepSeek-V3",
       "--vocab-size", "null"});
  row("vocab", "152064",
      {"--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", "Qwen/Qwen2.5-7B", "--vocab-size",
       "null"});
  row("context", "zigzag", {"--context-parallel-size", "2"});
}

void optimizerRows() {
  row("dp_shard", "1", {"--num-distributed-optimizer-instances", "2"});
  for (const auto& [strategy, sync] : {std::pair{"no_shard", "ddp-flat"},
                                       {"optim", "distributed-optimizer"},
                                       {"optim_grads", "megatron-fsdp"},
                                       {"optim_grads_params", "megatron-fsdp"}})
    row("sync", sync, {"--use-megatron-fsdp", "true", "--data-parallel-sharding-strategy", strategy});
  row("reshard_after_backward", "false",
      {"--use-megatron-fsdp", "true", "--data-parallel-sharding-strategy", "optim_grads"});
  row("dp_shard", "1",
      {"--use-megatron-fsdp", "true", "--data-parallel-sharding-strategy", "optim_grads_params",
       "--num-distributed-optimizer-instances", "2"});
  row("grad_dtype", "bf16",
      {"--use-megatron-fsdp", "true", "--data-parallel-sharding-strategy", "optim_grads_params",
       "--megatron-fsdp-main-grads-dtype", "auto", "--megatron-fsdp-grad-comm-dtype", "auto"});
  row("optimizer_offload_fraction", "0.25",
      {"--optimizer-cpu-offload", "true", "--optimizer-offload-fraction", "0.25"});
  row("optimizer", "muon", {"--optimizer", "muon", "--muon-tp-mode", "blockwise"});
  row("sync", "megatron-fsdp", {"--use-megatron-fsdp", "true"});
  row("grad_dtype", "fp32",
      {"--megatron-fsdp-main-grads-dtype", "auto", "--megatron-fsdp-grad-comm-dtype", "auto"});
  row("context", "ulysses-zigzag",
      {"--context-parallel-size", "2", "--cp-comm-type", "a2a+p2p", "--hierarchical-context-parallel-sizes",
       "2 1"});
  row("ulysses_degree", "2",
      {"--context-parallel-size", "2", "--cp-comm-type", "a2a+p2p", "--hierarchical-context-parallel-sizes",
       "2 1"});
  row("stage_layers", "15,17",
      {"--pipeline-model-parallel-size", "2", "--pipeline-model-parallel-layout", "Et*15|(t)*16,t,L"});
  row("virtual_stages", "2",
      {"--pipeline-model-parallel-size", "2", "--pipeline-model-parallel-layout", "Et*8|(t*8|)*2t*8L"});
  row("moment_dtype", "bf16",
      {"--use-precision-aware-optimizer", "true", "--exp-avg-dtype", "bf16", "--exp-avg-sq-dtype", "bf16"});
  row("sync", "fsdp2", {"--use-torch-fsdp2", "true"});
  row("offload_activations", "4", {"--cpu-offloading-num-layers", "4"});
  const QStringList modern{"--position-embedding-type", "rope", "--swiglu",        "true",
                           "--disable-bias-linear",     "true", "--normalization", "RMSNorm"};
  row("window", "128", modern + QStringList{"--window-size", "127,0"});
  row("mtp_layers", "1",
      modern + QStringList{"--num-experts", "8", "--mtp-num-layers", "1", "--moe-router-score-function",
                           "sigmoid"});
  const QStringList lead{"--moe-ffn-hidden-size",
                         "16384",
                         "--moe-shared-expert-intermediate-size",
                         "16384",
                         "--num-experts",
                         "8",
                         "--num-layers",
                         "3",
                         "--moe-layer-freq"};
  row("dense_layers", "1", modern + lead + QStringList{"[0, 1, 1]"});
  row("dense_layers", "2", modern + lead + QStringList{"([0]*2+[1])"});
  row("compute", "nvfp4", {"--fp4-format", "e2m1"});
  row("positions", "0",
      {"--position-embedding-type", "rope", "--use-rotary-position-embeddings", "true", "--rotary-percent",
       "1"});
  row("batch_ramp_increment", "16", {"--rampup-batch-size", "192 16 9_765_625"});
  row("rank_order", "tp-cp-pp-dp", {"--use-tp-pp-dp-mapping", "true"});
  row("recompute_method", "block",
      {"--recompute-granularity", "full", "--recompute-method", "block", "--recompute-num-layers", "3"});
  row("compute", "mxfp8", {"--fp8-format", "e4m3", "--fp8-recipe", "mxfp8"});
  row("grad_dtype", "bf16", {"--grad-reduce-in-bf16", "true"});
}

}  // namespace

class MegatronArgumentsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLaunchIsADesign() {
    const LaunchDesign launch = with({});
    for (const auto& [argument, reason] : launch.unmapped)
      qWarning("%s: %s", argument.c_str(), reason.c_str());
    QVERIFY(launch.unmapped.empty());
    for (const Problem& problem : validate(launch.design))
      QVERIFY2(problem.severity != Severity::Error, to_string(problem).c_str());
    for (const auto& [id, text] : {std::pair{"layers", "32"},
                                   {"kv_heads", "8"},
                                   {"head_dim", "128"},
                                   {"ffn", "16384"},
                                   {"vocab", "131074"},
                                   {"tied_embeddings", "false"},
                                   {"positions", "8192"},
                                   {"architecture", "gpt"},
                                   {"tp", "4"},
                                   {"dp", "2"},
                                   {"batch", "8"},
                                   {"sync", "distributed-optimizer"},
                                   {"overlap_param_gather", "true"},
                                   {"clip_grad_norm", "true"},
                                   {"dropout", "true"},
                                   {"gradient_accumulation_fusion", "false"},
                                   {"profile", "megatron-core-te"},
                                   {"dtype", "bf16"},
                                   {"grad_dtype", "fp32"}})
      QCOMPARE(knob(launch, id), std::string(text));
  }

  void argumentsSetKnobs_data() {
    QTest::addColumn<QStringList>("arguments");  // name, text, name, text, ...
    QTest::addColumn<QByteArray>("knob");
    QTest::addColumn<QByteArray>("text");
    pipelineAndModelRows();
    optimizerRows();
  }
  void argumentsSetKnobs() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, knob);
    QFETCH(QByteArray, text);
    LaunchArguments all = seven_billion();
    for (qsizetype i = 0; i < arguments.size(); i += 2)
      all[arguments[i].toStdString()] = arguments[i + 1].toStdString();
    const LaunchDesign launch = read_megatron_arguments(all, 8);
    for (const auto& [argument, reason] : launch.unmapped)
      qWarning("%s: %s", argument.c_str(), reason.c_str());
    QVERIFY(launch.unmapped.empty());
    QCOMPARE(::knob(launch, knob.constData()), text.toStdString());
  }

  void usesOfArguments_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("argument");
    QTest::addColumn<int>("use");
    const auto row = [](const char* argument, LaunchUse use, const QStringList& arguments) {
      QTest::addRow("%s by %s", argument, qPrintable(arguments.join(' ')))
          << arguments << QString(argument) << static_cast<int>(use);
    };
    const QStringList modern{
        "--position-embedding-type", "rope",    "--swiglu",      "true", "--disable-bias-linear", "true",
        "--normalization",           "RMSNorm", "--num-experts", "8"};
    row("--add-qkv-bias", LaunchUse::NoCounterpart, modern + QStringList{"--add-qkv-bias", "true"});
    row("--add-qkv-bias", LaunchUse::NoCounterpart,
        modern + QStringList{"--add-qkv-bias", "true", "--qk-layernorm", "true"});
    row("--add-qkv-bias", LaunchUse::NoCounterpart,
        modern + QStringList{"--add-qkv-bias", "true", "--moe-shared-expert-intermediate-size", "16384"});
    row("--add-qkv-bias", LaunchUse::Taken,
        modern + QStringList{"--add-qkv-bias", "true", "--moe-shared-expert-intermediate-size", "16384",
                             "--moe-shared-expert-gate", "true"});
    row("--qk-layernorm", LaunchUse::NoCounterpart,
        modern + QStringList{"--qk-layernorm", "true", "--moe-shared-expert-intermediate-size", "16384",
                             "--moe-shared-expert-gate", "true"});
    row("--vocab-size", LaunchUse::Derived, {});  // a NullTokenizer adds a token
    row("--vocab-size", LaunchUse::Taken, {"--tokenizer-type", "HuggingFaceTokenizer"});
    row("--vocab-size", LaunchUse::Derived,
        {"--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", "deepseek-ai/DeepSeek-V3",
         "--vocab-size", "null"});
    const QStringList unknown{"--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model",
                              "/my/words",        "--vocab-size",         "null"};
    row("--vocab-size", LaunchUse::Assumed, unknown);
    row("--tokenizer-type", LaunchUse::NoCounterpart, unknown);
    for (const char* argument : {"--reset-attention-mask", "--reset-position-ids"})
      row(argument, LaunchUse::NoCounterpart, {argument, "true"});
    row("--optimizer", LaunchUse::Taken, {"--optimizer", "muon"});
    row("--muon-tp-mode", LaunchUse::NoCounterpart, {"--optimizer", "muon"});
    row("--frobnicate", LaunchUse::NotUnderstood, {"--frobnicate", "3"});
    row("--num-layers", LaunchUse::NotUnderstood, {"--num-layers", "many"});
    row("--rampup-batch-size", LaunchUse::NotUnderstood, {"--rampup-batch-size", "many"});
    row("--delay-wgrad-compute", LaunchUse::NoCounterpart, {"--delay-wgrad-compute", "true"});
    row("--no-rl-offload-inference-model-weights-when-idle", LaunchUse::NoCounterpart,
        {"--no-rl-offload-inference-model-weights-when-idle", "true"});
    row("--empty-unused-memory-level", LaunchUse::NoEffect, {"--empty-unused-memory-level", "0"});
    row("--empty-unused-memory-level", LaunchUse::NoCounterpart, {"--empty-unused-memory-level", "2"});
    row("--fp16", LaunchUse::Taken, {"--bf16", "false", "--fp16", "true"});
    row("--num-virtual-stages-per-pipeline-rank", LaunchUse::Taken,
        {"--pipeline-model-parallel-size", "2", "--num-virtual-stages-per-pipeline-rank", "2"});
    row("--expert-model-parallel-size", LaunchUse::NoEffect, {"--expert-model-parallel-size", "2"});
    row("--sequence-parallel", LaunchUse::NoEffect,
        {"--tensor-model-parallel-size", "1", "--sequence-parallel", "true"});
    row("--num-query-groups", LaunchUse::NoEffect, {"--group-query-attention", "false"});
    row("--data-parallel-sharding-strategy", LaunchUse::NoEffect,
        {"--data-parallel-sharding-strategy", "optim"});
    row("--use-rotary-position-embeddings", LaunchUse::Taken,
        {"--position-embedding-type", "rope", "--use-rotary-position-embeddings", "true"});
    for (const char* argument : {"--use-checkpoint-args", "--deterministic-mode"})
      row(argument, LaunchUse::NoCounterpart, {argument, "true"});
    row("--extra-vocab-size", LaunchUse::NoCounterpart, {"--extra-vocab-size", "256"});
    const char* const layout = "--pipeline-model-parallel-layout";
    row(layout, LaunchUse::NoCounterpart, {layout, "E|t*32|L|", "--pipeline-model-parallel-size", "2"});
    for (const char* text : {"E|x|L", "E|(t|L", "E|t*99999999999|L", "E|t*32|L", "E(t|)*99999)*999L"})
      row(layout, LaunchUse::NotUnderstood, {layout, text, "--pipeline-model-parallel-size", "2"});
    row("--window-size", LaunchUse::NoCounterpart, {"--window-size", "127,0"});  // GPT has no windows
    row("--window-size", LaunchUse::NotUnderstood, {"--window-size", "127,5"});
    row("--mtp-num-layers", LaunchUse::NoCounterpart, {"--mtp-num-layers", "1"});
    row("--mtp-num-layers", LaunchUse::Taken,
        modern + QStringList{"--mtp-num-layers", "1", "--moe-router-score-function", "sigmoid"});
    row("--exp-avg-dtype", LaunchUse::NoEffect, {"--exp-avg-dtype", "bf16"});
    row("--exp-avg-sq-dtype", LaunchUse::NoCounterpart,
        {"--use-precision-aware-optimizer", "true", "--exp-avg-sq-dtype", "bf16"});
    row("--overlap-p2p-communication-warmup-flush", LaunchUse::NoCounterpart,
        {"--pipeline-model-parallel-size", "2", "--num-virtual-stages-per-pipeline-rank", "2",
         "--overlap-p2p-communication-warmup-flush", "true"});
  }
  void usesOfArguments() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, argument);
    QFETCH(int, use);
    LaunchArguments all = seven_billion();
    for (qsizetype i = 0; i < arguments.size(); i += 2)
      all[arguments[i].toStdString()] = arguments[i + 1].toStdString();
    int found = -1;
    for (const LaunchField& field : read_megatron_arguments(all, 8).fields)
      if (field.name == argument.toStdString()) found = static_cast<int>(field.use);
    QCOMPARE(found, use);
  }

  // One argument says the type of gradients.
  void gradientTypesHaveOneSource_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("source");
    const auto row = [](const char* source, const QStringList& arguments) {
      QTest::addRow("%s", qPrintable(arguments.join(' '))) << arguments << QString(source);
    };
    row("--accumulate-allreduce-grads-in-fp32", {});
    row("--grad-reduce-in-bf16", {"--grad-reduce-in-bf16", "true"});
    row("--megatron-fsdp-grad-comm-dtype",
        {"--use-megatron-fsdp", "true", "--data-parallel-sharding-strategy", "optim_grads_params",
         "--megatron-fsdp-grad-comm-dtype", "bf16", "--megatron-fsdp-main-grads-dtype", "bf16",
         "--accumulate-allreduce-grads-in-fp32", "true"});
    row("--main-grads-dtype", {"--use-precision-aware-optimizer", "true", "--main-grads-dtype", "bf16",
                               "--grad-reduce-in-bf16", "true"});
  }
  void gradientTypesHaveOneSource() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, source);
    LaunchArguments all = seven_billion();
    for (qsizetype i = 0; i < arguments.size(); i += 2)
      all[arguments[i].toStdString()] = arguments[i + 1].toStdString();
    QStringList found;
    for (const LaunchField& field : read_megatron_arguments(all, 8).fields)
      for (const std::string& id : field.knobs)
        if (id == "grad_dtype") found << QString::fromStdString(field.name);
    QCOMPARE(found, QStringList{source});
  }

  // Nothing is dropped silently.
  void argumentsWithoutCounterpartAreListed() {
    const auto only = [](const LaunchDesign& launch) {
      return launch.unmapped.size() == 1 ? launch.unmapped[0].argument : std::string();
    };
    QCOMPARE(only(with({{"--use-megatron-fsdp", "true"}, {"--data-parallel-sharding-strategy", "all"}})),
             std::string("--data-parallel-sharding-strategy"));
    QCOMPARE(only(with({{"--optimizer", "sgd"}})), std::string("--optimizer"));
    QCOMPARE(only(with({{"--num-layers", "many"}})), std::string("--num-layers"));
    QCOMPARE(only(with({{"--hidden-dropout", "0.0"}})), std::string("--attention-dropout"));
    QCOMPARE(only(with({{"--cross-entropy-loss-fusion", "true"}})),
             std::string("--cross-entropy-loss-fusion"));
    QCOMPARE(only(with({}, 6)), std::string("gpus"));
    // Products of sizes do not overflow.
    QCOMPARE(only(with({{"--pipeline-model-parallel-size", "2"},
                        {"--num-layers-per-virtual-pipeline-stage", "4611686018427387904"}})),
             std::string("--num-layers-per-virtual-pipeline-stage"));
    QCOMPARE(only(with({{"--pipeline-model-parallel-size", "2"},
                        {"--num-layers-per-virtual-pipeline-stage", "900000000000"}})),
             std::string("--num-layers-per-virtual-pipeline-stage"));
    QVERIFY(!with({{"--hidden-size", "9223372036854775807"}, {"--swiglu", "true"}}).unmapped.empty());
    QVERIFY(!with({{"--micro-batch-size", "9223372036854775807"}}).unmapped.empty());
    QVERIFY(with({{"--save", "here"}, {"--ckpt-format", "torch"}}).unmapped.empty());
  }
};

QTEST_APPLESS_MAIN(MegatronArgumentsTest)
#include "megatron_arguments_test.moc"
