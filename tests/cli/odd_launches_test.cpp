// Launch files with numbers whose products exceed 64 bits, and small launch files that asked for very much:
// time without end, all memory, or a deep recursion. Each gives an answer or a message.
#include <QTest>

#include "cli/file_rows.h"

using namespace shardscape::test;

namespace {

constexpr const char* kLargestBatch = "batch: 9,223,372,036,854,775,807 is too large";

QByteArray repeated(const QByteArray& text, int times) { return text.repeated(times); }

// Recognised as a script that starts Megatron-LM, which it does not.
QByteArray script(const QByteArray& commands) { return "# --num-layers\n" + commands + "\n"; }

QByteArray torchtitan(const QByteArray& training, const QByteArray& parallelism) {
  return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 2048\n" + training +
         "[parallelism]\n" + parallelism;
}

QByteArray maxtext(const QByteArray& more) { return "base_emb_dim: 2048\n" + more; }

QByteArray nanotron(const QByteArray& micro, const QByteArray& steps) {
  return "model:\n  model_config:\n    is_llama_config: true\nparallelism:\n  dp: 1\n  pp: 1\n  tp: 1\n"
         "tokens:\n  sequence_length: 2048\n  micro_batch_size: " +
         micro + "\n  batch_accumulation_per_replica: " + steps + "\n";
}

QByteArray litgpt() {
  return "model_name: Llama-3-8B\nout_dir: x\nprecision: bf16-true\ntokenizer_dir: y\ndevices: 1\ntrain:\n"
         "  global_batch_size: 8\n  micro_batch_size: 274877906944\n  max_seq_length: 2048\n";
}

QByteArray neox() {
  return R"({"model_parallel_size": 1, "pipe_parallel_size": 1, "num_layers": 12, "hidden_size": 768,
    "num_attention_heads": 12, "seq_length": 2048, "train_micro_batch_size_per_gpu": 34357641280,
    "gradient_accumulation_steps": 536903681})";
}

// A microbatch of 5 x 10^16 sequences, and a replica with 256.
QByteArray verl() {
  return "actor_rollout_ref:\n  actor:\n    strategy: megatron\n    use_dynamic_bsz: true\n"
         "    ppo_max_token_len_per_gpu: 1000000000\n    megatron:\n"
         "      context_parallel_size: 100000000\n"
         "data:\n  max_prompt_length: 1\n  max_response_length: 1\n"
         "trainer:\n  nnodes: 100000000\n  n_gpus_per_node: 1\n";
}

// Commands with a variable of their own, behind many exports.
QByteArray exports_and_commands() {
  QByteArray out;
  for (int i = 0; i < 30000; ++i) out += "export A" + QByteArray::number(i) + "=1\n";
  return script(out + repeated("B=1 x\n", 60000));
}

// One long word, and many arguments in the same column.
QByteArray long_word() {
  QByteArray out = "torchrun --nproc_per_node 1 pretrain_gpt.py --num-layers 12 --zz " +
                   repeated("w", 1000000);
  for (int i = 0; i < 50000; ++i) out += " --a" + QByteArray::number(i) + " 1";
  return out + "\n";
}

QByteArray python_names(int names) {
  QByteArray out = "hybrid_zero_optimizer = dict()\nparallel = dict()\nmodel = dict()\nx = {";
  for (int i = 0; i < names; ++i) out += "\"k" + QByteArray::number(1000000 + i) + "\": 1, ";
  return out + "}\n";
}

QByteArray references_to_long_text() {
  QByteArray
      out = "tensor_model_parallel_size: 1\npipeline_model_parallel_size: 1\nmegatron_amp_O2: x\nbig: \"" +
            repeated("b", 16000000) + "\"\n";
  for (int i = 0; i < 50000; ++i) out += "a" + QByteArray::number(i) + ": ${big}\n";
  return out;
}

void add_products() {
  const auto row = add_file_row;
  row("ranks of a server", "import F.sh",
      "vllm serve llama3-8b --tensor-parallel-size 1048576 --pipeline-parallel-size 1048576 "
      "--data-parallel-size 1048576 --prefill-context-parallel-size 16\n",
      kWrongContent, "the degrees make more than 1,048,576 ranks");
  row("ranks of torchtitan", "import --gpus 8 F.toml",
      torchtitan("",
                 "tensor_parallel_degree = 524288\ncontext_parallel_degree = 524288\n"
                 "pipeline_parallel_degree = 524288\ndata_parallel_replicate_degree = 128\n"),
      kWrongContent, "degrees with at most 131,072 ranks");
  row("batch of torchtitan", "import --gpus 67108864 F.toml",
      torchtitan("local_batch_size = 274877906944\nglobal_batch_size = 8\n",
                 "data_parallel_shard_degree = -1\n"),
      kAnswer, "not a multiple of local_batch_size x dp");
  row("layers of MaxText", "import --gpus 67108864 F.yml",
      maxtext("ici_fsdp_parallelism: 1\nici_pipeline_parallelism: -1\n"
              "num_layers_per_pipeline_stage: 274877906944\n"),
      kWrongContent, "pp: 67,108,864 is too large");
  row("microbatches of MaxText", "import --gpus 67108864 F.yml",
      maxtext("ici_pipeline_parallelism: 2\nici_data_parallelism: 1024\nici_fsdp_parallelism: 32768\n"
              "num_pipeline_microbatches: 549755813888\n"),
      kWrongContent, "dp: 33,554,432 is too large");
  row("batch of MaxText", "import --gpus 1 F.yml",
      maxtext("per_device_batch_size: 34357641280\ngradient_accumulation_steps: 536903681\n"), kAnswer,
      kLargestBatch);
  row("batch of nanotron", "import F.yml", nanotron("34357641280", "536903681"), kAnswer, kLargestBatch);
  row("no batch of nanotron", "import F.yml", nanotron("4294967296", "4294967296"), kAnswer, kLargestBatch);
  row("batch of litgpt", "import --gpus 67108864 F.yml", litgpt(), kAnswer, kLargestBatch);
  row("batch of GPT-NeoX", "import --gpus 1 F.json", neox(), kAnswer, kLargestBatch);
}

void add_scripts() {
  const auto row = add_file_row;
  row("last numbers of seq", "import F.sh",
      script("for i in $(seq 9223372036854775806 9223372036854775807); do echo; done"), kWrongContent,
      "no command of the script has the argument");
  row("brackets", "import F.sh", script(repeated("(", 500000) + repeated(") ", 500000)), kWrongContent,
      "blocks are nested more than 100 deep");
  row("characters of a pattern", "import F.sh",
      script("A=" + repeated("b", 5000) + "\nB=${A//[" + repeated("a", 250) + "]/}"), kWrongContent,
      "the script runs for too long");
  row("arguments of subshells", "import F.sh",
      script("set -- {1..900000}\nfor i in {1..10000}; do (:); done"), kWrongContent,
      "the script runs for too long");
  row("exported names", "import F.sh", exports_and_commands(), kWrongContent,
      "no command of the script has the argument");
  row("empty items of a layout", "import --gpus 1 F.sh",
      "pretrain_gpt.py --num-layers 1 --pipeline-model-parallel-layout \"" + repeated("()*99999", 1000000) +
          "\"\n",
      kWrongContent, "--pipeline-model-parallel-layout");
  row("a long word in a table", "import --gpus 1 F.sh", long_word(), kWrongContent, "www...");
  row("servers", "import F.sh", repeated("vllm serve x\n", 1001), kWrongContent,
      "F.sh, line 1001: more than 1,000 commands start a server");
  row("options of servers", "import F.sh",
      "cat > c.yaml <<EOF\nmodel: llama3-8b\nx-y: " + repeated("a", 1000000) + "\nEOF\n" +
          repeated("vllm serve --config c.yaml\n", 1000),
      kWrongContent, "more than 64 MiB of arguments");
}

void add_documents() {
  const auto row = add_file_row;
  row("dynamic batch of verl", "import F.yml", verl(), kWrongContent, "the file names no model");
  row("references in a list", "import --gpus 8 F.yml",
      "base_model: &x \"" + repeated("a", 1000000) + "\"\ndatasets: [" + repeated("*x, ", 200000) + "*x]\n",
      kWrongContent, "names and values have more than 64 MiB");
  row("parts of a quoted key", "import --gpus 8 F.toml",
      torchtitan(repeated("\"!\".", 200000) + "\"!\" = 1\n", ""), kWrongContent,
      "values are nested deeper than");
  row("points in a text", "import --gpus 8 F.toml",
      torchtitan("dataset = \"" + repeated("a.", 100) + "\"\n", ""), kAnswer, "torchtitan on 8 GPUs");
  row("names of a dictionary", "import --gpus 8 F.py", python_names(500000), kWrongContent,
      "there are more than 100000 values");
  row("references to a long text", "import --gpus 8 F.yml", references_to_long_text(), kWrongContent,
      "the file names no model");
}

}  // namespace

class OddLaunchesTest : public QObject {
  Q_OBJECT

 private slots:
  void files_data() {
    add_file_columns();
    add_products();
    add_scripts();
    add_documents();
  }
  void files() { run_file_row(); }
};

QTEST_MAIN(OddLaunchesTest)
#include "odd_launches_test.moc"
