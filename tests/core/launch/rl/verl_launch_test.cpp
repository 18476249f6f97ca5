// Commands and YAML of verl: the training step of the actor.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "launch/launch_import.h"

using namespace shardscape;

namespace {

const char* const kCommand = R"---(N=2
python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 data.max_response_length=3072 \
  data.train_files="['a','b']" actor_rollout_ref.rollout.n=4 actor_rollout_ref.model.path=Qwen/Qwen3-8B \
  actor_rollout_ref.actor.ppo_mini_batch_size=64 \
  actor_rollout_ref.model.enable_gradient_checkpointing=True \
  actor_rollout_ref.actor.fsdp_config.optimizer_offload=True \
  trainer.nnodes=$N trainer.n_gpus_per_node=8 )---";

LaunchImport imported(std::string text) {
  LaunchRequest request;
  request.text = std::move(text);
  request.where = "run.sh";
  return import_launch(request);
}

std::string knob(const LaunchImport& read, const char* id) { return knob_text(read.design, *find_knob(id)); }

void check(const LaunchImport& read, std::initializer_list<std::pair<const char*, const char*>> values) {
  QVERIFY2(read.ok(), read.ok() ? "" : to_string(read.problems[0]).c_str());
  QCOMPARE(read.framework, std::string("verl"));
  for (const auto& [id, value] : values)
    QVERIFY2(knob(read, id) == value, (std::string(id) + " is " + knob(read, id) + ", not " + value).c_str());
}

LaunchUse use_of(const LaunchImport& read, const std::string& name) {
  for (const LaunchField& field : read.fields)
    if (field.name == name) return field.use;
  return LaunchUse::Assumed;
}

}  // namespace

class VerlLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  void fsdp() {
    const LaunchImport read = imported(std::string(kCommand) +
                                       "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
                                       "actor_rollout_ref.actor.entropy_coeff=0.001 "
                                       "actor_rollout_ref.actor.fsdp_config.fsdp_size=8\n");
    check(read, {{"layers", "36"},
                 {"dp", "16"},
                 {"dp_shard", "8"},
                 {"sync", "fsdp1"},
                 {"seq", "4096"},
                 {"batch", "256"},
                 {"microbatch", "2"},
                 {"recompute", "full"},
                 {"dtype", "bf16"},
                 {"grad_dtype", "fp32"}});
    QCOMPARE(read.gpus.value_or(0), int64_t(16));
    QVERIFY(use_of(read, "actor_rollout_ref.actor.entropy_coeff") == LaunchUse::NoCounterpart);
    QVERIFY(use_of(read, "actor_rollout_ref.actor.fsdp_config.optimizer_offload") == LaunchUse::NoEffect);
    QVERIFY(use_of(read, "data.train_files") == LaunchUse::NoEffect);
  }

  // 20000 tokens hold 4 sequences of 4096; with two ranks to a sequence, 9, of which 8 divide the 32
  // sequences of a replica.
  void microbatches_by_tokens() {
    const std::string
        tokens = std::string(kCommand) +
                 "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.strategy=fsdp2 "
                 "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=20000 ";
    check(imported(tokens), {{"microbatch", "4"}, {"sync", "fsdp2"}, {"cp", "1"}});
    const LaunchImport two = imported(tokens + "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2");
    check(two, {{"microbatch", "8"}, {"cp", "2"}, {"dp", "8"}, {"context", "ulysses"}});
    QVERIFY(use_of(two, "actor_rollout_ref.actor.use_dynamic_bsz") == LaunchUse::NoCounterpart);
  }

  void megatron() {
    const LaunchImport read = imported(
        std::string(kCommand) +
        "--config-name=ppo_megatron_trainer.yaml actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
        "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 "
        "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 "
        "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full "
        "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform "
        "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1\n");
    check(read, {{"tp", "2"},
                 {"pp", "2"},
                 {"dp", "4"},
                 {"sync", "distributed-optimizer"},
                 {"sequence_parallel", "true"},
                 {"seq", "4096"},
                 {"batch", "256"},
                 {"microbatch", "2"},
                 {"recompute", "full"},
                 {"dropout", "false"}});
  }

  void yaml() {
    check(imported("actor_rollout_ref:\n  model: {path: Qwen/Qwen3-8B}\n  rollout: {n: 8}\n"
                   "  actor:\n    strategy: fsdp\n    ppo_mini_batch_size: 32\n"
                   "    rollout_n: ${oc.select:actor_rollout_ref.rollout.n,1}\n"
                   "    ppo_micro_batch_size_per_gpu: 4\n"
                   "data: {max_prompt_length: 512, max_response_length: 512}\n"
                   "trainer: {nnodes: 1, n_gpus_per_node: 8}\n"),
          {{"dp", "8"}, {"seq", "1024"}, {"batch", "256"}, {"microbatch", "4"}});
  }

  void what_is_no_design_says_why() {
    const LaunchImport other = imported("python3 -m verl.trainer.fsdp_sft_trainer data.micro_batch_size=4\n");
    QVERIFY(!other.ok() && other.problems[0].accepted.find("main_ppo") != std::string::npos);
    const LaunchImport engine = imported(std::string(kCommand) + "actor_rollout_ref.actor.strategy=veomni\n");
    QVERIFY(!engine.ok() && engine.problems[0].accepted.find("megatron") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(VerlLaunchTest)
#include "verl_launch_test.moc"
