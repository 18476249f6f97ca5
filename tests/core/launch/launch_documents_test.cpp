// Files of torchtitan, MaxText, nanotron, GPT-NeoX and litgpt become designs. tests/data/launch has the
// values that a person reads in public files; the files lie in the folder that SHARDSCAPE_REFERENCE names.
#include <QtTest>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/data_dir.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "launch/launch_export.h"
#include "launch/launch_import.h"
#include "support/random_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const char* const kToml = R"---([model]
name = "llama3"
flavor = "8B"
converters = ["float8"]
[training]
local_batch_size = 8
global_batch_size = 64
seq_len = 8192
[parallelism]
data_parallel_replicate_degree = 2
data_parallel_shard_degree = 4
tensor_parallel_degree = 2
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatch_size = 2
[activation_checkpoint]
mode = "selective"
selective_ac_option = "op"
[compile]
enable = true
frobnicate = 3
)---";

const char* const kMaxText =
    "python3 -m maxtext.trainers.pre_train.train base.yml model_name=llama3-70b "
    "per_device_batch_size=0.5 ici_fsdp_parallelism=-1 ici_tensor_parallelism=8 "
    "compile_topology=v5p-512 remat_policy=minimal quantization=int8 steps=10\n";

const char* const kNanotron = R"---(model:
  dtype: bfloat16
  model_config: {is_llama_config: true, hidden_size: 2048, intermediate_size: 8192, num_hidden_layers: 16,
    num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, tie_word_embeddings: true}
optimizer: {accumulate_grad_in_fp32: true, zero_stage: 1, clip_grad: 1.0}
parallelism: {dp: 4, pp: 2, tp: 2, pp_engine: 1f1b, tp_mode: REDUCE_SCATTER, recompute_layer: true}
tokens: {batch_accumulation_per_replica: 8, micro_batch_size: 2, sequence_length: 4096}
)---";

const char* const kNeox = R"---({
  "pipe-parallel-size": 2, "model-parallel-size": 2, "num_layers": 16, "hidden_size": 2048,
  "num_attention_heads": 16, "seq_length": 2048, "pos_emb": "rotary", "no_weight_tying": true,
  "zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8,
  "checkpoint_activations": true, "fp16": {"enabled": true},
})---";

const char* const kAutomodel = R"---(recipe: TrainFinetuneRecipeForNextTokenPrediction
step_scheduler: {global_batch_size: 32, local_batch_size: 8, max_steps: 10}
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: meta-llama/Llama-3.2-1B
  torch_dtype: bf16
distributed:
  strategy: fsdp2
  dp_size: none
  dp_replicate_size: 2
  tp_size: 2
  pp_size: 2
  sequence_parallel: true
  frobnicate: 3
  activation_checkpointing: true
  pipeline: {pp_schedule: interleaved1f1b, pp_microbatch_size: 2, layers_per_stage: 4}
dataset: {seq_len: 2048}
)---";

const char* const kInternevo = R"---(JOB = "a"  # name
SEQ = 4 * 1024
data = dict(seq_len=SEQ, micro_num=8, micro_bsz=2, pack_sample_into_one=True,
            text=f"{JOB}")
model = dict(num_layers=24, hidden_size=2**11, num_attention_heads=16, num_kv_attention_heads=8,
    mlp_ratio=8 / 3, vocab_size=92544, checkpoint=0.5, num_chunks=2, dtype="torch.bfloat16",
    multiple_of=round_to(256), no_bias=True)
hybrid_zero_optimizer = dict(overlap_sync_grad=True, clip_grad_norm=0.0,
                             reduce_bucket_size=512 * 1024 * 1024)
parallel = dict(zero1=dict(size=2), tensor=dict(size=2, mode="msp"),
                pipeline=dict(size=2, interleaved_overlap=True))
lr_scheduler = {"total_steps": data["micro_num"], "warmup": (1, 2)}
model.update(layers=3)
)---";

LaunchImport imported(std::string text, std::optional<int64_t> gpus = {}, std::string model = {}) {
  LaunchRequest request;
  request.text = std::move(text);
  request.where = "launch";
  request.gpus = gpus;
  request.model = std::move(model);
  return import_launch(request);
}

std::string knob(const LaunchImport& import, const std::string& id) {
  const Knob* found = find_knob(id);
  return found ? knob_text(import.design, *found) : "no knob " + id;
}

using Values = std::vector<std::pair<const char*, const char*>>;

void check(const LaunchImport& read, const char* framework, const Values& values) {
  QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
  QCOMPARE(read.framework, std::string(framework));
  for (const auto& [id, value] : values)
    QVERIFY2(knob(read, id) == value, (std::string(id) + " is " + knob(read, id) + ", not " + value).c_str());
}

const LaunchField* field(const LaunchImport& import, const std::string& name) {
  for (const LaunchField& one : import.fields)
    if (one.name == name) return &one;
  return nullptr;
}

// Without comments, which list the gaps.
std::string settings_of(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) out += line + "\n";
  return out;
}

void check_read_back(const Design& design, const LaunchText& text, const std::string& framework) {
  LaunchRequest request;
  request.text = text.text;
  request.where = text.file_name;
  request.gpus = design.world();
  const LaunchImport read = import_launch(request);
  QVERIFY2(read.ok(), read.ok() ? "" : (to_string(read.problems[0]) + "\n" + text.text).c_str());
  QCOMPARE(read.framework, framework);
  std::string differences;
  for (const Knob& one : knobs()) {
    if (one.group == KnobGroup::Cluster || one.outside_step || without_effect(design, one)) continue;
    const bool gap = std::any_of(text.gaps.begin(), text.gaps.end(),
                                 [&](const LaunchGap& other) { return other.knob == one.id; });
    const std::string mine = knob_text(design, one), its = knob_text(read.design, one);
    if (mine != its && !gap) differences += one.id + ": " + mine + " became " + its + "; ";
  }
  QVERIFY2(differences.empty(), (differences + "\n" + text.text).c_str());
  const auto again = export_launch(read.design, framework);
  QVERIFY2(std::holds_alternative<LaunchText>(again), text.text.c_str());
  const std::string before = settings_of(text.text), after = settings_of(std::get<LaunchText>(again).text);
  // MaxText shards all states, with which Muon has no effect in a design: a gap, and the second launch has
  // AdamW.
  const bool other_optimizer = std::any_of(text.gaps.begin(), text.gaps.end(),
                                           [](const LaunchGap& one) { return one.knob == "optimizer"; });
  std::istringstream mine(before), its(after);
  for (std::string a, b; std::getline(mine, a) && std::getline(its, b);)
    QVERIFY2(a == b || (other_optimizer && a.find("opt_type") != std::string::npos),
             (framework + ": " + a + " became " + b).c_str());
  QCOMPARE(std::count(after.begin(), after.end(), '\n'), std::count(before.begin(), before.end(), '\n'));
}

}  // namespace

class LaunchDocumentsTest : public QObject {
  Q_OBJECT
 private slots:
  void torchtitan() {
    const LaunchImport read = imported(kToml);
    check(read, "torchtitan",
          {{"layers", "32"},
           {"tp", "2"},
           {"pp", "4"},
           {"dp", "8"},
           {"dp_shard", "4"},
           {"sync", "fsdp2"},
           {"batch", "64"},
           {"microbatch", "2"},
           {"virtual_stages", "2"},
           {"schedule", "1f1b"},
           {"seq", "8192"},
           {"compute", "fp8"},
           {"grad_dtype", "fp32"},
           {"dtype", "bf16"},
           {"recompute", "none"},
           {"sequence_parallel", "true"},
           {"profile", "torchtitan-2025-selective"},
           {"reshard_after_forward", "false"},
           {"stage_layers", "4,5,4,4,4,4,4,3"}});
    QCOMPARE(read.gpus.value_or(0), int64_t(64));
    const LaunchField* unknown = field(read, "compile.frobnicate");
    QVERIFY(unknown && unknown->line == 21);
  }

  void torchtitan_logs() {
    const LaunchImport read = imported(
        "[rank0]:[titan] INFO - Running with args: {\n[rank0]:  \"model\": {\"name\": \"llama3\", "
        "\"flavor\": "
        "\"8B\"},\n"
        "[rank0]:  \"training\": {\"local_batch_size\": 2, \"seq_len\": 4096},\n"
        "[rank0]:  \"parallelism\": {\"data_parallel_shard_degree\": -1},\n"
        "[rank0]:  \"activation_checkpoint\": {\"mode\": \"none\"}\n[rank0]:}\n"
        "INFO - Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1\n"
        "INFO - \x1b[31mstep: 10  loss: 8.1  \x1b[34mmemory: 40.25GiB(50.1%)  tps: 7,012  tflops: 400.5  "
        "mfu: 41.02%\n");
    check(read, "torchtitan", {{"dp", "8"}, {"batch", "16"}, {"microbatch", "2"}, {"recompute", "none"}});
    QCOMPARE(read.measured.size(), size_t(4));
    QCOMPARE(read.measured[0].value, 7012.0);
    QCOMPARE(read.measured[1].value, 40.25);
    QCOMPARE(read.measured[0].line, 8);
  }

  void maxtext() {
    const LaunchImport read = imported(kMaxText);
    check(read, "maxtext",
          {{"layers", "80"},
           {"tp", "8"},
           {"dp", "32"},
           {"batch", "128"},
           {"microbatch", "4"},
           {"sync", "fsdp2"},
           {"compute", "int8"},
           {"recompute", "selective"},
           {"clip_grad_norm", "true"}});
    QCOMPARE(read.gpus.value_or(0), int64_t(256));
    const LaunchImport log = imported(
        "Config param per_device_batch_size: 2.0\nConfig param model_name: llama2-7b\n"
        "Num_devices: 16, shape (16,)\nConfig param ici_fsdp_parallelism: -1\nConfig param remat_policy: "
        "full\n"
        "completed step: 9, seconds: 3.5, TFLOP/s/device: 190.1, Tokens/s/device: 2000.5\n");
    check(log, "maxtext", {{"layers", "32"}, {"dp", "16"}, {"batch", "32"}, {"recompute", "full"}});
    QCOMPARE(log.measured.size(), size_t(3));
    QCOMPARE(log.measured[0].value, 3.5);
  }

  void nanotron_and_neox() {
    const LaunchImport read = imported(kNanotron);
    check(read, "nanotron",
          {{"layers", "16"},
           {"kv_heads", "8"},
           {"dp", "4"},
           {"pp", "2"},
           {"tp", "2"},
           {"batch", "64"},
           {"microbatch", "2"},
           {"sync", "distributed-optimizer"},
           {"recompute", "full"},
           {"grad_dtype", "fp32"},
           {"sequence_parallel", "true"},
           {"schedule", "1f1b"}});
    QCOMPARE(read.gpus.value_or(0), int64_t(16));
    check(imported(kNeox, 16), "gpt-neox",
          {{"layers", "16"},
           {"dp", "4"},
           {"pp", "2"},
           {"tp", "2"},
           {"batch", "128"},
           {"microbatch", "4"},
           {"sync", "zero-1"},
           {"recompute", "full"},
           {"dtype", "fp16"},
           {"tied_embeddings", "false"}});
  }

  void automodel() {
    check(imported(kAutomodel, 16), "nemo-automodel",
          {{"layers", "16"},
           {"tp", "2"},
           {"pp", "2"},
           {"dp", "4"},
           {"dp_shard", "2"},
           {"batch", "32"},
           {"microbatch", "2"},
           {"virtual_stages", "2"},
           {"sequence_parallel", "true"},
           {"reshard_after_forward", "false"},
           {"seq", "2048"},
           {"recompute", "full"},
           {"grad_dtype", "fp32"}});
    const LaunchImport read = imported(kAutomodel, 16);
    const LaunchField* unknown = field(read, "distributed.frobnicate");
    QVERIFY(unknown && unknown->use == LaunchUse::NoCounterpart && unknown->line == 14);
    const LaunchField* stored = field(read, "model.torch_dtype");
    QVERIFY(stored && stored->use == LaunchUse::NoCounterpart);
    QCOMPARE(imported(std::string(kAutomodel) + "ci: {nodes: 2, nproc_per_node: 8}\n").gpus.value_or(0),
             int64_t(16));
  }

  void internevo() {
    const LaunchImport read = imported(kInternevo, 16);
    check(read, "internevo",
          {{"layers", "24"},
           {"hidden", "2048"},
           {"ffn", "5632"},
           {"kv_heads", "8"},
           {"tp", "2"},
           {"pp", "2"},
           {"dp", "4"},
           {"dp_shard", "2"},
           {"sequence_parallel", "true"},
           {"virtual_stages", "2"},
           {"batch", "64"},
           {"microbatch", "2"},
           {"seq", "4096"},
           {"recompute", "full"},
           {"recompute_method", "block"},
           {"recompute_num_layers", "3"},
           {"overlap_grad_reduce", "true"},
           {"clip_grad_norm", "false"}});
    const LaunchField* computed = field(read, "model.multiple_of");
    QVERIFY(computed && computed->use == LaunchUse::NotUnderstood && computed->line == 7);
    const LaunchField* statement = field(read, "line 13");
    QVERIFY(statement && statement->use == LaunchUse::NotUnderstood);
  }

  void simumax() {
    const std::string strategy =
        "{\"seq_len\": 2048, \"micro_batch_size\": 2, \"micro_batch_num\": 4, \"world_size\": 16, "
        "\"tp_size\": 4, "
        "\"pp_size\": 2, \"zero_state\": 0, \"recompute_granularity\": \"full_block\", "
        "\"recompute_layer_num\": "
        "3, \"tp_net\": \"auto\"}";
    const LaunchImport read = imported(strategy, {}, "llama3-8b");
    check(read, "simumax",
          {{"tp", "4"},
           {"pp", "2"},
           {"dp", "2"},
           {"batch", "16"},
           {"microbatch", "2"},
           {"sync", "ddp-flat"},
           {"sequence_parallel", "true"},
           {"recompute", "full"},
           {"recompute_method", "block"},
           {"recompute_num_layers", "3"}});
    QCOMPARE(read.gpus.value_or(0), int64_t(16));
    QCOMPARE(imported(strategy, 32, "llama3-8b").design.parallel.dp, int64_t(4));
    QTemporaryFile model;
    QVERIFY(model.open());
    model.write(
        "{\"model_type\": \"moe\", \"attention_type\": \"mla\", \"hidden_size\": 2048, \"head_num\": 16, "
        "\"kv_head_num\": 16, \"intermediate_size\": 10944, \"moe_ffn_hidden_size\": 1408, \"layer_num\": "
        "28, "
        "\"moe_shared_expert_intermediate_size\": 2816, \"dense_layers\": 2, \"expert_num\": 64, \"topk\": "
        "6, "
        "\"kv_lora_rank\": 512, \"v_head_dim\": 128, \"qk_head_dim\": 128, \"qk_pos_emb_head_dim\": 64, "
        "\"vocab_size\": 102400, \"use_swiglu\": true}");
    model.close();
    check(imported(strategy, {}, model.fileName().toStdString()), "simumax",
          {{"layers", "28"},
           {"hidden", "2048"},
           {"heads", "16"},
           {"experts", "64"},
           {"experts_per_token", "6"},
           {"expert_ffn", "1408"},
           {"ffn", "10944"},
           {"dense_layers", "2"},
           {"vocab", "102400"},
           {"tied_embeddings", "false"}});
  }

  void what_is_no_design_says_why() {
    const auto problem = [](const LaunchImport& read) {
      return read.problems.empty() ? std::string() : to_string(read.problems[0]);
    };
    const auto says = [&](const LaunchImport& read, const char* part) {
      QVERIFY2(problem(read).find(part) != std::string::npos, problem(read).c_str());
    };
    says(imported(kNeox), "number of GPUs");
    says(imported(kNeox, 6), "6 GPUs");
    says(imported(kToml, 60), "60 GPUs");
    says(imported(kNanotron, 8), "16 GPUs");
    says(imported("from torchtitan.trainer import Trainer\ndef f():\n  return Trainer.Config()\n", 8),
         "Python");
    says(imported("[model]\nname = \"llama3\"\nflavor = \"9B\"\n[training]\nseq_len = 1\n", 8), "9B");
    QVERIFY(imported("[model]\nname = \"llama3\"\nflavor = \"9B\"\n[training]\nseq_len = 1\n", 8, "llama3-8b")
                .ok());
    says(imported("base_config: \"inference.yml\"\nmodel_name: \"llama2-7b\"\n", 8), "server");
  }

  // Every setting with an effect is read back, or is a gap with a reason; the second text is the first.
  void exported_designs_are_read_back() {
    std::mt19937 random(7);
    int written = 0;
    for (int i = 0; i < 600; ++i) {
      Design design = random_design(random);
      for (const char* preset : {"llama3-8b", "llama3-70b", "qwen3-30b-a3b", "deepseek-v2-lite"})
        if (random() % 5 == 0) apply_preset(design, preset);
      const auto valid = repaired(design, random);
      if (!valid || !trains(*valid)) continue;
      for (const LaunchFramework& framework : launch_export_frameworks()) {
        if (framework.id != "torchtitan" && framework.id != "maxtext") continue;
        const auto text = export_launch(*valid, framework.id);
        if (!std::holds_alternative<LaunchText>(text)) continue;
        ++written;
        check_read_back(*valid, std::get<LaunchText>(text), std::string(framework.id));
        if (QTest::currentTestFailed()) return;
      }
    }
    QVERIFY2(written > 30, std::to_string(written).c_str());
  }

  void exports_without_gaps() {
    Design design = default_design();
    apply_preset(design, "llama3-8b");
    for (const auto& [id, value] : Values{{"sync", "fsdp2"},
                                          {"tp", "2"},
                                          {"pp", "1"},
                                          {"dp", "4"},
                                          {"seq", "8192"},
                                          {"batch", "16"},
                                          {"microbatch", "4"},
                                          {"sequence_parallel", "true"},
                                          {"vocab_multiple", "1"},
                                          {"clip_grad_norm", "true"},
                                          {"profile", "torchtitan-2025"}})
      QVERIFY(!set_knob(design, *find_knob(id), value));
    const auto text = export_launch(design, "torchtitan");
    QVERIFY(std::holds_alternative<LaunchText>(text));
    std::string gaps;
    for (const LaunchGap& gap : std::get<LaunchText>(text).gaps) gaps += gap.knob + ": " + gap.reason + "; ";
    QVERIFY2(gaps.empty(), gaps.c_str());
    design.workload.mode = Mode::Decode;
    QVERIFY(std::holds_alternative<Problem>(export_launch(design, "maxtext")));
  }

  void public_files_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("row");
    for (const char* framework : {"torchtitan", "maxtext", "nanotron", "gpt-neox", "litgpt", "verl",
                                  "nemo-automodel", "internevo", "simumax"}) {
      const auto text = read_text(fs::path(SHARDSCAPE_TEST_DATA) / "launch" /
                                  (std::string(framework) + ".json"));
      QVERIFY(std::holds_alternative<std::string>(text));
      const Json table = Json::parse(std::get<std::string>(text));
      for (const Json& row : table["files"]) {
        const std::string file = row["file"].get<std::string>();
        QTest::addRow("%s %s", file.c_str(), row.value("model", "").c_str())
            << QString::fromStdString(file) << QString::fromStdString(row.dump());
      }
    }
  }

  void public_files() {
    QFETCH(QString, file);
    QFETCH(QString, row);
    const char* const folder = std::getenv("SHARDSCAPE_REFERENCE");
    const auto text = read_text(fs::path(folder ? folder : "") / "launch" / "files" / file.toStdString());
    if (!folder || !std::holds_alternative<std::string>(text)) QSKIP("the file is not there");
    const Json expected = Json::parse(row.toStdString());
    std::optional<int64_t> gpus;
    if (expected.contains("gpus")) gpus = expected["gpus"].get<int64_t>();
    const LaunchImport read = imported(std::get<std::string>(text), gpus, expected.value("model", ""));
    if (expected.contains("problem")) {
      QVERIFY(!read.ok());
      const std::string what = to_string(read.problems[0]);
      QVERIFY2(what.find(expected["problem"].get<std::string>()) != std::string::npos, what.c_str());
      return;
    }
    QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
    std::string differences;
    for (const auto& [id, value] : expected["knobs"].items())
      if (knob(read, id) != value.get<std::string>())
        differences += id + " is " + knob(read, id) + ", not " + value.get<std::string>() + "; ";
    QVERIFY2(differences.empty(), differences.c_str());
  }
};

QTEST_APPLESS_MAIN(LaunchDocumentsTest)
#include "launch_documents_test.moc"
