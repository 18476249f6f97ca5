// Checks the split of the vision tower, and the images that it reads.
#include <cmath>

#include "base/number_text.h"
#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "design/vision.h"
#include "mesh/pipeline_layout.h"

namespace shardscape {
namespace {

// The inner width of the projector, or of the convolutions in front of it.
int64_t projector_width(const Design& d) {
  if (tower_uses(d, Axis::ProjectorWidth)) return d.model.vision_projector;
  return d.model.vision_hidden * (tower_uses(d, Axis::ConvTaps) ? 2 : d.model.vision_merge);
}

void check_tower_split(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range(
          {"tp", "vision_heads", "vision_ffn", "vision_hidden", "vision_merge", "vision_projector"}) ||
      tp_splits_tower(d, d.parallel.tp) || checks.record_first("tp"))
    return;
  const ModelSpec& m = d.model;
  std::vector<Fix> fixes{set_to("vision_parallel", std::string("data"))};
  offer(fixes, "tp", tp_at_most(d, d.parallel.tp - 1));
  checks.error(ProblemCode::TowerIndivisibleByTp, "tp",
               grouped(m.vision_heads) + " heads, an FFN size of " + grouped(m.vision_ffn) +
                   " and a projector of width " + grouped(projector_width(d)) +
                   " of the vision tower do not all split over tp = " + grouped(d.parallel.tp),
               "a common divisor of these sizes, or vision_parallel data", std::move(fixes));
}

// Sides of images that split into whole patches and whole tokens.
int64_t image_step(const ModelSpec& m) {
  const auto side = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(m.vision_merge))));
  return m.vision_patch * (side * side == m.vision_merge ? side : m.vision_merge);
}

bool check_size(Checks& checks) {
  const Design& d = checks.design;
  const int64_t size = d.workload.image_size, step = image_step(d.model);
  if (size % step == 0) return true;
  if (checks.record_first("image_size")) return false;
  std::vector<Fix> fixes;
  offer(fixes, "image_size", size / step * step);
  if (const int64_t above = (size / step + 1) * step; above <= kMaxImageSize)
    offer(fixes, "image_size", above);
  checks.error(ProblemCode::ImageSizeIndivisible, "image_size",
               "an image of " + grouped(size) + " x " + grouped(size) +
                   " pixels does not split into patches of " + grouped(d.model.vision_patch) +
                   " pixels and tokens of " + grouped(d.model.vision_merge) + " patches",
               "a multiple of " + grouped(step), std::move(fixes));
  return false;
}

void check_length(Checks& checks) {
  const Design& d = checks.design;
  const int64_t images = d.workload.images, seq = d.workload.seq,
                tokens = images_per_sequence(d) / images * patches_per_image(d) / d.model.vision_merge;
  if (tokens <= seq / images || checks.record_first("images")) return;
  checks.error(ProblemCode::ImagesExceedSequence, "images",
               grouped(images) + (images == 1 ? " image of " : " images of ") + grouped(tokens) +
                   " tokens do not fit into a sequence of " + grouped(seq) + " tokens",
               "at most " + grouped(seq) + " image tokens", {set_to("images", seq / tokens)});
}

// Two convolutions with stride 2 along each side make one token of 16 patches.
void check_convolutions(Checks& checks) {
  constexpr int64_t kMerged = 16;
  const int64_t merged = checks.design.model.vision_merge;
  if (!tower_uses(checks.design, Axis::ConvTaps) || !checks.in_range({"vision_merge"}) || merged == kMerged ||
      checks.record_first("vision_merge"))
    return;
  checks.error(ProblemCode::TowerMergeFixed, "vision_merge",
               "the two convolutions of the vision tower merge " + grouped(kMerged) +
                   " patches into one token, not " + grouped(merged),
               grouped(kMerged), {set_to("vision_merge", kMerged)});
}

void check_sharing(Checks& checks) {
  const Design& d = checks.design;
  if (d.workload.vision_parallel != VisionParallel::Data ||
      !checks.in_range({"microbatch", "images", "tp", "cp"}))
    return;
  const int64_t images = d.workload.microbatch * images_per_sequence(d),
                ranks = d.parallel.tp * d.parallel.cp;
  if (images % ranks == 0 || checks.record_first("vision_parallel")) return;
  checks.error(
      ProblemCode::ImagesIndivisible, "vision_parallel",
      grouped(images) + " images of a microbatch do not split over tp x cp = " + grouped(ranks) + " ranks",
      "a multiple of " + grouped(ranks) + " images in a microbatch, or vision_parallel tensor",
      {set_to("vision_parallel", std::string("tensor"))});
}

// A stage of its own sends tokens of images, not the residual stream, so it has no other virtual stage.
void check_stage(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"pp", "virtual_stages", "schedule"}) || !has_vision_stage(d)) return;
  const Fix first = set_to("vision_stage", std::string("first"));
  const PipelineLayout places = pipeline_layout(d.parallel);
  if ((places.layout != ChunkLayout::Round || places.chunks > 1) && !checks.record_first("vision_stage"))
    checks.error(ProblemCode::VisionStageChunks, "vision_stage",
                 "a vision tower on a stage of its own needs one virtual stage per stage",
                 "first, or a schedule without virtual stages", {first});
  if (const std::vector<int64_t>& list = d.parallel.stage_layers;
      !list.empty() && list.front() != 0 && !checks.record_first("stage_layers"))
    checks.error(ProblemCode::VisionStageLayers, "stage_layers",
                 "stage_layers gives " + grouped(list.front()) +
                     " layers to the first stage, which holds only the vision tower",
                 "0 as the first number, or vision_stage first", {first});
  if (d.model.tied_embeddings && d.parallel.pp > 2 && !checks.record_first("vision_stage"))
    checks.error(ProblemCode::VisionStageTied, "vision_stage",
                 "a vision tower on a stage of its own moves the embedding, which is tied to the head, to "
                 "the second stage",
                 "first, or pp = 2", {first, set_to("pp", 2)});
}

}  // namespace

bool tp_splits_tower(const Design& design, int64_t tp) {
  const ModelSpec& m = design.model;
  if (!has_tower(design) || design.workload.vision_parallel == VisionParallel::Data) return true;
  return m.vision_heads % tp == 0 && m.vision_ffn % tp == 0 && projector_width(design) % tp == 0;
}

void check_vision(Checks& checks) {
  if (!has_tower(checks.design)) return;
  check_tower_split(checks);
  check_convolutions(checks);
  if (!runs_tower(checks.design) || !checks.in_range({"images", "image_size", "frames", "vision_patch",
                                                      "vision_frames", "vision_merge", "seq"}))
    return;
  if (check_size(checks)) check_length(checks);
  check_sharing(checks);
  check_stage(checks);
}

}  // namespace shardscape
