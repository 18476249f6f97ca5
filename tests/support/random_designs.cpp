#include "support/random_designs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "model/library.h"
#include "model/model_sizes.h"
#include "support/tiny_models.h"

namespace shardscape::test {
namespace {

class Draw {
 public:
  explicit Draw(std::mt19937& random) : random_(random) {}
  int64_t below(size_t n) { return static_cast<int64_t>(random_() % n); }
  bool chance(int percent) { return below(100) < percent; }
  int64_t of(const std::vector<int64_t>& values) { return values[static_cast<size_t>(below(values.size()))]; }
  // Sizes of 0 stay 0: the model lacks this part.
  void size(int64_t& field, const std::vector<int64_t>& values) {
    if (field > 0 && !values.empty()) field = of(values);
  }

 private:
  std::mt19937& random_;
};

void shrink(ModelSpec& m, Draw& draw) {
  for (const SmallSize& small : small_sizes()) {
    draw.size(m.*small.member, small.drawn);
    if (small.member == &ModelSpec::kv_heads && m.kv_heads > 0) {
      const bool grouped = draw.chance(50);
      m.kv_heads = grouped ? draw.of({1, 2, 4}) : m.heads;
    }
    if (small.member != &ModelSpec::expert_groups) continue;
    m.expert_groups = m.groups_per_token = 1;
    if (m.experts > 0 && draw.chance(30)) {
      m.expert_groups = draw.of({2, 4});
      m.groups_per_token = draw.of({1, 2, 3});
    }
  }
  if (draw.chance(20)) m.tied_embeddings = !m.tied_embeddings;
  if (!draw.chance(20)) return;
  // Multiples of the block length of quantized numbers.
  for (const auto field :
       {&ModelSpec::hidden, &ModelSpec::ffn, &ModelSpec::expert_ffn, &ModelSpec::head_dim, &ModelSpec::q_rank,
        &ModelSpec::kv_rank, &ModelSpec::nope_head_dim, &ModelSpec::value_head_dim, &ModelSpec::ssm_dt_rank})
    draw.size(m.*field, {128, 256});
}

void draw_layers(Design& d, Draw& draw) {
  const int64_t stages = d.parallel.pp * d.parallel.virtual_stages;
  if (stages > 16) return;
  d.parallel.stage_layers.assign(static_cast<size_t>(stages), 0);
  for (int64_t i = 0; i < d.model.layers; ++i)
    ++d.parallel.stage_layers[static_cast<size_t>(draw.below(d.parallel.stage_layers.size()))];
}

// Sets switches and choices of the knob table at random, including knobs that this file does not name.
void draw_choices(Design& d, Draw& draw) {
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Model || knob.id == "profile" || knob.id == "sync" ||
        knob.id.starts_with("vision_"))
      continue;
    if (knob.type == KnobType::Boolean && draw.chance(25))
      (void)set_knob(d, knob, draw.chance(70) ? "true" : "false");
    if (knob.type == KnobType::Choice && draw.chance(25))
      (void)set_knob(d, knob, knob.choices[static_cast<size_t>(draw.below(knob.choices.size()))].value);
    if (knob.type == KnobType::ChoiceList && draw.chance(40)) {
      std::string text;
      for (const KnobChoice& choice : knob.choices)
        if (draw.chance(40)) text += (text.empty() ? "" : ",") + choice.value;
      (void)set_knob(d, knob, text);
    }
  }
  for (const auto& [id, percent] : {std::pair{"sync", 60}, {"profile", 40}}) {
    const Knob& knob = *find_knob(id);
    if (draw.chance(percent))
      (void)set_knob(d, knob, knob.choices[static_cast<size_t>(draw.below(knob.choices.size()))].value);
  }
}

// Attention to compressed keys.
void draw_compressed(ModelSpec& m, Draw& draw) {
  m.kv_heads = m.heads;
  m.q_rank = std::max<int64_t>(m.q_rank, 6);
  m.compress_ratio = draw.of({2, 4});
  for (LayerVariant& kind : m.variants)
    for (auto& [row, value] : kind.sizes) value = draw.of({2, 4, 8});
  m.layer_pattern = draw.chance(50) ? "csa_hash, (hca, window)*" : "(window_hash, hca, csa)*";
  m.index_heads = draw.of({1, 2});
  m.index_dim = 128;
  m.index_top_k = draw.of({1, 3, 100});
  m.output_groups = draw.of({1, 2, 4});
  m.output_rank = draw.of({3, 8});
  m.streams = draw.of({1, 2, 4});
}

// A small tower, and images that it reads.
void draw_images(Design& d, Draw& draw) {
  for (const SmallSize& small : small_sizes())
    if (model_size(small.member).section == ModelSection::Vision)
      d.model.*small.member = small.tiny * (small.member == &ModelSpec::vision_merge ? 1 : draw.of({1, 2}));
  if (draw.chance(50)) d.workload.vision_training = VisionTraining::Frozen;
  if (draw.chance(50)) d.workload.vision_parallel = VisionParallel::Data;
  d.workload.images = draw.of({0, 1, 2, 4});
  d.workload.image_size = 2 * d.model.vision_patch * draw.of({1, 2});
  d.workload.frames = draw.of({1, 2, 4});
  if (draw.chance(30)) d.workload.vision_stage = VisionStage::Own;
  d.workload.vision_recompute = draw.chance(30);
}

// Formats in which inference stores matrices, by groups of roles.
void draw_formats(WeightFormats& formats, Draw& draw) {
  for (const WeightGroup& group : weight_groups()) {
    if (!draw.chance(40)) continue;
    const auto format = static_cast<WeightFormat>(draw.below(kWeightFormatCount));
    for (const WeightRole role : group.roles) formats[role] = format;
  }
  formats = without_plain(std::move(formats));
}

// A layer pattern with a variant, and sizes that are seldom set. The draws follow from the design, so that
// they do not change those of other fields.
void draw_own_sizes(Design& d) {
  ModelSpec& m = d.model;
  std::mt19937 random(
      static_cast<unsigned>(m.hidden + 7 * m.vocab + 31 * d.workload.seq + 57 * d.workload.batch));
  Draw draw(random);
  if (m.shared_experts > 0 && draw.chance(25)) m.shared_ffn = draw.of({8, 20, 24});
  if (m.ssm_head_dim > 0 && draw.chance(25)) m.ssm_heads = draw.of({4, 8, 12});
  if (m.compress_ratio > 0) draw_compressed(m, draw);
  if (m.architecture == "deepseek3" && draw.chance(40)) m.architecture = "deepseek3-sparse";
  if (m.architecture.starts_with("deepseek3-s")) {  // sparse, or with shared indexers
    m.q_rank = std::max<int64_t>(m.q_rank, 6);
    m.index_heads = draw.of({1, 2});
    m.index_dim = 128;
    m.index_top_k = draw.of({1, 3, 100});
  }
  if (m.linear_chunk > 0) {
    const int64_t groups = draw.of({2, 4, 8});
    (m.linear_key_heads > 0 ? m.linear_key_heads : m.linear_norm_groups) = groups;
    m.linear_value_heads = groups * draw.of({1, 2});
    m.linear_chunk = draw.of({4, 8, 64});
  }
  if (m.vision_layers > 0) draw_images(d, draw);
  if (!trains(d) && draw.chance(40)) draw_formats(m.weight_formats, draw);
  const Architecture* architecture = ModelLibrary::instance().architecture(m.architecture);
  if (!draw.chance(25) || !architecture) return;
  const auto& kinds = architecture->kinds;
  LayerVariant own{"own", kinds[static_cast<size_t>(draw.below(kinds.size()))].name, {}};
  const std::pair<int64_t ModelSpec::*, std::vector<int64_t>> sizes[] = {
      {&ModelSpec::heads, {2, 4, 8}},    {&ModelSpec::kv_heads, {1, 2, 4}}, {&ModelSpec::head_dim, {4, 8}},
      {&ModelSpec::ffn, {24, 32, 64}},   {&ModelSpec::window, {0, 2, 5}},   {&ModelSpec::expert_ffn, {8, 16}},
      {&ModelSpec::value_head_dim, {4}}, {&ModelSpec::kv_rank, {6, 12}}};
  for (const auto& [member, values] : sizes)
    if (m.*member > 0 && draw.chance(40))
      own.sizes[size_row(member)] = values[static_cast<size_t>(draw.below(values.size()))];
  m.variants = {own};
  std::string all;
  for (const SectionTemplate& kind : kinds) all += kind.name + ", ";
  m.layer_pattern = draw.chance(50) ? "own, (" + all + "own)*" : "(" + all + "own*2)*, own";
}

}  // namespace

Design random_design(std::mt19937& random) {
  Draw draw(random);
  Design d = default_design();
  const auto& presets = ModelLibrary::instance().presets();
  apply_preset(d, presets[static_cast<size_t>(draw.below(presets.size()))].id);
  d.parallel = {};
  shrink(d.model, draw);
  ParallelSpec& p = d.parallel;
  p.tp = draw.of({1, 1, 2, 2, 4});
  p.pp = draw.of({1, 1, 2, 3, 4});
  p.dp = draw.of({1, 2, 2, 3, 4, 8});
  p.cp = draw.of({1, 1, 1, 2, 4});
  WorkloadSpec& w = d.workload;
  w.seq = draw.of({8, 16, 32, 64});
  w.microbatch = draw.of({1, 1, 2, 4});
  w.batch = p.dp * w.microbatch * draw.of({1, 2, 3, 4, 6, 8});
  w.vocab_multiple = draw.of({1, 2, 16, 128});
  draw_choices(d, draw);
  if (d.model.experts > 0) {
    p.ep = draw.of({1, 2, 2, 4, 8});
    p.etp = draw.of({0, 0, 1, 2, 4});
    w.capacity_factor = draw.of({0, 0, 0, 1000, 1250, 2000});
    w.load_imbalance = draw.of({1000, 1000, 1500});
    if (p.dispatcher == Dispatcher::Flex) d.cluster.gpus_per_node = draw.of({1, 2, 4, 8});
  }
  if (p.cp > 1) p.ulysses_degree = draw.of({0, 0, 2, 4});
  if (draw.chance(50)) p.virtual_stages = draw.of({1, 2, 2, 3});
  if (p.tp > 1) p.dcp = w.seq % 3;  // 1 or 2, without a random draw that would change all later draws
  // Without a random draw that would change all later draws.
  p.forwards_first = w.batch % 3 == 0;
  w.gradient_accumulation_fusion = w.batch % 3 != 1;
  p.microbatch_group = draw.of({0, 0, 2, 3, 4, 5});
  if (draw.chance(20)) draw_layers(d, draw);
  if (draw.chance(40)) p.dp_shard = draw.of({0, 2, 4});
  p.ddp_bucket_size = draw.of({0, 0, 1, 1000, 20000});
  p.bucket_cap_mb = draw.of({1, 25});
  p.zero = {.reduce_bucket_size = draw.of({1000, 20000, 500'000'000}),
            .allgather_bucket_size = draw.of({1000, 500'000'000}),
            .prefetch_bucket_size = draw.of({0, 1000, 50'000'000}),
            .param_persistence_threshold = draw.of({0, 100, 100'000}),
            .max_live_parameters = draw.of({1000, 1'000'000'000}),
            .max_reuse_distance = draw.of({0, 1000, 1'000'000'000})};
  w.recompute_num_layers = draw.of({1, 1, 2, 3});
  if (draw.chance(20)) w.offload_activations = draw.of({1, 2, 3});
  draw_own_sizes(d);
  // Moments in blocks of 256 have no whole number of bytes in tiny models. A report refuses such states, but
  // a search does not count states on the host.
  if (w.offload_optimizer && w.moment_dtype == DType::Int8Block) w.moment_dtype = DType::FP32;
  return d;
}

std::optional<Design> repaired(Design d, std::mt19937& random) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Problem> problems = validate(d);
    if (!has_errors(problems)) {
      const bool small = d.world() <= kMaxRandomWorld && d.model.layers <= 16 && d.workload.batch <= 4096 &&
                         d.workload.seq <= 4096;
      return small ? std::optional(std::move(d)) : std::nullopt;
    }
    const std::vector<Fix>& fixes = problems.front().fixes;
    if (fixes.empty()) return std::nullopt;
    for (const auto& [id, text] : fixes[random() % fixes.size()].settings)
      if (const Knob* knob = find_knob(id)) (void)set_knob(d, *knob, text);
  }
  return std::nullopt;
}

}  // namespace shardscape::test
