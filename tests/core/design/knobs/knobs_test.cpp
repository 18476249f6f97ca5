// The knob table and the texts that people type into it.
#include <QtTest>
#include <set>

#include "design/knobs/knobs.h"
#include "design/knobs/step_tokens.h"
#include "hardware/accelerator.h"

using namespace shardscape;

class KnobsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void table_is_complete();
  void every_knob_data();
  void every_knob();
  void limits_data();
  void limits();
  void texts_data();
  void texts();
  void refused_data();
  void refused();
  void catalogue();
  void batch_in_tokens();
};

namespace {

constexpr const char* kIds[] = {"layers",
                                "hidden",
                                "heads",
                                "kv_heads",
                                "head_dim",
                                "ffn",
                                "vocab",
                                "positions",
                                "window",
                                "attention_chunk",
                                "tied_embeddings",
                                "q_rank",
                                "kv_rank",
                                "nope_head_dim",
                                "rope_head_dim",
                                "value_head_dim",
                                "index_heads",
                                "index_dim",
                                "index_top_k",
                                "index_block",
                                "compress_ratio",
                                "output_groups",
                                "output_rank",
                                "mtp_layers",
                                "tp",
                                "pp",
                                "dp",
                                "sync",
                                "overlap_grad_reduce",
                                "overlap_param_gather",
                                "tp_comm_overlap",
                                "tp_comm_overlap_rs_dgrad",
                                "sequence_parallel",
                                "schedule",
                                "virtual_stages",
                                "forwards_first",
                                "microbatch_group",
                                "pass_times",
                                "most_in_flight",
                                "waiting_percent",
                                "scatter_gather_pipeline",
                                "stage_layers",
                                "account_for_embedding_in_pipeline_split",
                                "account_for_loss_in_pipeline_split",
                                "rank_order",
                                "mode",
                                "seq",
                                "context_length",
                                "cached_tokens",
                                "draft_module",
                                "kv_cache_dtype",
                                "ssm_state_dtype",
                                "batch",
                                "microbatch",
                                "packed_length",
                                "dtype",
                                "grad_dtype",
                                "vocab_multiple",
                                "gathered_logits",
                                "dropout",
                                "gradient_accumulation_fusion",
                                "cuda_graphs",
                                "cublas_workspace",
                                "compute",
                                "dispatch_dtype",
                                "fp8_params",
                                "transposed_weights",
                                "activation_cache",
                                "fp8_attention",
                                "master_weights",
                                "optimizer",
                                "moment_dtype",
                                "lora_rank",
                                "lora_modules",
                                "lora_packed",
                                "lora_dropout",
                                "frozen_dtype",
                                "offload_optimizer",
                                "optimizer_offload_fraction",
                                "offload_activations",
                                "recompute",
                                "recompute_modules",
                                "recompute_method",
                                "recompute_num_layers",
                                "distribute_saved_activations",
                                "profile",
                                "accelerator",
                                "peak_tflops",
                                "memory_capacity",
                                "memory_bandwidth",
                                "gpus_per_node",
                                "cp",
                                "context",
                                "ulysses_degree",
                                "dcp",
                                "experts",
                                "experts_per_token",
                                "expert_ffn",
                                "expert_groups",
                                "groups_per_token",
                                "shared_experts",
                                "dense_layers",
                                "ep",
                                "etp",
                                "dispatcher",
                                "dispatch_sms",
                                "ep_comm_overlap",
                                "shared_expert_overlap",
                                "capacity_factor",
                                "pad_to_capacity",
                                "load_imbalance",
                                "dp_shard",
                                "reshard_after_forward",
                                "reshard_after_backward",
                                "reduce_every_microbatch",
                                "bucket_cap_mb",
                                "first_bucket_mb",
                                "ddp_bucket_size",
                                "zero_reduce_bucket_size",
                                "zero_allgather_bucket_size",
                                "stage3_prefetch_bucket_size",
                                "stage3_param_persistence_threshold",
                                "stage3_max_live_parameters",
                                "stage3_max_reuse_distance",
                                "clip_grad_norm",
                                "average_loss",
                                "network",
                                "scaleup_domain",
                                "scaleup_bandwidth",
                                "nic_bandwidth",
                                "scaleup_latency",
                                "network_latency",
                                "spine_latency",
                                "rails",
                                "oversubscription",
                                "pod_size",
                                "in_network_reduction",
                                "collective_algorithm",
                                "tp_max_ctas",
                                "cp_max_ctas",
                                "dp_max_ctas",
                                "ssm_state",
                                "ssm_conv",
                                "ssm_expand",
                                "ssm_dt_rank",
                                "ssm_head_dim",
                                "ssm_heads",
                                "layer_pattern",
                                "variants",
                                "weight_formats",
                                "shared_ffn",
                                "streams",
                                "residual_block_layers",
                                "per_layer_dim",
                                "latent_ffn",
                                "zero_experts",
                                "ssm_groups",
                                "ssm_chunk",
                                "linear_key_heads",
                                "linear_value_heads",
                                "linear_key_dim",
                                "linear_value_dim",
                                "linear_conv",
                                "linear_chunk",
                                "linear_norm_groups",
                                "gate_rank",
                                "vision_layers",
                                "vision_hidden",
                                "vision_heads",
                                "vision_head_dim",
                                "vision_ffn",
                                "vision_positions",
                                "vision_patch",
                                "vision_frames",
                                "vision_merge",
                                "vision_projector",
                                "images",
                                "image_size",
                                "frames",
                                "vision_training",
                                "vision_parallel",
                                "vision_stage",
                                "vision_recompute",
                                "tokens",
                                "checkpoint_interval",
                                "batch_ramp_start",
                                "batch_ramp_increment",
                                "batch_ramp_samples",
                                "price_per_hour",
                                "board_power",
                                "host_power",
                                "pue",
                                "failure_rate",
                                "restart_time",
                                "checkpoint_bandwidth",
                                "compute_jitter",
                                "straggler_slowdown"};

const Knob& knob(const char* id) {
  const Knob* found = find_knob(id);
  if (!found) qFatal("no knob %s", id);
  return *found;
}

}  // namespace

void KnobsTest::table_is_complete() {
  std::set<std::string> ids, symbols;
  KnobGroup group = KnobGroup::Model;
  for (const Knob& k : knobs()) {
    QVERIFY2(ids.insert(k.id).second, k.id.c_str());
    QVERIFY2(k.symbol.empty() || symbols.insert(k.symbol).second, k.id.c_str());
    QVERIFY2(k.symbol.empty() || Symbol::valid_name(k.symbol), k.id.c_str());
    QVERIFY2(!k.label.empty() && !k.section.empty() && k.help.size() > 30 && k.help.back() == '.',
             k.id.c_str());
    QVERIFY2(k.group >= group, "groups are together, in the order of the form");
    QVERIFY2((k.type == KnobType::Choice || k.type == KnobType::ChoiceList) == !k.choices.empty(),
             k.id.c_str());
    QVERIFY(!accepted_values(k).empty());
    group = k.group;
  }
  QVERIFY(ids == std::set<std::string>(std::begin(kIds), std::end(kIds)));
  QCOMPARE(knob("kv_heads").flag(), std::string("--kv-heads"));
  QCOMPARE(knob("rank_order").choices.size(), size_t{24});
  QCOMPARE(find_knob("preset"), nullptr);
  QCOMPARE(QString::fromUtf8(group_label(KnobGroup::Parallelism).data()), QString("Parallelism"));
}

void KnobsTest::every_knob_data() {
  QTest::addColumn<QByteArray>("id");
  for (const Knob& k : knobs()) QTest::newRow(k.id.c_str()) << QByteArray::fromStdString(k.id);
}

// Each value reads back as it was written, and changes nothing else.
void KnobsTest::every_knob() {
  QFETCH(QByteArray, id);
  const Knob& k = knob(id.constData());
  std::vector<std::string> values;
  switch (k.type) {
    case KnobType::Integer:
      values = {std::to_string(k.min), std::to_string(k.max), std::to_string(k.min + 1)};
      break;
    case KnobType::Decimal:
      values = k.max > 1000 ? std::vector<std::string>{"1", "1.25", "2.5", "1.001"}
                            : std::vector<std::string>{"0", "0.25", "0.999", "1"};
      break;
    case KnobType::IntegerList: values = {"", "8", "9,8,8,7", "0,1,0"}; break;
    case KnobType::Boolean: values = {"true", "false"}; break;
    case KnobType::ChoiceList:
      values = {"", k.choices.back().value, k.choices[0].value + "," + k.choices[1].value};
      break;
    case KnobType::Choice:
      for (const KnobChoice& choice : k.choices) values.push_back(choice.value);
      break;
    case KnobType::Text:
      values = k.id == "variants"
                   ? std::vector<std::string>{"", "full: global heads=8 head_dim=512; wide: layer ffn=64"}
               : k.id == "weight_formats"
                   ? std::vector<std::string>{"", "attention=fp8-block, expert_up=mxfp4", "head=int4-g32"}
                   : std::vector<std::string>{"", "dense*3, moe*", "(linear*3, full)*"};
      break;
  }
  for (const std::string& value : values) {
    Design design = default_design();
    const auto problem = set_knob(design, k, value);
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
    QCOMPARE(knob_text(design, k), value);
    const Design fresh = default_design();
    for (const Knob& other : knobs()) {
      if (other.id != k.id) QCOMPARE(knob_text(design, other), knob_text(fresh, other));
    }
    QVERIFY(!set_knob(design, k, knob_text(fresh, k)));
    QVERIFY(design == fresh);
  }
}

void KnobsTest::limits_data() { every_knob_data(); }

void KnobsTest::limits() {
  QFETCH(QByteArray, id);
  const Knob& k = knob(id.constData());
  if (k.type != KnobType::Integer && k.type != KnobType::IntegerList) return;
  for (const std::string& text : {std::to_string(k.min - 1), std::to_string(k.max + 1), std::string("-7"),
                                  std::string("99999999999999999999999999")}) {
    Design design = default_design();
    const auto problem = set_knob(design, k, text);
    QVERIFY2(problem, text.c_str());
    QCOMPARE(problem->where, k.id);
    QCOMPARE(problem->accepted, accepted_values(k));
    QVERIFY(design == default_design());
  }
}

void KnobsTest::texts_data() {
  QTest::addColumn<QByteArray>("id");
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("value");
  const auto row = [](const char* id, const char* text, const char* value) {
    QTest::addRow("%s '%s'", id, text) << QByteArray(id) << QByteArray(text) << QByteArray(value);
  };
  row("dp", "131,072", "131072");
  row("dp", "131 072", "131072");
  row("dp", "131_072", "131072");
  row("dp", "131'072", "131072");
  row("dp", "131\u202f072", "131072");
  row("dp", "131\u00a0072", "131072");
  row("dp", "  16 ", "16");
  row("dp", "0016", "16");
  row("ffn", "1,048,576", "1048576");
  row("seq", "8k", "8192");
  row("seq", "128 K", "131072");
  row("seq", "1,024k", "1048576");
  row("positions", "2k", "2048");
  row("batch", "4M tokens", "512");
  row("batch", "4194304 tok", "512");
  row("batch", "4,194,304 Tokens", "512");
  row("batch", "64k token", "8");
  row("batch", "1.5Mtok", "192");
  row("batch", "4000000 tokens", "488");
  row("batch", "1 token", "1");
  row("stage_layers", " 9, 8 ,8,7 ", "9,8,8,7");
  row("stage_layers", "  ", "");
  row("sequence_parallel", "On", "true");
  row("sequence_parallel", "no", "false");
  row("tied_embeddings", "1", "true");
  row("schedule", "1F1B", "1f1b");
  row("schedule", "GPipe", "gpipe");
  row("dtype", "FP16", "fp16");
  row("rank_order", "DP-tp-cp-pp", "dp-tp-cp-pp");
  row("accelerator", "a100-80gb", "a100-sxm-80gb");
  row("accelerator", "H100", "h100-sxm-80gb");
  row("accelerator", "B200-HGX-180GB", "b200-hgx-180gb");
}

void KnobsTest::texts() {
  QFETCH(QByteArray, id);
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, value);
  Design design = default_design();
  const auto problem = set_knob(design, knob(id.constData()), text.toStdString());
  QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  QCOMPARE(knob_text(design, knob(id.constData())), value.toStdString());
}

void KnobsTest::refused_data() {
  QTest::addColumn<QByteArray>("id");
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<ProblemCode>("code");
  const auto row = [](const char* id, const char* text, ProblemCode code) {
    QTest::addRow("%s '%s'", id, text) << QByteArray(id) << QByteArray(text) << code;
  };
  row("tp", "", ProblemCode::ValueMissing);
  row("tp", "eight", ProblemCode::NotANumber);
  row("tp", "2.5", ProblemCode::NotANumber);
  row("tp", "1,5", ProblemCode::NotANumber);
  row("tp", "13,1072", ProblemCode::NotANumber);
  row("tp", "1,,024", ProblemCode::NotANumber);
  row("tp", ",024", ProblemCode::NotANumber);
  row("tp", "1024,", ProblemCode::NotANumber);
  row("tp", "8e3", ProblemCode::NotANumber);
  row("tp", "-", ProblemCode::NotANumber);
  row("tp", "0x8", ProblemCode::NotANumber);
  row("tp", "0", ProblemCode::ValueTooSmall);
  row("tp", "-4", ProblemCode::ValueTooSmall);
  row("tp", "131073", ProblemCode::ValueTooLarge);
  row("batch", "1k", ProblemCode::AmbiguousSuffix);
  row("seq", "4M", ProblemCode::AmbiguousSuffix);
  row("batch", "4M", ProblemCode::AmbiguousSuffix);
  row("batch", "many tokens", ProblemCode::NotANumber);
  row("batch", "-4 tokens", ProblemCode::NotANumber);
  row("batch", "999999M tokens", ProblemCode::ValueTooLarge);
  row("seq", "4M tokens", ProblemCode::NotANumber);
  row("seq", "99999999999999999k", ProblemCode::ValueTooLarge);
  row("stage_layers", "8,,8", ProblemCode::ValueMissing);
  row("stage_layers", "8,-8", ProblemCode::ValueTooSmall);
  row("stage_layers", "8;8", ProblemCode::NotANumber);
  row("sequence_parallel", "maybe", ProblemCode::NotABoolean);
  row("sequence_parallel", "", ProblemCode::NotABoolean);
  row("schedule", "2f2b", ProblemCode::UnknownChoice);
  row("accelerator", "abacus", ProblemCode::UnknownChoice);
  row("rank_order", "tp-dp-pp", ProblemCode::UnknownChoice);
  row("dtype", "int64", ProblemCode::UnknownChoice);
}

void KnobsTest::refused() {
  QFETCH(QByteArray, id);
  QFETCH(QByteArray, text);
  QFETCH(ProblemCode, code);
  Design design = default_design();
  const auto problem = set_knob(design, knob(id.constData()), text.toStdString());
  QVERIFY(problem);
  QVERIFY2(problem->code == code, problem->what.c_str());
  QCOMPARE(problem->where, id.toStdString());
  QVERIFY(!problem->accepted.empty());
  QVERIFY(problem->severity == Severity::Error);
  QVERIFY(design == default_design());
}

void KnobsTest::catalogue() {
  QVERIFY(accelerator_problems().empty());
  QCOMPARE(accelerators().size(), size_t{30});
  std::set<std::string> names;
  for (const Accelerator& item : accelerators()) {
    QVERIFY2(names.insert(item.id).second, item.id.c_str());
    for (const std::string& alias : item.aliases) {
      QVERIFY2(names.insert(alias).second, alias.c_str());
      QCOMPARE(find_accelerator(alias), &item);
    }
    QVERIFY(!item.name.empty() && !item.sources.empty());
    QVERIFY(item.bf16_tflops > 90 && item.memory_gbps > 400);
    QCOMPARE(item.memory_bytes, static_cast<int64_t>(item.memory_gb) << 30);
  }
  QCOMPARE(find_accelerator("h100-sxm-80gb")->memory_bytes, int64_t{80} << 30);
  QCOMPARE(find_accelerator("none"), nullptr);
  QCOMPARE(default_design().cluster.accelerator, accelerators()[2].id);
}

// Tokens that are no whole number of sequences are rounded, with a note.
void KnobsTest::batch_in_tokens() {
  Design design = default_design();
  const Knob& batch = knob("batch");
  QVERIFY(!rounding_note(design, batch, "4M tokens"));
  QVERIFY(!rounding_note(design, batch, "100"));
  QVERIFY(!rounding_note(design, knob("tokens"), "1T"));
  const auto note = rounding_note(design, batch, "4000000 tokens");
  QVERIFY(note && note->severity == Severity::Note);
  QVERIFY(note->code == ProblemCode::BatchRounded);
  QVERIFY2(note->what.find("rounded to 488 sequences, 3,997,696 tokens") != std::string::npos,
           note->what.c_str());
  design.workload.seq = 4096;
  QVERIFY(!set_knob(design, batch, "4M tokens"));
  QCOMPARE(design.workload.batch, int64_t{1024});
  QCOMPARE(step_tokens(design), int64_t{4194304});
  design.workload.mode = Mode::Decode;  // a step makes one token of each sequence
  QVERIFY(!set_knob(design, batch, "64 tokens"));
  QCOMPARE(design.workload.batch, int64_t{64});
  QCOMPARE(step_tokens(design), int64_t{64});
  QVERIFY(std::holds_alternative<Problem>(read_setting(batch, "4M tokens")));
}

QTEST_APPLESS_MAIN(KnobsTest)
#include "knobs_test.moc"
