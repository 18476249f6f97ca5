// Rules of validation for the model: attention, experts, state-space mixers, positions and names.
#include <QtTest>

#include "design/knobs/knobs.h"
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
      "window without sliding layers", [](Design& d) { d.model.window = 128; }, note, "window",
      "no layer of the llama architecture slides over a window", "0", 1);
  row("experts with biases over tp", gpt_oss, note, "etp", "experts with biases that are split over 2 ranks",
      "1", 1);
  row(
      "experts with biases over tp by hidden",
      [](Design& d) {
        gpt_oss(d);
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      note, "etp", "Megatron-core refuses them", "1", 1);
  row(
      "ring with sinks",
      [](Design& d) {
        gpt_oss(d);
        d.parallel.tp = 1;
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ring;
      },
      error, "context", "the sinks of the gpt-oss architecture", "ulysses (a2a), or all-gather", 2);
  row(
      "zigzag ring with sinks, no window",
      [](Design& d) {
        gpt_oss(d);
        d.parallel.tp = 1;
        d.parallel.cp = 16;
        d.parallel.context = ContextMode::Zigzag;
        d.model.window = 0;
      },
      error, "context", "the sinks of the gpt-oss architecture", "ulysses (a2a), or all-gather", 1);
  row(
      "position table too short",
      [](Design& d) {
        apply_preset(d, "gpt3-175b");
        d.workload.seq = 8192;
      },
      error, "seq", "8,192 tokens is longer than the table of 2,048", "at most 2,048", 2);
  row(
      "no position table",
      [](Design& d) {
        apply_preset(d, "gpt3-175b");
        d.workload.seq = 8192;
        d.model.positions = 0;
      },
      error, "seq", "longer than the table of 0", "positions of at least 8,192", 1);
  row(
      "positions without a table", [](Design& d) { d.model.positions = 100; }, note, "positions",
      "the llama architecture has no table of learned positions", "0", 1);
}

void expert_rules() {
  row(
      "experts in a dense model", [](Design& d) { d.model.experts = 8; }, error, "experts",
      "the llama architecture has no layer with experts", "0", 1);
  row(
      "expert parallel dense model", [](Design& d) { d.parallel.ep = 2; }, error, "ep",
      "no experts to spread over ep = 2 ranks", "1", 1);
  row(
      "no experts to route to",
      [](Design& d) {
        mixtral(d);
        d.model.experts = 0;
      },
      error, "experts", "routes tokens to experts, but there are none", "at least 1", 1);
  row(
      "more experts per token than there are",
      [](Design& d) {
        mixtral(d);
        d.model.experts_per_token = 9;
      },
      error, "experts_per_token", "9 of 8 experts cannot be picked for a token", "1 to 8", 1);
  row(
      "experts over ep",
      [](Design& d) {
        mixtral(d);
        d.parallel.dp = 3;
        d.parallel.ep = 3;
        d.workload.batch = 33;
      },
      error, "ep", "8 experts do not split over ep = 3", "a divisor of 8: 1, 2, 4 or 8", 1);
  row(
      "ep out of dp",
      [](Design& d) {
        mixtral(d);
        d.parallel.ep = 8;
      },
      error, "ep", "ep = 8 ranks cannot be taken evenly out of dp x cp = 4", "a divisor of 4: 1, 2 or 4", 1);
  row(
      "padding without a capacity",
      [](Design& d) {
        mixtral(d);
        d.workload.pad_to_capacity = true;
      },
      error, "pad_to_capacity", "there is no capacity to pad to", "a capacity factor above 0, or off", 2);
  row(
      "expert FFN over tp",
      [](Design& d) {
        mixtral(d);
        d.model.expert_ffn = 14337;
        d.parallel.sequence_parallel = true;
      },
      error, "tp", "an expert FFN size of 14,337 does not split over 2", "a divisor of 14,337", 1);
  row(
      "all layers dense",
      [](Design& d) {
        apply_preset(d, "deepseek-moe-16b");
        d.model.dense_layers = 28;
        d.workload.seq = 4096;
      },
      note, "dense_layers", "all 28 layers are dense ones", "less than 28", 1);
}

void dispatch_rules() {
  row(
      "folded experts without sequence parallelism",
      [](Design& d) {
        mixtral(d);
        d.parallel.etp = 1;
      },
      error, "etp", "needs tokens that are split over tp", "sequence parallelism, or 0", 2);
  row(
      "tokens by hidden and folded experts",
      [](Design& d) {
        mixtral(d);
        d.parallel.etp = 1;
        d.parallel.sequence_parallel = true;
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      error, "dispatcher", "splits tokens over tp by hidden", "etp 0, or another dispatcher", 2);
  row(
      "FP8 dispatch without expert parallelism",
      [](Design& d) {
        mixtral(d);
        d.parallel.ep = 1;
        d.workload.dispatch_dtype = DispatchPrecision::FP8;
      },
      note, "dispatch_dtype",
      "tokens stay where they are without expert parallelism (ep = 1); the value has no effect",
      ", or ep of at least 2", 1);
  row(
      "ep uneven over nodes",
      [](Design& d) {
        by_node(d);
        d.cluster.gpus_per_node = 3;
      },
      error, "dispatcher", "lie unevenly over nodes of 3", "the dispatcher alltoall", 1);
  row(
      "groups uneven over nodes",
      [](Design& d) {
        by_node(d);
        d.model.experts = 12;
        d.model.expert_groups = 3;
        d.model.groups_per_token = 2;
      },
      error, "dispatcher", "3 groups of experts lie unevenly over 2 nodes", "as many groups as nodes", 1);
  row(
      "padding by node",
      [](Design& d) {
        by_node(d);
        d.workload.pad_to_capacity = true;
        d.workload.capacity_factor = 1000;
      },
      error, "pad_to_capacity", "cannot be sent once per node", "off, or another dispatcher", 2);
}

void group_rules() {
  row(
      "groups of experts",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 3;
      },
      error, "expert_groups", "8 experts do not split into 3 equal groups", "a divisor of 8", 1);
  row(
      "more groups than there are",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 2;
        d.model.groups_per_token = 3;
      },
      error, "groups_per_token", "a token cannot pick 3 of 2 groups", "1 to 2", 1);
  row(
      "groups with too few experts",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 8;
      },
      error, "groups_per_token", "picking from 1 of 8 groups leaves 1 experts, fewer than the 2",
      "more groups per token", 2);
  row(
      "more groups than experts of a token",
      [](Design& d) {
        mixtral(d);
        d.model.expert_groups = 4;
        d.model.groups_per_token = 3;
      },
      error, "groups_per_token", "cannot have some of 3 groups", "1 to 2", 2);
}

void latent_rules() {
  row(
      "latent sizes without latent attention", [](Design& d) { d.model.kv_rank = 512; }, note, "kv_rank",
      "the llama architecture has no latent attention", "0", 1);
  row(
      "latent attention without a latent",
      [](Design& d) {
        latent(d);
        d.model.kv_rank = 0;
      },
      error, "kv_rank", "the latent attention of the latent architecture has no size without it",
      "at least 1", 1);
  row(
      "odd rotation",
      [](Design& d) {
        latent(d);
        d.model.rope_head_dim = 63;
      },
      error, "rope_head_dim", "a rotation turns pairs, and 63 is odd", "an even number", 1);
  row(
      "latent attention with fewer KV heads",
      [](Design& d) {
        latent(d);
        d.model.kv_heads = 8;
      },
      error, "kv_heads", "latent attention makes keys and values for all 32 heads", "32", 1);
  row(
      "prediction without a module", [](Design& d) { d.model.mtp_layers = 1; }, note, "mtp_layers",
      "the llama architecture has no module of multi-token prediction", "0", 1);
}

void mixer_rules() {
  row(
      "scan over cp",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.parallel.cp = 2;
      },
      error, "cp", "scan the sequence from its start to its end", "1, or an architecture with Mamba-2 mixers",
      1);
  row(
      "groups beside cp",
      [](Design& d) {
        apply_preset(d, "mamba2-hybrid-8b");
        d.parallel.tp = 1;
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 6;
        d.workload.seq = 6144;
      },
      error, "cp",
      "a tensor-parallel rank has 8 mixer groups, which cp = 6 ranks cannot share out evenly: "
      "Megatron-core's MambaContextParallel asserts it",
      "1, 2 or 4", 2);
  row(
      "heads of a group over cp",
      [](Design& d) {
        apply_preset(d, "mamba2-130m");
        d.parallel.tp = 1;
        d.parallel.sequence_parallel = false;
        d.parallel.cp = 5;
        d.workload.seq = 8000;
      },
      error, "cp",
      "a tensor-parallel rank has 24 heads of one mixer group, which cp = 5 ranks cannot share out evenly",
      "1, 2, 3 or 4", 2);
}

void mixer_size_rules() {
  row(
      "channels over tp",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.model.hidden = 770;
        d.parallel.tp = 8;
      },
      error, "tp", "e D = 1,540 channels do not split over tp = 8", "a divisor of 1,540", 1);
  row(
      "groups over tp", [](Design& d) { apply_preset(d, "mamba2-130m"); }, error, "tp",
      "1 group of a Mamba-2 mixer cannot be split over tp = 2", "a divisor of 1", 1);
  row(
      "channels into heads",
      [](Design& d) {
        apply_preset(d, "mamba2-hybrid-8b");
        d.model.ssm_head_dim = 60;
      },
      error, "ssm_head_dim", "e D = 8,192 channels do not split into heads of 60", "a divisor of 8,192", 1);
  row(
      "heads into groups",
      [](Design& d) {
        apply_preset(d, "mamba2-hybrid-8b");
        d.model.ssm_groups = 6;
      },
      error, "ssm_groups", "128 heads of e D / P channels cannot form 6 groups evenly", "a divisor of 128",
      1);
  row(
      "mixer without taps",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.model.ssm_conv = 0;
      },
      error, "ssm_conv", "0 is too small", "from 1 to 1,024", 1);
  row(
      "state without a mixer", [](Design& d) { d.model.ssm_state = 16; }, note, "ssm_state",
      "the llama architecture has no state-space mixer; the value has no effect", "0", 1);
  row(
      "heads without attention",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.model.heads = 12;
      },
      note, "heads", "the mamba architecture has no attention; the value has no effect", "0", 1);
}

void name_rules() {
  row(
      "architecture", [](Design& d) { d.model.architecture = "perceptron"; }, error, "architecture",
      "there is no architecture \"perceptron\"", "one of ", 0);
  row(
      "accelerator", [](Design& d) { d.cluster.accelerator = "abacus"; }, error, "accelerator",
      "\"abacus\" is not known", "one of a100-sxm-40gb, ", 1);
  row(
      "profile", [](Design& d) { d.workload.profile = "slow"; }, error, "profile", "\"slow\" is not known",
      "one of ", 1);
  row(
      "data type", [](Design& d) { d.workload.dtype = DType::Int64; }, error, "dtype",
      "not one of those offered", "one of bf16, fp16 or fp32", 1);
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
    mixer_rules();
    mixer_size_rules();
    name_rules();
  }
  void rules() { check_rule(); }
};

QTEST_APPLESS_MAIN(ValidateModelTest)
#include "validate_model_test.moc"
