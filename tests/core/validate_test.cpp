// Validation: every rule with its message, and fixes that really mend.
#include <QtTest>
#include <functional>
#include <numeric>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "model/library.h"

using namespace shardscape;

namespace {

using Change = std::function<void(Design&)>;

std::string listing(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_string(problem) + "\n";
  return text;
}

void apply(Design& design, const Fix& fix) {
  for (const auto& [id, text] : fix.settings) {
    const Knob* knob = find_knob(id);
    QVERIFY2(knob, id.c_str());
    const auto problem = set_knob(design, *knob, text);
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
}

int64_t value(const Binding& binding, const char* symbol) {
  return binding.get(Symbol::intern(symbol)).value_or(-1);
}

}  // namespace

Q_DECLARE_METATYPE(Change)

class ValidateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void default_is_valid();
  void good_data();
  void good();
  void rules_data();
  void rules();
  void out_of_range_data();
  void out_of_range();
  void every_violation_is_named();
  void absurd_numbers_are_answered();
  void random_designs();
};

void ValidateTest::default_is_valid() {
  const Design design = default_design();
  QCOMPARE(listing(validate(design)), std::string());
  QCOMPARE(design.world(), int64_t{8});
  QCOMPARE(design.model.preset, std::string("llama3-8b"));
  QCOMPARE(design.model.layers, int64_t{32});
  Design other = design;
  QVERIFY(!apply_preset(other, "no-such-model"));
  QVERIFY(other == design);
  QVERIFY(apply_preset(other, "llama3-70b"));
  QCOMPARE(other.model.layers, int64_t{80});
  QVERIFY(other.parallel == design.parallel && other.workload == design.workload &&
          other.cluster == design.cluster);
}

void ValidateTest::good_data() {
  QTest::addColumn<Change>("change");
  const auto row = [](const char* name, Change change) { QTest::newRow(name) << change; };
  row("one rank", [](Design& d) { d.parallel = {}; });
  row("fewer KV heads than tp", [](Design& d) {
    d.parallel.tp = 8;
    d.model.kv_heads = 2;
  });
  row("multi-query", [](Design& d) {
    d.parallel.tp = 8;
    d.model.kv_heads = 1;
  });
  row("uneven layers", [](Design& d) { d.parallel.stage_layers = {17, 15}; });
  row("stages with embedding or head only", [](Design& d) {
    d.parallel.pp = 4;
    d.parallel.stage_layers = {0, 16, 16, 0};
  });
  row("more stages than layers, listed", [](Design& d) {
    d.model.layers = 2;
    d.parallel.pp = 4;
    d.parallel.stage_layers = {0, 1, 1, 0};
  });
  row("GPT-3", [](Design& d) {
    apply_preset(d, "gpt3-175b");
    d.workload.seq = 2048;
    d.parallel.tp = 8;
    d.parallel.pp = 16;
    d.workload.batch = 512;
  });
  row("Llama 3.1 405B at scale", [](Design& d) {
    apply_preset(d, "llama3.1-405b");
    d.parallel.tp = 8;
    d.parallel.pp = 16;
    d.parallel.dp = 64;
    d.parallel.account_for_embedding_in_pipeline_split = d.parallel.account_for_loss_in_pipeline_split =
        true;  // 126 layers and these
    d.workload.batch = 64 * 64;
  });
  row("131,072 ranks", [](Design& d) {
    d.parallel.tp = 8;
    d.parallel.dp = 8192;
    d.workload.batch = 8192 * 4;
  });
  row("experts", [](Design& d) {
    apply_preset(d, "mixtral-8x7b");
    d.parallel.ep = 2;
    d.parallel.etp = 1;
  });
  row("latent attention without compressed queries", [](Design& d) {
    d.model.architecture = "latent";
    d.model.kv_heads = d.model.heads;
    d.model.kv_rank = d.model.nope_head_dim = d.model.value_head_dim = 128;
    d.model.rope_head_dim = 64;
    d.model.mtp_layers = 1;
  });
  row("virtual stages", [](Design& d) { d.parallel.virtual_stages = 4; });
  row("Mamba", [](Design& d) {
    apply_preset(d, "mamba-2.8b");
    d.parallel.tp = 8;
  });
  row("hybrid", [](Design& d) {
    apply_preset(d, "mamba2-hybrid-8b");
    d.parallel.tp = 8;
  });
  row("mixers under context parallelism", [](Design& d) {
    apply_preset(d, "mamba2-hybrid-8b");
    d.parallel.tp = 8;
    d.parallel.cp = 4;
  });
  row("groups of mixers shared over cp beside a ring", [](Design& d) {
    apply_preset(d, "mamba2-hybrid-8b");
    d.parallel.cp = 8;
    d.parallel.context = ContextMode::Ring;
  });
  row("instances of the distributed optimizer", [](Design& d) {
    d.parallel.sync = SyncStrategy::DistributedOptimizer;
    d.parallel.dp = 8;
    d.parallel.dp_shard = 2;
    d.workload.batch = 64;
  });
  row("instances of the distributed optimizer with experts", [](Design& d) {
    apply_preset(d, "mixtral-8x7b");
    d.parallel.sync = SyncStrategy::DistributedOptimizer;
    d.parallel.dp = 8;
    d.parallel.ep = 2;
    d.parallel.dp_shard = 4;
    d.workload.batch = 64;
  });
  row("FSDP2 under ZB-V", [](Design& d) {
    d.parallel.sync = SyncStrategy::Fsdp2;
    d.parallel.schedule = ScheduleKind::ZbV;
    d.parallel.virtual_stages = 2;
  });
  row("groups of FSDP units", [](Design& d) {
    d.parallel.sync = SyncStrategy::Fsdp1;
    d.workload.recompute = Recompute::Full;
    d.workload.recompute_num_layers = 2;
  });
  row("uneven virtual stages", [](Design& d) {
    d.parallel.virtual_stages = 2;
    d.parallel.stage_layers = {0, 16, 15, 1};
  });
  row("scattered messages", [](Design& d) {
    d.parallel.sequence_parallel = false;
    d.parallel.scatter_gather_pipeline = true;
  });
  row("hybrid sharding with virtual stages", [](Design& d) {
    d.parallel.sync = SyncStrategy::Fsdp2;
    d.parallel.dp = 8;
    d.parallel.dp_shard = 4;
    d.parallel.virtual_stages = 2;
    d.workload.batch = 64;
    d.parallel.reduce_every_microbatch = d.parallel.clip_grad_norm = d.parallel.average_loss = true;
  });
  row("ZeRO-3 with tensor parallelism", [](Design& d) {
    d.parallel.sync = SyncStrategy::Zero3;
    d.parallel.pp = 1;
    d.parallel.dp = 4;
  });
  row("alias of an accelerator", [](Design& d) { d.cluster.accelerator = "a100-80gb"; });
}

void ValidateTest::good() {
  QFETCH(Change, change);
  Design design = default_design();
  change(design);
  QCOMPARE(listing(validate(design)), std::string());
}

void ValidateTest::rules_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<bool>("note");
  QTest::addColumn<QString>("where");
  QTest::addColumn<QString>("what");
  QTest::addColumn<QString>("accepted");
  QTest::addColumn<int>("fixes");  // at least so many
  const auto row = [](const char* name, Change change, bool note, const char* where, const char* what,
                      const char* accepted, int fixes) {
    QTest::newRow(name) << change << note << where << what << accepted << fixes;
  };
  const bool error = false, note = true;
  row(
      "window without sliding layers", [](Design& d) { d.model.window = 128; }, note, "window",
      "no layer of the llama architecture slides over a window", "0", 1);
  const auto mixtral = [](Design& d) {
    apply_preset(d, "mixtral-8x7b");
    d.parallel = {};
    d.parallel.tp = 2;
    d.parallel.dp = 4;
    d.workload.seq = 4096;
  };
  const auto gpt_oss = [=](Design& d) {
    mixtral(d);
    apply_preset(d, "gpt-oss-20b");
  };
  row("experts with biases over tp", gpt_oss, note, "etp", "experts with biases that are split over 2 ranks",
      "1", 1);
  row(
      "experts with biases over tp by hidden",
      [=](Design& d) {
        gpt_oss(d);
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      note, "etp", "Megatron-core refuses them", "1", 1);
  row(
      "ring with sinks",
      [=](Design& d) {
        gpt_oss(d);
        d.parallel.tp = 1;
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ring;
      },
      error, "context", "the sinks of the gpt-oss architecture", "ulysses (a2a), or all-gather", 2);
  row(
      "zigzag ring with sinks, no window",
      [=](Design& d) {
        gpt_oss(d);
        d.parallel.tp = 1;
        d.parallel.cp = 16;
        d.parallel.context = ContextMode::Zigzag;
        d.model.window = 0;
      },
      error, "context", "the sinks of the gpt-oss architecture", "ulysses (a2a), or all-gather", 1);
  row(
      "experts in a dense model", [](Design& d) { d.model.experts = 8; }, error, "experts",
      "the llama architecture has no layer with experts", "0", 1);
  row(
      "expert parallel dense model", [](Design& d) { d.parallel.ep = 2; }, error, "ep",
      "no experts to spread over ep = 2 ranks", "1", 1);
  row(
      "no experts to route to",
      [=](Design& d) {
        mixtral(d);
        d.model.experts = 0;
      },
      error, "experts", "routes tokens to experts, but there are none", "at least 1", 1);
  row(
      "more experts per token than there are",
      [=](Design& d) {
        mixtral(d);
        d.model.experts_per_token = 9;
      },
      error, "experts_per_token", "9 of 8 experts cannot be picked for a token", "1 to 8", 1);
  row(
      "experts over ep",
      [=](Design& d) {
        mixtral(d);
        d.parallel.dp = 3;
        d.parallel.ep = 3;
        d.workload.batch = 33;
      },
      error, "ep", "8 experts do not split over ep = 3", "a divisor of 8: 1, 2, 4 or 8", 1);
  row(
      "ep out of dp",
      [=](Design& d) {
        mixtral(d);
        d.parallel.ep = 8;
      },
      error, "ep", "ep = 8 ranks cannot be taken evenly out of dp x cp = 4", "a divisor of 4: 1, 2 or 4", 1);
  row(
      "folded experts without sequence parallelism",
      [=](Design& d) {
        mixtral(d);
        d.parallel.etp = 1;
      },
      error, "etp", "needs tokens that are split over tp", "sequence parallelism, or 0", 2);
  row(
      "tokens by hidden and folded experts",
      [=](Design& d) {
        mixtral(d);
        d.parallel.etp = 1;
        d.parallel.sequence_parallel = true;
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      error, "dispatcher", "splits tokens over tp by hidden", "etp 0, or another dispatcher", 2);
  row(
      "FP8 dispatch without expert parallelism",
      [=](Design& d) {
        mixtral(d);
        d.parallel.ep = 1;
        d.workload.dispatch_dtype = DispatchPrecision::FP8;
      },
      note, "dispatch_dtype",
      "tokens stay where they are without expert parallelism (ep = 1); the value has no effect",
      ", or ep of at least 2", 1);
  row(
      "padding without a capacity",
      [=](Design& d) {
        mixtral(d);
        d.workload.pad_to_capacity = true;
      },
      error, "pad_to_capacity", "there is no capacity to pad to", "a capacity factor above 0, or off", 2);
  const auto by_node = [=](Design& d) {
    mixtral(d);
    d.parallel.tp = 1;
    d.parallel.ep = 4;
    d.parallel.dispatcher = Dispatcher::Flex;
    d.cluster.gpus_per_node = 2;
  };
  row(
      "groups of experts",
      [=](Design& d) {
        mixtral(d);
        d.model.expert_groups = 3;
      },
      error, "expert_groups", "8 experts do not split into 3 equal groups", "a divisor of 8", 1);
  row(
      "more groups than there are",
      [=](Design& d) {
        mixtral(d);
        d.model.expert_groups = 2;
        d.model.groups_per_token = 3;
      },
      error, "groups_per_token", "a token cannot pick 3 of 2 groups", "1 to 2", 1);
  row(
      "groups with too few experts",
      [=](Design& d) {
        mixtral(d);
        d.model.expert_groups = 8;
      },
      error, "groups_per_token", "picking from 1 of 8 groups leaves 1 experts, fewer than the 2",
      "more groups per token", 2);
  row(
      "more groups than experts of a token",
      [=](Design& d) {
        mixtral(d);
        d.model.expert_groups = 4;
        d.model.groups_per_token = 3;
      },
      error, "groups_per_token", "cannot have some of 3 groups", "1 to 2", 2);
  row(
      "ep uneven over nodes",
      [=](Design& d) {
        by_node(d);
        d.cluster.gpus_per_node = 3;
      },
      error, "dispatcher", "lie unevenly over nodes of 3", "the dispatcher alltoall", 1);
  row(
      "groups uneven over nodes",
      [=](Design& d) {
        by_node(d);
        d.model.experts = 12;
        d.model.expert_groups = 3;
        d.model.groups_per_token = 2;
      },
      error, "dispatcher", "3 groups of experts lie unevenly over 2 nodes", "as many groups as nodes", 1);
  row(
      "padding by node",
      [=](Design& d) {
        by_node(d);
        d.workload.pad_to_capacity = true;
        d.workload.capacity_factor = 1000;
      },
      error, "pad_to_capacity", "cannot be sent once per node", "off, or another dispatcher", 2);
  row(
      "expert FFN over tp",
      [=](Design& d) {
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
  const auto latent = [](Design& d) {
    d.model.architecture = "latent";
    d.model.kv_heads = d.model.heads;
    d.model.q_rank = 1536;
    d.model.kv_rank = 512;
    d.model.nope_head_dim = d.model.value_head_dim = 128;
    d.model.rope_head_dim = 64;
  };
  row(
      "latent sizes without latent attention", [](Design& d) { d.model.kv_rank = 512; }, note, "kv_rank",
      "the llama architecture has no latent attention", "0", 1);
  row(
      "latent attention without a latent",
      [=](Design& d) {
        latent(d);
        d.model.kv_rank = 0;
      },
      error, "kv_rank", "the latent attention of the latent architecture has no size without it",
      "at least 1", 1);
  row(
      "odd rotation",
      [=](Design& d) {
        latent(d);
        d.model.rope_head_dim = 63;
      },
      error, "rope_head_dim", "a rotation turns pairs, and 63 is odd", "an even number", 1);
  row(
      "latent attention with fewer KV heads",
      [=](Design& d) {
        latent(d);
        d.model.kv_heads = 8;
      },
      error, "kv_heads", "latent attention makes keys and values for all 32 heads", "32", 1);
  row(
      "prediction without a module", [](Design& d) { d.model.mtp_layers = 1; }, note, "mtp_layers",
      "the llama architecture has no module of multi-token prediction", "0", 1);
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
      "stages of unlike length",
      [](Design& d) {
        d.parallel.pp = 6;
        d.workload.batch = 96;
      },
      note, "pp", "32 layers do not split evenly over pp = 6: stages 0 to 1 hold 6, the others fewer",
      "a divisor of 32", 2);
  row(
      "one microbatch", [](Design& d) { d.workload.batch = 2; }, note, "batch",
      "1 microbatch does not fill 2 stages", "at least pp = 2", 1);
  const auto syncs = [](SyncStrategy sync, int64_t pp) {
    return [=](Design& d) {
      d.parallel.sync = sync;
      d.parallel.pp = pp;
    };
  };
  row("ZeRO-2 with stages", syncs(SyncStrategy::Zero2, 2), error, "sync",
      "zero-2 does not go with pipeline stages", "zero-1, fsdp1 or fsdp2, or pp = 1", 2);
  row(
      "ZeRO-3 with virtual stages",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero3;
        d.parallel.virtual_stages = 2;
      },
      error, "sync", "zero-3 does not go with pipeline stages", "zero-1, fsdp1 or fsdp2, or pp = 1", 2);
  row(
      "ZeRO-1 with virtual stages",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Zero1;
        d.parallel.virtual_stages = 2;
      },
      error, "sync", "no virtual stages", "1 virtual stage", 2);
  row(
      "sharding group without FSDP", [](Design& d) { d.parallel.dp_shard = 2; }, error, "dp_shard",
      "only FSDP and Megatron's distributed optimizer shard inside a group of replicas",
      "0, or the gradient sync distributed-optimizer", 4);
  row(
      "sharding group that does not fit, without FSDP", [](Design& d) { d.parallel.dp_shard = 3; }, error,
      "dp_shard", "only FSDP and Megatron's distributed optimizer shard inside a group of replicas",
      "0, or the gradient sync distributed-optimizer", 1);
  row(
      "uneven sharding groups",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp2;
        d.parallel.pp = 1;
        d.parallel.dp = 4;
        d.parallel.dp_shard = 3;
      },
      error, "dp_shard", "4 replicas do not split into groups of 3", "0, or a divisor of dp: 2 or 4", 3);
  row(
      "sharding groups of one",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.dp_shard = 1;
      },
      error, "dp_shard", "groups of one replica shard nothing", "0, or a divisor of dp: 2", 2);
  row(
      "sharding group without replicas",
      [](Design& d) {
        d.parallel.dp = 1;
        d.parallel.dp_shard = 2;
      },
      error, "dp_shard", "there are no replicas to shard over", "0", 1);
  row(
      "tied embeddings reduced every microbatch",
      [](Design& d) {
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.reduce_every_microbatch = true;
        d.model.tied_embeddings = true;
      },
      error, "reduce_every_microbatch", "the two ends reduce tied embeddings after the last microbatch only",
      "off", 2);
  row(
      "every microbatch, Megatron", [](Design& d) { d.parallel.reduce_every_microbatch = true; }, note,
      "reduce_every_microbatch", "reduces once a step", "ddp-buckets, fsdp1 or fsdp2", 1);
  row(
      "nothing to reshard", [](Design& d) { d.parallel.reshard_after_forward = false; }, note,
      "reshard_after_forward", "does not reshard", "on, or the gradient sync fsdp1 or fsdp2", 1);
  row(
      "overlap without replicas",
      [](Design& d) {
        d.parallel.overlap_grad_reduce = true;
        d.parallel.dp = 1;
      },
      note, "overlap_grad_reduce", "there are no replicas", "off, or", 1);
  row(
      "parameters ahead without overlap",
      [](Design& d) {
        d.parallel.overlap_param_gather = true;
        d.parallel.sync = SyncStrategy::DistributedOptimizer;
        d.parallel.overlap_grad_reduce = false;
      },
      note, "overlap_param_gather", "with overlapped gradient reduction gathers ahead", "off, or", 1);
  row(
      "overlapped products without sequence parallelism",
      [](Design& d) {
        d.parallel.tp_comm_overlap = true;
        d.parallel.sequence_parallel = false;
      },
      note, "tp_comm_overlap", "no gathers and scatters beside them", "off, or", 1);
  row(
      "overlap of FSDP",
      [](Design& d) {
        d.parallel.overlap_grad_reduce = true;
        d.parallel.sync = SyncStrategy::Fsdp1;
      },
      note, "overlap_grad_reduce", "an order of its own", "off, or", 1);
  row(
      "loss of one replica",
      [](Design& d) {
        d.parallel.average_loss = true;
        d.parallel.dp = 1;
      },
      note, "average_loss", "there are no replicas", "off, or dp of at least 2", 1);
  row(
      "bucket of nothing", [](Design& d) { d.parallel.zero.reduce_bucket_size = 0; }, error,
      "zero_reduce_bucket_size", "0 is too small", "a whole number from 1", 1);
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
  row(
      "checkpoints without full recompute", [](Design& d) { d.workload.distribute_saved_activations = true; },
      note, "distribute_saved_activations", "the value has no effect", "full recompute", 1);
  row(
      "checkpoints that do not split",
      [](Design& d) {
        d.parallel.sequence_parallel = false;
        d.workload.recompute = Recompute::Full;
        d.workload.distribute_saved_activations = true;
        d.workload.seq = 8191;
      },
      error, "distribute_saved_activations", "checkpoints of 8,191 tokens do not split into 2 parts",
      "a multiple of 2", 2);
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
  row(
      "instances among replicas of experts",
      [](Design& d) {
        apply_preset(d, "mixtral-8x7b");
        d.parallel.sync = SyncStrategy::DistributedOptimizer;
        d.parallel.dp = 8;
        d.parallel.ep = 4;
        d.parallel.dp_shard = 2;
      },
      error, "dp_shard", "4 copies of the states do not divide the 2 replicas of each expert",
      "0, or groups of which ds x cp is a multiple of ep", 3);
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
  const auto recompute = [](Recompute policy, auto change) {
    return [=](Design& d) {
      d.workload.recompute = policy;
      change(d.workload);
    };
  };
  row("modules without selective recompute",
      recompute(Recompute::Full, [](WorkloadSpec& w) { w.recompute_modules.add(RecomputeModule::Mlp); }),
      note, "recompute_modules", "only selective recompute chooses any", "core_attn", 2);
  row("no modules", recompute(Recompute::Selective, [](WorkloadSpec& w) { w.recompute_modules = {}; }), note,
      "recompute_modules", "no module is chosen", "any of core_attn,layernorm,mlp_act,mlp", 2);
  row("modules that are not there",
      recompute(Recompute::Selective,
                [](WorkloadSpec& w) { w.recompute_modules.add(RecomputeModule::MlaUpProj); }),
      note, "recompute_modules", "the layers of this model have no mla_up_proj", "any of core_attn", 1);
  row("method without full recompute",
      recompute(Recompute::None, [](WorkloadSpec& w) { w.recompute_method = RecomputeMethod::Block; }), note,
      "recompute_method", "only full recompute has a method", "uniform", 2);
  row("layers without full recompute",
      recompute(Recompute::None, [](WorkloadSpec& w) { w.recompute_num_layers = 4; }), note,
      "recompute_num_layers", "only full recompute counts layers", "1, or recompute full", 2);
  row("more recomputed layers than there are",
      recompute(Recompute::Full, [](WorkloadSpec& w) { w.recompute_num_layers = 17; }), note,
      "recompute_num_layers", "17 layers are more than 16", "1 to 16", 1);
  row(
      "more offloaded layers than there are", [](Design& d) { d.workload.offload_activations = 17; }, note,
      "offload_activations", "17 layers are more than 16", "0 to 16", 2);
  row(
      "quantized FFN",
      [](Design& d) {
        d.model.ffn = 14352;
        d.workload.compute = ComputePrecision::MXFP8;
        d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, "ffn",
      "mxfp8 wants the FFN size in multiples of 32 on every rank, but 14,352 over tp = 2 makes 7,176",
      "a multiple of 64", 2);
  row(
      "quantized hidden size",
      [](Design& d) {
        d.model.hidden = 4104;
        d.workload.compute = ComputePrecision::FP8;
      },
      error, "hidden", "float8 wants the hidden size in multiples of 16", "a multiple of 16", 1);
  row(
      "quantized steps of decoded tokens",
      [](Design& d) {
        apply_preset(d, "mamba-130m");
        d.workload.mode = Mode::Decode;
        d.workload.microbatch = 8;
        set_knob(d, *find_knob("compute"), "mxfp8"), d.cluster.accelerator = "b200-hgx-180gb";
      },
      error, "ssm_dt_rank", "mxfp8 wants the rank of the step size in multiples of 32 on every rank, but 48",
      "a multiple of 32, or compute storage", 2);
  row(
      "units", [](Design& d) { d.workload.compute = ComputePrecision::NVFP4; }, note, "compute",
      "has no matrix units for nvfp4: times are those of its next wider type", "fp8 or storage", 2);
  row(
      "quantized tokens",
      [](Design& d) {
        d.workload.seq = 8200;
        d.workload.compute = ComputePrecision::FP8Block;
      },
      error, "seq", "float8_block wants the tokens of a rank in multiples of 128, but b S makes 4,100",
      "a multiple of 256", 2);
  row(
      "dispatch without experts", [](Design& d) { d.workload.dispatch_dtype = DispatchPrecision::FP8; }, note,
      "dispatch_dtype", "no experts", "same", 1);
  row(
      "master weights of float32",
      [](Design& d) {
        d.workload.dtype = DType::FP32;
        d.workload.master_weights = false;
      },
      note, "master_weights", "parameters are float32 themselves", "on", 1);
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

void ValidateTest::rules() {
  QFETCH(Change, change);
  QFETCH(bool, note);
  QFETCH(QString, where);
  QFETCH(QString, what);
  QFETCH(QString, accepted);
  QFETCH(int, fixes);
  Design design = default_design();
  change(design);
  const std::vector<Problem> problems = validate(design);
  QVERIFY2(problems.size() == 1, listing(problems).c_str());
  const Problem& problem = problems.front();
  QCOMPARE(problem.severity == Severity::Note, note);
  QCOMPARE(QString::fromStdString(problem.where), where);
  QVERIFY2(QString::fromStdString(problem.what).contains(what), problem.what.c_str());
  QVERIFY2(QString::fromStdString(problem.accepted).contains(accepted), problem.accepted.c_str());
  QVERIFY2(static_cast<int>(problem.fixes.size()) >= fixes, std::to_string(problem.fixes.size()).c_str());
  for (const Fix& fix : problem.fixes) {
    Design mended = design;
    apply(mended, fix);
    QVERIFY(!(mended == design));
    const std::vector<Problem> left = validate(mended);
    QVERIFY2(!has_errors(left), (fix.label + " leaves " + listing(left)).c_str());
    for (const Problem& other : left)
      QVERIFY2(!note || other.where != problem.where, (fix.label + " leaves " + listing(left)).c_str());
  }
}

void ValidateTest::out_of_range_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("where");
  const auto row = [](const char* where, int64_t& (*field)(Design&)) {
    for (int64_t bad : {int64_t{0}, int64_t{-1}, INT64_MIN, int64_t{1} << 40, INT64_MAX}) {
      QTest::addRow("%s = %lld", where, static_cast<long long>(bad))
          << Change([=](Design& d) { field(d) = bad; }) << where;
    }
  };
  row("layers", [](Design& d) -> int64_t& { return d.model.layers; });
  row("hidden", [](Design& d) -> int64_t& { return d.model.hidden; });
  row("heads", [](Design& d) -> int64_t& { return d.model.heads; });
  row("kv_heads", [](Design& d) -> int64_t& { return d.model.kv_heads; });
  row("head_dim", [](Design& d) -> int64_t& { return d.model.head_dim; });
  row("ffn", [](Design& d) -> int64_t& { return d.model.ffn; });
  row("vocab", [](Design& d) -> int64_t& { return d.model.vocab; });
  row("tp", [](Design& d) -> int64_t& { return d.parallel.tp; });
  row("pp", [](Design& d) -> int64_t& { return d.parallel.pp; });
  row("dp", [](Design& d) -> int64_t& { return d.parallel.dp; });
  row("seq", [](Design& d) -> int64_t& { return d.workload.seq; });
  row("batch", [](Design& d) -> int64_t& { return d.workload.batch; });
  row("microbatch", [](Design& d) -> int64_t& { return d.workload.microbatch; });
  row("vocab_multiple", [](Design& d) -> int64_t& { return d.workload.vocab_multiple; });
  row("gpus_per_node", [](Design& d) -> int64_t& { return d.cluster.gpus_per_node; });
}

void ValidateTest::out_of_range() {
  QFETCH(Change, change);
  QFETCH(QString, where);
  Design design = default_design();
  change(design);
  const std::vector<Problem> problems = validate(design);
  QVERIFY2(problems.size() == 1, listing(problems).c_str());
  QCOMPARE(QString::fromStdString(problems[0].where), where);
  Knob shown = *find_knob(where.toStdString());
  shown.min = std::max<int64_t>(shown.min, 1);  // 0 is for models without attention or MLP
  QCOMPARE(problems[0].accepted, accepted_values(shown));
  QCOMPARE(problems[0].fixes.size(), size_t{1});
  apply(design, problems[0].fixes[0]);
  for (const Problem& left : validate(design)) QVERIFY(left.what.find("is too") == std::string::npos);
}

void ValidateTest::every_violation_is_named() {
  Design design = default_design();
  design.parallel.tp = 7;
  design.workload.batch = 33;
  design.parallel.pp = 64;
  design.cluster.accelerator = "abacus";
  design.model.hidden = 0;
  const std::vector<Problem> problems = validate(design);
  QStringList where;
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::Error) where << QString::fromStdString(problem.where);
  }
  // 7 splits neither heads nor KV heads nor the sequence; it does split the FFN.
  QCOMPARE(where, (QStringList{"hidden", "accelerator", "tp", "tp", "seq", "pp", "batch"}));
}

void ValidateTest::absurd_numbers_are_answered() {
  Design design;  // no preset: all zero
  QVERIFY(has_errors(validate(design)));
  design = default_design();
  design.parallel.tp = design.parallel.pp = design.parallel.dp = design.parallel.cp = 131072;
  design.parallel.schedule = ScheduleKind::GPipe;
  design.workload.batch = 1;
  QVERIFY(has_errors(validate(design)));
  design.parallel.order.fastest_first.fill(MeshAxis::Tp);
  QVERIFY(has_errors(validate(design)));
  QVERIFY(layers_per_stage(design).size() == 131072);
  design.parallel.pp = INT64_MAX;
  QVERIFY(layers_per_stage(design).empty());
}

// Whatever is wrong, each fix removes its own problem; whatever is right can be bound.
void ValidateTest::random_designs() {
  QRandomGenerator random(11);
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random.bounded(static_cast<quint32>(values.size()))];
  };
  int valid = 0, fixes = 0;
  for (int i = 0; i < 4000; ++i) {
    Design d = default_design();
    if (random.bounded(3) == 0) apply_preset(d, "gpt3-175b");
    if (random.bounded(3) == 0) d.model.heads = pick({1, 12, 24, 36, 96, 0});
    if (random.bounded(3) == 0) d.model.kv_heads = pick({1, 2, 3, 6, 8, 12, 96, -1});
    if (random.bounded(5) == 0) d.model.layers = pick({1, 2, 3, 31, 126});
    if (random.bounded(5) == 0) d.model.ffn = pick({1, 1000, 12288, 11008});
    if (random.bounded(5) == 0) d.model.positions = pick({0, 1, 100, 8192});
    d.parallel = {};
    d.parallel.tp = pick({1, 1, 2, 3, 6, 8, 16, 512});
    d.parallel.pp = pick({1, 1, 2, 3, 4, 16, 200});
    d.parallel.dp = pick({1, 1, 2, 3, 64, 1024, 0});
    if (random.bounded(4) == 0) d.parallel.cp = pick({1, 2, 3, 8, 0, 1024});
    d.parallel.context = static_cast<ContextMode>(random.bounded(6));
    d.parallel.ulysses_degree = pick({0, 0, 1, 2, 3, 8});
    if (random.bounded(8) == 0) d.model.window = pick({0, 1, 100, 9000});
    if (random.bounded(8) == 0) d.workload.profile = "megatron-2022";
    d.parallel.sequence_parallel = random.bounded(2) == 1;
    if (random.bounded(3) == 0) d.parallel.virtual_stages = pick({1, 2, 3, 4, 16, 1024});
    d.parallel.scatter_gather_pipeline = random.bounded(2) == 1;
    if (random.bounded(4) == 0)
      d.parallel.stage_layers = {pick({0, 1, 16}), pick({-1, 0, 1, 16}), pick({0, 1, 16})};
    std::swap(d.parallel.order.fastest_first[0], d.parallel.order.fastest_first[random.bounded(4u)]);
    d.workload.seq = pick({1, 7, 100, 2048, 8192});
    d.workload.batch = pick({1, 2, 7, 32, 1024, 1 << 23});
    d.workload.microbatch = pick({1, 1, 2, 3, 64});
    d.cluster.gpus_per_node = pick({1, 4, 8, 12});
    const std::vector<Problem> problems = validate(d);
    if (!has_errors(problems)) {
      ++valid;
      QCOMPARE(value(bind_symbols(d), "m") * d.workload.microbatch * d.parallel.dp, d.workload.batch);
      const std::vector<int64_t> layers = layers_per_stage(d);
      QCOMPARE(static_cast<int64_t>(layers.size()), d.parallel.pp);
      QCOMPARE(std::accumulate(layers.begin(), layers.end(), int64_t{0}), d.model.layers);
    }
    for (const Problem& problem : problems) {
      for (const Fix& fix : problem.fixes) {
        ++fixes;
        Design mended = d;
        apply(mended, fix);
        for (const Problem& left : validate(mended)) {
          const bool same = left.where == problem.where && left.what == problem.what;
          QVERIFY2(!same, (to_string(problem) + " is still there after " + fix.label).c_str());
        }
      }
    }
  }
  QVERIFY(valid > 50);
  QVERIFY(fixes > 1000);
}

QTEST_APPLESS_MAIN(ValidateTest)
#include "validate_test.moc"
