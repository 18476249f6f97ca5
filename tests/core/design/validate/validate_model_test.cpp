// Rules of validation for the model: attention, experts, state-space mixers, positions and names.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "support/designs.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void mixtral(Design& d) {
  apply_preset(d, "mixtral-8x7b");
  d.parallel = {};
  d.parallel.tp = 2;
  d.parallel.dp = 4;
  d.workload.seq = 4096;
}

void gpt_oss(Design& d) {
  mixtral(d);
  apply_preset(d, "gpt-oss-20b");
}

void by_node(Design& d) {
  mixtral(d);
  d.parallel.tp = 1;
  d.parallel.ep = 4;
  d.parallel.dispatcher = Dispatcher::Flex;
  d.cluster.gpus_per_node = 2;
}

void latent(Design& d) {
  d.model.architecture = "latent";
  d.model.kv_heads = d.model.heads;
  d.model.q_rank = 1536;
  d.model.kv_rank = 512;
  d.model.nope_head_dim = d.model.value_head_dim = 128;
  d.model.rope_head_dim = 64;
}

void attention_rules() {
  row(
      "window without sliding layers", [](Design& d) { d.model.window = 128; }, note,
      ProblemCode::ValueWithoutEffect, "window", "0", 1);
  row(
      "chunks without attention in chunks", [](Design& d) { d.model.attention_chunk = 8192; }, note,
      ProblemCode::ValueWithoutEffect, "attention_chunk", "0", 1);
  row("experts with biases over tp", gpt_oss, note, ProblemCode::ExpertBiasSplit, "etp", "1", 1);
  row(
      "experts with biases over tp by hidden",
      [](Design& d) {
        gpt_oss(d);
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      note, ProblemCode::ExpertBiasSplit, "etp", "1", 1);
  row(
      "ring with sinks",
      [](Design& d) {
        gpt_oss(d);
        d.parallel.tp = 1;
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ring;
      },
      error, ProblemCode::RingWithSinks, "context", "ulysses (a2a), or all-gather", 2);
  row(
      "zigzag ring with sinks, no window",
      [](Design& d) {
        gpt_oss(d);
        d.parallel.tp = 1;
        d.parallel.cp = 16;
        d.parallel.context = ContextMode::Zigzag;
        d.model.window = 0;
      },
      error, ProblemCode::RingWithSinks, "context", "ulysses (a2a), or all-gather", 1);
  row(
      "position table too short",
      [](Design& d) {
        apply_preset(d, "gpt3-175b");
        d.workload.seq = 8192;
      },
      error, ProblemCode::SeqLongerThanPositions, "seq", "at most 2,048", 2);
  row(
      "no position table",
      [](Design& d) {
        apply_preset(d, "gpt3-175b");
        d.workload.seq = 8192;
        d.model.positions = 0;
      },
      error, ProblemCode::SeqLongerThanPositions, "seq", "positions of at least 8,192", 1);
  row(
      "positions without a table", [](Design& d) { d.model.positions = 100; }, note,
      ProblemCode::ValueWithoutEffect, "positions", "0", 1);
}

void expert_rules() {
  row(
      "experts in a dense model", [](Design& d) { d.model.experts = 8; }, error,
      ProblemCode::ExpertsInDenseModel, "experts", "0", 1);
  row(
      "expert parallel dense model", [](Design& d) { d.parallel.ep = 2; }, error, ProblemCode::EpInDenseModel,
      "ep", "1", 1);
  row(
      "no experts to route to",
      [](Design& d) {
        mixtral(d);
        d.model.experts = 0;
      },
      error, ProblemCode::ExpertsMissing, "experts", "at least 1", 1);
  row(
      "more experts per token than there are",
      [](Design& d) {
        mixtral(d);
        d.model.experts_per_token = 9;
      },
      error, ProblemCode::ExpertsPerTokenOutOfRange, "experts_per_token", "1 to 8", 1);
  row(
      "experts over ep",
      [](Design& d) {
        mixtral(d);
        d.parallel.dp = 3;
        d.parallel.ep = 3;
        d.workload.batch = 33;
      },
      error, ProblemCode::ExpertsIndivisibleByEp, "ep", "a divisor of 8: 1, 2, 4 or 8", 1);
  row(
      "ep out of dp",
      [](Design& d) {
        mixtral(d);
        d.parallel.ep = 8;
      },
      error, ProblemCode::EpIndivisibleRanks, "ep", "a divisor of 4: 1, 2 or 4", 1);
  row(
      "padding without a capacity",
      [](Design& d) {
        mixtral(d);
        d.workload.pad_to_capacity = true;
      },
      error, ProblemCode::PaddingWithoutCapacity, "pad_to_capacity", "a capacity factor above 0, or off", 2);
  row(
      "expert FFN over tp",
      [](Design& d) {
        mixtral(d);
        d.model.expert_ffn = 14337;
        d.parallel.sequence_parallel = true;
      },
      error, ProblemCode::ExpertFfnIndivisible, "tp", "a divisor of 14,337", 1);
  row(
      "all layers dense",
      [](Design& d) {
        apply_preset(d, "deepseek-moe-16b");
        d.model.dense_layers = 28;
        d.workload.seq = 4096;
      },
      note, ProblemCode::AllLayersDense, "dense_layers", "fewer than 28", 1);
}

void dispatch_rules() {
  row(
      "folded experts without sequence parallelism",
      [](Design& d) {
        mixtral(d);
        d.parallel.etp = 1;
      },
      error, ProblemCode::EtpWithoutSequenceParallel, "etp", "sequence parallelism, or 0", 2);
  row(
      "tokens by hidden and folded experts",
      [](Design& d) {
        mixtral(d);
        d.parallel.etp = 1;
        d.parallel.sequence_parallel = true;
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      error, ProblemCode::AllToAllSeqWithEtp, "dispatcher", "etp 0, or another dispatcher", 2);
  row(
      "FP8 dispatch without expert parallelism",
      [](Design& d) {
        mixtral(d);
        d.parallel.ep = 1;
        d.workload.dispatch_dtype = DispatchPrecision::FP8;
      },
      note, ProblemCode::ValueWithoutEffect, "dispatch_dtype", ", or ep of at least 2", 1);
  row(
      "ep uneven over nodes",
      [](Design& d) {
        by_node(d);
        d.cluster.gpus_per_node = 3;
      },
      error, ProblemCode::EpUnevenOverNodes, "dispatcher", "the dispatcher alltoall", 1);
  row(
      "groups uneven over nodes",
      [](Design& d) {
        by_node(d);
        d.model.experts = 12;
        d.model.expert_groups = 3;
        d.model.groups_per_token = 2;
      },
      error, ProblemCode::ExpertGroupsUnevenOverNodes, "dispatcher", "a multiple or a divisor of the nodes",
      1);
  row(
      "padding by node",
      [](Design& d) {
        by_node(d);
        d.workload.pad_to_capacity = true;
        d.workload.capacity_factor = 1000;
      },
      error, ProblemCode::FlexWithPadding, "pad_to_capacity", "off, or another dispatcher", 2);
}

void group_rules() {
  row(
      "groups of experts",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 3;
      },
      error, ProblemCode::ExpertGroupsIndivisible, "expert_groups", "a divisor of 8", 1);
  row(
      "more groups than there are",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 2;
        d.model.groups_per_token = 3;
      },
      error, ProblemCode::GroupsPerTokenOutOfRange, "groups_per_token", "1 to 2", 1);
  row(
      "groups with too few experts",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 8;
      },
      error, ProblemCode::GroupsHoldTooFewExperts, "groups_per_token", "more groups per token", 2);
  row(
      "more groups than experts of a token",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 4;
        d.model.groups_per_token = 3;
      },
      error, ProblemCode::GroupsExceedExpertsPerToken, "groups_per_token", "1 to 2", 2);
}

void latent_rules() {
  row(
      "latent sizes without latent attention", [](Design& d) { d.model.kv_rank = 512; }, note,
      ProblemCode::ValueWithoutEffect, "kv_rank", "0", 1);
  row(
      "latent attention without a latent",
      [](Design& d) {
        latent(d);
        d.model.kv_rank = 0;
      },
      error, ProblemCode::LatentSizeMissing, "kv_rank", "at least 1", 1);
  row(
      "odd rotation",
      [](Design& d) {
        latent(d);
        d.model.rope_head_dim = 63;
      },
      error, ProblemCode::OddRopeHeadDim, "rope_head_dim", "an even number", 1);
  row(
      "latent attention with fewer KV heads",
      [](Design& d) {
        latent(d);
        d.model.kv_heads = 8;
      },
      error, ProblemCode::LatentKvHeadsDiffer, "kv_heads", "32", 1);
  row(
      "prediction without a module", [](Design& d) { d.model.mtp_layers = 1; }, note,
      ProblemCode::ValueWithoutEffect, "mtp_layers", "0", 1);
}

void sparse_latent(Design& d) {
  latent(d);
  d.model.architecture = "sparse-latent";
  d.model.q_rank = 1536;
  d.model.index_heads = 64;
  d.model.index_dim = 128;
  d.model.index_top_k = 2048;
}

void sparse_rules() {
  row(
      "index heads without an indexer", [](Design& d) { d.model.index_heads = 64; }, note,
      ProblemCode::ValueWithoutEffect, "index_heads", "0", 1);
  row(
      "scales of index keys",
      [](Design& d) {
        sparse_latent(d);
        d.model.index_dim = 192;
      },
      error, ProblemCode::IndexDimUnscaled, "index_dim", "a multiple of 128", 1);
  row(
      "an index key that is rotated as a whole",
      [](Design& d) {
        sparse_latent(d);
        d.model.rope_head_dim = 128;
      },
      error, ProblemCode::IndexDimRotated, "rope_head_dim", "below index_dim = 128", 1);
  row(
      "an indexer without compressed queries",
      [](Design& d) {
        sparse_latent(d);
        d.model.q_rank = 0;
      },
      error, ProblemCode::IndexQueriesUncompressed, "q_rank", "at least 1", 1);
  row(
      "blocks of single keys",
      [](Design& d) {
        sparse_latent(d);
        d.model.index_block = 128;
      },
      error, ProblemCode::IndexBlockUnfit, "index_block", "0", 1);
  row(
      "a ring without all keys",
      [](Design& d) {
        sparse_latent(d);
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ring;
      },
      error, ProblemCode::SparseNeedsAllKeys, "context", "all-gather", 1);
  row(
      "a split context",
      [](Design& d) {
        sparse_latent(d);
        d.workload.mode = Mode::Decode;
        d.parallel = {};
        d.parallel.cp = 2;
        d.workload.batch = d.workload.microbatch = 2;
      },
      error, ProblemCode::SparseContextSplit, "cp", "1", 1);
  row(
      "scores of all keys",
      [](Design& d) {
        sparse_latent(d);
        d.workload.profile = "megatron-2022";
      },
      error, ProblemCode::SparseUnfusedAttention, "profile", "such as flash", 1);
}

void mixer_rules() {
  row(
      "scan over cp",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.parallel.cp = 2;
      },
      error, ProblemCode::Mamba1WithCp, "cp", "1, or an architecture with Mamba-2 mixers", 1);
  row(
      "groups beside cp",
      [](Design& d) {
        apply_preset(d, "mamba2-hybrid-8b");
        d.parallel.tp = 1;
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 6;
        d.workload.seq = 6144;
      },
      error, ProblemCode::SsmGroupsIndivisibleByCp, "cp", "1, 2 or 4", 2);
  row(
      "heads of a group over cp",
      [](Design& d) {
        apply_preset(d, "mamba2-130m");
        d.parallel.tp = 1;
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 5;
        d.workload.seq = 8000;
      },
      error, ProblemCode::SsmGroupsIndivisibleByCp, "cp", "1, 2, 3 or 4", 2);
}

// The default design has tp 2.
void linear_attention_rules() {
  const auto model = [](Design& d, const char* architecture, int64_t ModelSpec::*size, int64_t value) {
    d.model = tiny_design(architecture).model;
    d.model.*size = value;
  };
  row(
      "value heads over key heads",
      [=](Design& d) { model(d, kGatedDelta, &ModelSpec::linear_key_heads, 6); }, error,
      ProblemCode::LinearHeadsIndivisible, "linear_key_heads", "a divisor of 8", 1);
  row(
      "value heads over norm groups",
      [=](Design& d) {
        model(d, "ring-linear", &ModelSpec::linear_norm_groups, 6);
        d.parallel.pp = 1;
      },
      error, ProblemCode::LinearHeadsIndivisible, "linear_norm_groups", "a divisor of 8", 1);
  row(
      "key heads over tp", [=](Design& d) { model(d, "kimi_delta_hybrid", &ModelSpec::linear_key_heads, 1); },
      error, ProblemCode::LinearHeadsIndivisibleByTp, "tp", "a divisor of 1", 1);
  row(
      "key heads over cp",
      [=](Design& d) {
        model(d, kGatedDelta, &ModelSpec::linear_key_heads, 2);
        d.parallel.cp = 4;
      },
      error, ProblemCode::LinearHeadsIndivisibleByCp, "cp", "1", 1);
  row(
      "state type without a mixer", [](Design& d) { d.workload.ssm_state_dtype = DType::BF16; }, note,
      ProblemCode::ValueWithoutEffect, "ssm_state_dtype", "fp32", 1);
}

// The default design has tp 2 and a sequence of 8,192 tokens.
void tower_rules() {
  const auto tower = [](Design& d, int64_t images, int64_t image_size) {
    d.model = tower_design().model;
    d.workload.images = images;
    d.workload.image_size = image_size;
    d.workload.frames = 2;
  };
  row(
      "tower over tp",
      [=](Design& d) {
        tower(d, 0, 2);
        d.model.vision_heads = 3;
      },
      error, ProblemCode::TowerIndivisibleByTp, "tp", "vision_parallel data", 2);
  row(
      "projector over tp",
      [](Design& d) {
        apply_preset(d, "llama4-scout-vision");
        d.model.vision_projector = 4097;
      },
      error, ProblemCode::TowerIndivisibleByTp, "tp", "vision_parallel data", 2);
  row(
      "convolutions merge 16 patches",
      [](Design& d) {
        apply_preset(d, "step-3.7-flash");
        d.parallel.pp = 1;
        d.model.vision_merge = 4;
      },
      error, ProblemCode::TowerMergeFixed, "vision_merge", "16", 1);
  row(
      "image in patches", [=](Design& d) { tower(d, 2, 1); }, error, ProblemCode::ImageSizeIndivisible,
      "image_size", "a multiple of 2", 1);
  row(
      "images in the sequence", [=](Design& d) { tower(d, 3, 128); }, error,
      ProblemCode::ImagesExceedSequence, "images", "at most 8,192 image tokens", 1);
  row(
      "images over ranks",
      [=](Design& d) {
        tower(d, 1, 2);
        d.workload.frames = 1;
        d.workload.vision_parallel = VisionParallel::Data;
      },
      error, ProblemCode::ImagesIndivisible, "vision_parallel", "a multiple of 2 images", 1);
  row(
      "images without a tower", [](Design& d) { d.workload.images = 1; }, note,
      ProblemCode::ValueWithoutEffect, "images", "0", 1);
}

void mixer_size_rules() {
  row(
      "channels over tp",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.model.hidden = 770;
        d.parallel.tp = 8;
      },
      error, ProblemCode::SsmChannelsIndivisibleByTp, "tp", "a divisor of 1,540", 1);
  row(
      "groups over tp", [](Design& d) { apply_preset(d, "mamba2-130m"); }, error,
      ProblemCode::SsmGroupsIndivisibleByTp, "tp", "a divisor of 1", 1);
  row(
      "channels into heads",
      [](Design& d) {
        apply_preset(d, "mamba2-hybrid-8b");
        d.model.ssm_head_dim = 60;
      },
      error, ProblemCode::SsmHeadsIndivisible, "ssm_head_dim", "a divisor of 8,192", 1);
  row(
      "heads into groups",
      [](Design& d) {
        apply_preset(d, "mamba2-hybrid-8b");
        d.model.ssm_groups = 6;
      },
      error, ProblemCode::SsmGroupsIndivisible, "ssm_groups", "a divisor of 128", 1);
  row(
      "mixer without taps",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.model.ssm_conv = 0;
      },
      error, ProblemCode::ValueTooSmall, "ssm_conv", "from 1 to 1,024", 1);
  row(
      "state without a mixer", [](Design& d) { d.model.ssm_state = 16; }, note,
      ProblemCode::ValueWithoutEffect, "ssm_state", "0", 1);
  row(
      "heads without attention",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.model.heads = 12;
      },
      note, ProblemCode::ValueWithoutEffect, "heads", "0", 1);
}

void name_rules() {
  row(
      "architecture", [](Design& d) { d.model.architecture = "perceptron"; }, error,
      ProblemCode::UnknownArchitecture, "architecture", "one of ", 0);
  row(
      "accelerator", [](Design& d) { d.cluster.accelerator = "abacus"; }, error, ProblemCode::UnknownChoice,
      "accelerator", "one of a100-sxm-40gb, ", 1);
  row(
      "profile", [](Design& d) { d.workload.profile = "slow"; }, error, ProblemCode::UnknownChoice, "profile",
      "one of ", 1);
  row(
      "data type", [](Design& d) { d.workload.dtype = DType::Int64; }, error, ProblemCode::UnknownChoice,
      "dtype", "one of bf16, fp16 or fp32", 1);
}

}  // namespace

class ValidateModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    attention_rules();
    expert_rules();
    dispatch_rules();
    group_rules();
    latent_rules();
    sparse_rules();
    mixer_rules();
    mixer_size_rules();
    linear_attention_rules();
    tower_rules();
    name_rules();
  }
  void rules() { check_rule(); }

  // Experts on the ranks of tp in inference: each condition has fixes, and every fix leaves a valid design.
  void expertsOverTp_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<ProblemCode>("code");
    QTest::addColumn<QString>("setting");  // of one of the fixes
    const auto row = [](const char* name, const char* settings, ProblemCode code, const char* setting) {
      QTest::newRow(name) << QString(settings) << code << QString(setting);
    };
    row("training", "ep=8", ProblemCode::EpIndivisibleRanks, "etp=1 sequence_parallel=true");
    row("prefill", "mode=prefill ep=8", ProblemCode::EpIndivisibleRanks, "etp=1");
    row("decode", "mode=decode ep=8 microbatch=2 batch=8", ProblemCode::EpIndivisibleRanks, "etp=1");
    row("decode of one sequence", "mode=decode ep=8 batch=4", ProblemCode::EpIndivisibleRanks,
        "etp=1 dispatcher=allgather");
    row("decode over a part of the ranks", "mode=decode ep=8 dp=12 batch=12", ProblemCode::EpIndivisibleRanks,
        "etp=1 microbatch=2 batch=24");
    row("odd prompt", "mode=prefill ep=8 etp=1 seq=4095", ProblemCode::ExpertTokensIndivisibleByTp,
        "dispatcher=allgather");
    row("odd prompt, sent", "mode=prefill ep=4 etp=1 seq=4095", ProblemCode::ExpertTokensIndivisibleByTp,
        "seq=4094");
    row("one sequence, sent", "mode=decode ep=8 etp=1 batch=4", ProblemCode::ExpertTokensIndivisibleByTp,
        "microbatch=2 batch=8");
    row("gathered over a part of dp", "mode=decode ep=4 etp=1 dispatcher=allgather",
        ProblemCode::ExpertsUnevenOverTp, "ep=8");
    row("gathered over a part of dp, sent",
        "mode=decode ep=4 etp=1 dispatcher=allgather microbatch=2 batch=8", ProblemCode::ExpertsUnevenOverTp,
        "dispatcher=alltoall");
    row("gathered over distant ranks", "mode=decode ep=2 etp=1 dispatcher=allgather rank_order=dp-tp-cp-pp",
        ProblemCode::ExpertsUnevenOverTp, "ep=8");
    row("gathered weights",
        "mode=decode tp=4 ep=4 etp=1 dispatcher=allgather experts_per_token=1 profile=megatron-core-te "
        "batch=4",
        ProblemCode::ExpertTokensIndivisibleByTp, "microbatch=4 batch=16");
  }
  void expertsOverTp() {
    QFETCH(QString, settings);
    QFETCH(ProblemCode, code);
    QFETCH(QString, setting);
    Design design = default_design();
    mixtral(design);
    for (const QString& one : settings.split(' '))
      QVERIFY(!set_knob(design, *find_knob(one.section('=', 0, 0).toStdString()),
                        one.section('=', 1).toStdString()));
    std::vector<Problem> problems = validate(design);
    std::erase_if(problems, [](const Problem& p) { return p.severity == Severity::Note; });
    QVERIFY2(problems.size() == 1 && problems.front().code == code, listing(problems).c_str());
    QStringList offered;
    for (const Fix& fix : problems.front().fixes) {
      Design mended = design;
      apply(mended, fix);
      const std::vector<Problem> left = validate(mended);
      QVERIFY2(!has_errors(left), (fix.label + " leaves " + listing(left)).c_str());
      QStringList all;
      for (const auto& [id, value] : fix.settings) all << QString::fromStdString(id + "=" + value);
      offered << all.join(' ');
    }
    QVERIFY2(offered.contains(setting), qPrintable(offered.join("; ")));
    // Engines that serve spread experts over tp: this comes first, and in training last.
    if (code == ProblemCode::EpIndivisibleRanks)
      QVERIFY((trains(design) ? offered.back() : offered.front()).startsWith("etp=1"));
  }
};

QTEST_APPLESS_MAIN(ValidateModelTest)
#include "validate_model_test.moc"
