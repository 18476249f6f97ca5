// Rules of validation for tensor, pipeline and context parallelism, batches and ranks.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/designs.h"
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
      error, ProblemCode::HeadsIndivisibleByTp, "tp", "a divisor of 36: 1, 2, 3, 4, 6, 9, 12, 18 or 36", 1);
  row(
      "KV heads over tp",
      [](Design& d) {
        d.model.heads = 24;
        d.model.kv_heads = 12;
        d.model.ffn = 14336;
        d.parallel.tp = 8;
      },
      error, ProblemCode::KvHeadsIndivisibleByTp, "tp", "a divisor of 12", 1);
  row(
      "KV heads copied to tp",
      [](Design& d) {
        d.model.heads = 24;
        d.model.kv_heads = 6;
        d.parallel.tp = 8;
      },
      error, ProblemCode::KvHeadsIndivisibleByTp, "tp", "a divisor or a multiple of 6", 1);
  row(
      "query heads share KV heads", [](Design& d) { d.model.kv_heads = 6; }, error,
      ProblemCode::KvHeadsIndivisible, "kv_heads", "a divisor of 32: 1, 2, 4, 8, 16 or 32", 2);
  row(
      "FFN over tp", [](Design& d) { d.model.ffn = 14337; }, error, ProblemCode::FfnIndivisibleByTp, "tp",
      "a divisor of 14,337", 2);
  row(
      "sequence over tp", [](Design& d) { d.workload.seq = 8191; }, error, ProblemCode::SeqIndivisibleByTp,
      "seq", "a multiple of 2", 3);
  row(
      "sequence shorter than tp", [](Design& d) { d.workload.seq = 1; }, error,
      ProblemCode::SeqIndivisibleByTp, "seq", "a multiple of 2", 3);
  row(
      "sequence parallelism alone", [](Design& d) { d.parallel.tp = 1; }, note,
      ProblemCode::ValueWithoutEffect, "sequence_parallel", "off, or tp of at least 2", 1);
}

void vision_stage_rules() {
  const auto own_stage = [](Design& d) {
    d.model = tower_design().model;
    d.model.layers = 8;
    d.workload.images = 1;
    d.workload.image_size = 2;
    d.parallel.pp = 4;
    d.workload.vision_stage = VisionStage::Own;
  };
  row(
      "virtual stages with a tower apart",
      [=](Design& d) {
        own_stage(d);
        d.parallel.virtual_stages = 2;
      },
      error, ProblemCode::VisionStageChunks, "vision_stage", "first", 1);
  row(
      "layers next to a tower apart",
      [=](Design& d) {
        own_stage(d);
        d.parallel.stage_layers.assign(4, d.model.layers / 4);
      },
      error, ProblemCode::VisionStageLayers, "stage_layers", "0 as the first number", 1);
  row(
      "tied embeddings behind a tower",
      [=](Design& d) {
        own_stage(d);
        d.parallel.pp = 3;
        d.model.tied_embeddings = true;
      },
      error, ProblemCode::VisionStageTied, "vision_stage", "pp = 2", 2);
  row(
      "uneven stages behind a tower", [=](Design& d) { own_stage(d); }, note, ProblemCode::LayersUneven, "pp",
      "a divisor of 8 and one stage more", 2);
}

void stage_rules() {
  row(
      "more stages than layers",
      [](Design& d) {
        d.parallel.pp = 40;
        d.workload.batch = 128;
      },
      error, ProblemCode::MoreStagesThanLayers, "pp", "at most 32", 1);
  row(
      "stages listed",
      [](Design& d) {
        d.parallel.stage_layers = {8, 8, 8, 8};
      },
      error, ProblemCode::StageLayersCount, "stage_layers", "2 numbers that add up to 32", 2);
  row(
      "stages listed, and too many",
      [](Design& d) {
        d.parallel.pp = 40;
        d.parallel.stage_layers = {32};
        d.workload.batch = 128;
      },
      error, ProblemCode::StageLayersCount, "stage_layers", "40 numbers that add up to 32", 1);
  row(
      "layers listed",
      [](Design& d) {
        d.parallel.stage_layers = {16, 15};
      },
      error, ProblemCode::StageLayersSum, "stage_layers", "2 numbers that add up to 32", 2);
  row(
      "absurd layers listed",
      [](Design& d) {
        d.parallel.stage_layers = {INT64_MAX, INT64_MAX};
      },
      error, ProblemCode::StageLayersInvalid, "stage_layers", "2 numbers", 1);
  row(
      "empty middle stage",
      [](Design& d) {
        d.parallel.pp = 3;
        d.parallel.stage_layers = {16, 0, 16};
      },
      error, ProblemCode::StageLayersInvalid, "stage_layers", "each at least 1", 1);
  row(
      "negative layers",
      [](Design& d) {
        d.parallel.stage_layers = {33, -1};
      },
      error, ProblemCode::StageLayersInvalid, "stage_layers", "each at least 1", 1);
  row(
      "stages of unlike length",
      [](Design& d) {
        d.parallel.pp = 6;
        d.workload.batch = 96;
      },
      note, ProblemCode::LayersUneven, "pp", "a divisor of 32", 2);
}

void batch_rules() {
  row(
      "batch", [](Design& d) { d.workload.batch = 31; }, error, ProblemCode::BatchIndivisible, "batch",
      "a multiple of 2", 3);
  row(
      "batch less than replicas",
      [](Design& d) {
        d.workload.batch = 4;
        d.parallel.dp = 8;
        d.parallel.pp = 1;
      },
      error, ProblemCode::BatchIndivisible, "batch", "a multiple of 8", 2);
  row(
      "microbatch too large", [](Design& d) { d.workload.microbatch = 64; }, error,
      ProblemCode::BatchIndivisible, "batch", "a multiple of 128", 2);
  row(
      "too many microbatches", [](Design& d) { d.workload.batch = int64_t{1} << 22; }, error,
      ProblemCode::TooManyMicrobatches, "batch", "at most 524,288 microbatches", 1);
  row(
      "bubble",
      [](Design& d) {
        d.parallel.pp = 8;
        d.workload.batch = 8;
      },
      note, ProblemCode::PipelineNotFilled, "batch", "at least pp = 8", 1);
  row(
      "one microbatch", [](Design& d) { d.workload.batch = 2; }, note, ProblemCode::PipelineNotFilled,
      "batch", "at least pp = 2", 1);
}

void rank_rules() {
  row(
      "too many ranks",
      [](Design& d) {
        d.parallel.dp = 131072;
        d.workload.batch = 262144;
      },
      error, ProblemCode::TooManyRanks, "dp", "a product of at most 131,072", 1);
  row(
      "too many ranks twice over",
      [](Design& d) {
        d.parallel.tp = 32;
        d.parallel.pp = 32;
        d.parallel.dp = 256;
        d.workload.batch = 256 * 32;
        d.cluster.gpus_per_node = 32;
      },
      error, ProblemCode::TooManyRanks, "dp", "a product of at most 131,072", 3);
  row(
      "tp larger than a node", [](Design& d) { d.parallel.tp = 16; }, note, ProblemCode::TpAcrossNodes, "tp",
      "a divisor of 8: 1, 2, 4 or 8", 1);
  row(
      "tp across two nodes",
      [](Design& d) {
        d.model.heads = 36;
        d.model.kv_heads = 12;
        d.model.ffn = 12288;
        d.parallel.tp = 6;
        d.workload.seq = 12288;
      },
      note, ProblemCode::TpAcrossNodes, "tp", "a divisor of 8", 1);
  row(
      "tp not neighbours",
      [](Design& d) {
        d.parallel.dp = 8;
        d.parallel.order = {{MeshAxis::Dp, MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Pp}};
      },
      note, ProblemCode::TpNotAdjacent, "rank_order", "tp first, as in tp-dp-cp-pp", 1);
}

void message_rules() {
  row(
      "scatter-gather alone",
      [](Design& d) {
        d.parallel.pp = 1;
        d.parallel.scatter_gather_pipeline = true;
      },
      note, ProblemCode::ValueWithoutEffect, "scatter_gather_pipeline", "off, or pp and tp", 1);
  row(
      "scatter-gather under sequence parallelism",
      [](Design& d) {
        d.parallel.sequence_parallel = true;
        d.parallel.scatter_gather_pipeline = true;
      },
      note, ProblemCode::ValueWithoutEffect, "scatter_gather_pipeline", "off", 1);
  row(
      "scatter-gather of odd messages",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.scatter_gather_pipeline = true;
        d.workload.seq = 8191;
        d.model.hidden = 4097;
      },
      error, ProblemCode::MessageIndivisibleByTp, "scatter_gather_pipeline", "off", 1);
}

void sequence_rules() {
  row(
      "sequence over cp",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 3;
      },
      error, ProblemCode::SeqIndivisibleByCp, "seq", "a multiple of 3", 2);
  row(
      "ulysses heads",
      [](Design& d) {
        d.parallel.cp = 8;
        d.parallel.context = ContextMode::Ulysses;
      },
      error, ProblemCode::UlyssesKvHeadsIndivisible, "cp", "divides the KV heads", 2);
  row(
      "zigzag blocks",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Zigzag;
        d.workload.seq = 8190;
      },
      error, ProblemCode::ZigzagSeqIndivisible, "seq", "a multiple of 4", 2);
  row(
      "zigzag blocks with ulysses inside",
      [](Design& d) {
        d.parallel.cp = 4;
        d.parallel.context = ContextMode::UlyssesZigzag;
        d.parallel.ulysses_degree = 1;
        d.workload.seq = 8 * 1023 + 4;
        d.parallel.sequence_parallel = false;
      },
      error, ProblemCode::ZigzagSeqIndivisible, "seq", "a multiple of 8", 2);
}

void context_rules() {
  row(
      "ring with a window",
      [](Design& d) {
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ring;
        apply_preset(d, "mistral-7b-v0.1");
      },
      error, ProblemCode::RingWithWindow, "context", "ulysses (a2a), all-gather (all_gather), or no window",
      3);
  row(
      "ring of kept scores",
      [](Design& d) {
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Zigzag;
        d.workload.profile = "megatron-2022";
      },
      error, ProblemCode::RingWithUnfusedAttention, "context", "such as flash", 2);
  row(
      "ulysses degree off cp",
      [](Design& d) {
        d.parallel.cp = 4;
        d.parallel.context = ContextMode::UlyssesRing;
        d.parallel.ulysses_degree = 3;
      },
      error, ProblemCode::UlyssesDegreeNotInCp, "ulysses_degree", "a divisor of 4, or 0", 1);
  row(
      "ulysses degree off heads",
      [](Design& d) {
        d.parallel.cp = 16;
        d.parallel.context = ContextMode::UlyssesRing;
        d.parallel.ulysses_degree = 8;
      },
      error, ProblemCode::UlyssesKvHeadsIndivisible, "ulysses_degree", "or 0", 1);
  row(
      "ulysses degree without ring",
      [](Design& d) {
        d.parallel.cp = 2;
        d.parallel.ulysses_degree = 2;
      },
      note, ProblemCode::ValueWithoutEffect, "ulysses_degree", "0, or cp", 1);
}

}  // namespace

class ValidateParallelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    tensor_rules();
    stage_rules();
    vision_stage_rules();
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
