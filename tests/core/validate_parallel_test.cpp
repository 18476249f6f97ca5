// Rules of validation for tensor, pipeline and context parallelism, batches and ranks.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void tensor_rules() {
  row(
      "heads over tp",
      [](Design& d) {
        d.model.heads = 36;
        d.model.kv_heads = 4;
        d.parallel.tp = 8;
      },
      error, "tp", "36 heads do not split over tp = 8", "a divisor of 36: 1, 2, 3, 4, 6, 9, 12, 18 or 36", 1);
  row(
      "KV heads over tp",
      [](Design& d) {
        d.model.heads = 24;
        d.model.kv_heads = 12;
        d.model.ffn = 14336;
        d.parallel.tp = 8;
      },
      error, "tp", "12 KV heads do not split over tp = 8", "a divisor of 12", 1);
  row(
      "KV heads copied to tp",
      [](Design& d) {
        d.model.heads = 24;
        d.model.kv_heads = 6;
        d.parallel.tp = 8;
      },
      error, "tp", "6 KV heads cannot be copied evenly to tp = 8 ranks", "a divisor or a multiple of 6", 1);
  row(
      "query heads share KV heads", [](Design& d) { d.model.kv_heads = 6; }, error, "kv_heads",
      "32 query heads cannot share 6 KV heads evenly", "a divisor of 32: 1, 2, 4, 8, 16 or 32", 2);
  row(
      "FFN over tp", [](Design& d) { d.model.ffn = 14337; }, error, "tp",
      "an FFN size of 14,337 does not split over tp = 2", "a divisor of 14,337", 2);
  row(
      "sequence over tp", [](Design& d) { d.workload.seq = 8191; }, error, "seq",
      "sequence parallelism cannot split 8,191 tokens over tp = 2", "a multiple of 2", 3);
  row(
      "sequence shorter than tp", [](Design& d) { d.workload.seq = 1; }, error, "seq",
      "sequence parallelism cannot split 1 tokens over tp = 2", "a multiple of 2", 3);
  row(
      "sequence parallelism alone", [](Design& d) { d.parallel.tp = 1; }, note, "sequence_parallel",
      "there is no tensor parallelism (tp = 1); the value has no effect", "off, or tp of at least 2", 1);
}

void stage_rules() {
  row(
      "more stages than layers",
      [](Design& d) {
        d.parallel.pp = 40;
        d.workload.batch = 128;
      },
      error, "pp", "40 stages are more than 32 layers", "at most 32", 1);
  row(
      "stages listed",
      [](Design& d) {
        d.parallel.stage_layers = {8, 8, 8, 8};
      },
      error, "stage_layers", "4 stages are listed, but pp = 2", "2 numbers that add up to 32", 2);
  row(
      "stages listed, and too many",
      [](Design& d) {
        d.parallel.pp = 40;
        d.parallel.stage_layers = {32};
        d.workload.batch = 128;
      },
      error, "stage_layers", "1 stages are listed, but pp = 40", "40 numbers that add up to 32", 1);
  row(
      "layers listed",
      [](Design& d) {
        d.parallel.stage_layers = {16, 15};
      },
      error, "stage_layers", "hold 31 layers, but the model has 32", "2 numbers that add up to 32", 2);
  row(
      "absurd layers listed",
      [](Design& d) {
        d.parallel.stage_layers = {INT64_MAX, INT64_MAX};
      },
      error, "stage_layers", "stage 0 has 9,223,372,036,854,775,807 layers", "2 numbers", 1);
  row(
      "empty middle stage",
      [](Design& d) {
        d.parallel.pp = 3;
        d.parallel.stage_layers = {16, 0, 16};
      },
      error, "stage_layers", "stage 1 has no layers, and neither the embedding nor the head",
      "each at least 1", 1);
  row(
      "negative layers",
      [](Design& d) {
        d.parallel.stage_layers = {33, -1};
      },
      error, "stage_layers", "stage 1 has -1 layers", "each at least 1", 1);
  row(
      "stages of unlike length",
      [](Design& d) {
        d.parallel.pp = 6;
        d.workload.batch = 96;
      },
      note, "pp", "32 layers do not split evenly over pp = 6: stages 0 to 1 hold 6, the others fewer",
      "a divisor of 32", 2);
}

void batch_rules() {
  row(
      "batch", [](Design& d) { d.workload.batch = 31; }, error, "batch",
      "a batch of 31 does not split into microbatch x dp = 1 x 2", "a multiple of 2", 3);
  row(
      "batch less than replicas",
      [](Design& d) {
        d.workload.batch = 4;
        d.parallel.dp = 8;
        d.parallel.pp = 1;
      },
      error, "batch", "a batch of 4 is less than one microbatch per replica", "a multiple of 8", 2);
  row(
      "microbatch too large", [](Design& d) { d.workload.microbatch = 64; }, error, "batch",
      "microbatch x dp = 64 x 2", "a multiple of 128", 2);
  row(
      "too many microbatches", [](Design& d) { d.workload.batch = int64_t{1} << 22; }, error, "batch",
      "2,097,152 microbatches on 2 stages", "at most 524,288 microbatches", 1);
  row(
      "bubble",
      [](Design& d) {
        d.parallel.pp = 8;
        d.workload.batch = 8;
      },
      note, "batch", "4 microbatches do not fill 8 stages: each idles (pp - 1) / (m + pp - 1) = 64 %",
      "at least pp = 8", 1);
  row(
      "one microbatch", [](Design& d) { d.workload.batch = 2; }, note, "batch",
      "1 microbatch does not fill 2 stages", "at least pp = 2", 1);
}

void rank_rules() {
  row(
      "too many ranks",
      [](Design& d) {
        d.parallel.dp = 131072;
        d.workload.batch = 262144;
      },
      error, "dp", "tp x pp x dp = 2 x 2 x 131,072 makes 524,288 ranks", "a product of at most 131,072", 1);
  row(
      "too many ranks twice over",
      [](Design& d) {
        d.parallel.tp = 32;
        d.parallel.pp = 32;
        d.parallel.dp = 256;
        d.workload.batch = 256 * 32;
        d.cluster.gpus_per_node = 32;
      },
      error, "dp", "makes 262,144 ranks", "a product of at most 131,072", 3);
  row(
      "tp larger than a node", [](Design& d) { d.parallel.tp = 16; }, note, "tp",
      "tp = 16 is larger than a node of 8 GPUs", "a divisor of 8: 1, 2, 4 or 8", 1);
  row(
      "tp across two nodes",
      [](Design& d) {
        d.model.heads = 36;
        d.model.kv_heads = 12;
        d.model.ffn = 12288;
        d.parallel.tp = 6;
        d.workload.seq = 12288;
      },
      note, "tp", "tp = 6 does not divide 8 GPUs per node", "a divisor of 8", 1);
  row(
      "tp not neighbours",
      [](Design& d) {
        d.parallel.dp = 8;
        d.parallel.order = {{MeshAxis::Dp, MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Pp}};
      },
      note, "rank_order", "with the order dp-tp-cp-pp", "tp first, as in tp-dp-cp-pp", 1);
}

void message_rules() {
  row(
      "scatter-gather alone",
      [](Design& d) {
        d.parallel.pp = 1;
        d.parallel.scatter_gather_pipeline = true;
      },
      note, "scatter_gather_pipeline",
      "there are no messages between stages (pp = 1); the value has no effect", "off, or pp and tp", 1);
  row(
      "scatter-gather under sequence parallelism",
      [](Design& d) {
        d.parallel.sequence_parallel = true;
        d.parallel.scatter_gather_pipeline = true;
      },
      note, "scatter_gather_pipeline", "sequence parallelism has split the messages already", "off", 1);
  row(
      "scatter-gather of odd messages",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.scatter_gather_pipeline = true;
        d.workload.seq = 8191;
        d.model.hidden = 4097;
      },
      error, "scatter_gather_pipeline", "b S D = 33,558,527 elements does not split over tp = 2", "off", 1);
}

void sequence_rules() {
  row(
      "sequence over cp",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 3;
      },
      error, "seq", "context parallelism cannot split 8,192 tokens into 3 parts", "a multiple of 3", 2);
  row(
      "ulysses heads",
      [](Design& d) {
        d.parallel.cp = 8;
        d.parallel.context = ContextMode::Ulysses;
      },
      error, "cp", "Ulysses cannot spread 8 KV heads over tp x cp = 16 ranks", "divides the KV heads", 2);
  row(
      "zigzag blocks",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Zigzag;
        d.workload.seq = 8190;
      },
      error, "seq", "a zigzag ring cannot cut 8,190 tokens into 4 blocks", "a multiple of 4", 2);
  row(
      "zigzag blocks with ulysses inside",
      [](Design& d) {
        d.parallel.cp = 4;
        d.parallel.context = ContextMode::UlyssesZigzag;
        d.parallel.ulysses_degree = 1;
        d.workload.seq = 8 * 1023 + 4;
        d.parallel.sequence_parallel = false;
      },
      error, "seq", "a zigzag ring cannot cut 8,188 tokens into 8 blocks", "a multiple of 8", 2);
}

void context_rules() {
  row(
      "ring with a window",
      [](Design& d) {
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ring;
        apply_preset(d, "mistral-7b-v0.1");
      },
      error, "context", "Transformer Engine refuses windows with cp_comm_type p2p and a2a+p2p",
      "ulysses (a2a), all-gather (all_gather), or no window", 3);
  row(
      "ring of kept scores",
      [](Design& d) {
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Zigzag;
        d.workload.profile = "megatron-2022";
      },
      error, "context",
      "kernel profile megatron-2022 keeps the scores of whole rows, which cannot be joined from the blocks "
      "of a ring",
      "such as flash", 2);
  row(
      "ulysses degree off cp",
      [](Design& d) {
        d.parallel.cp = 4;
        d.parallel.context = ContextMode::UlyssesRing;
        d.parallel.ulysses_degree = 3;
      },
      error, "ulysses_degree", "3 ranks do not divide cp = 4", "a divisor of 4, or 0", 1);
  row(
      "ulysses degree off heads",
      [](Design& d) {
        d.parallel.cp = 16;
        d.parallel.context = ContextMode::UlyssesRing;
        d.parallel.ulysses_degree = 8;
      },
      error, "ulysses_degree", "8 KV heads do not spread over tp x u = 16 ranks", "or 0", 1);
  row(
      "ulysses degree without ring",
      [](Design& d) {
        d.parallel.cp = 2;
        d.parallel.ulysses_degree = 2;
      },
      note, "ulysses_degree", "Ulysses does not run inside a ring", "0, or cp", 1);
}

}  // namespace

class ValidateParallelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    tensor_rules();
    stage_rules();
    batch_rules();
    rank_rules();
    message_rules();
    sequence_rules();
    context_rules();
  }
  void rules() { check_rule(); }
};

QTEST_APPLESS_MAIN(ValidateParallelTest)
#include "validate_parallel_test.moc"
