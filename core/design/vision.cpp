#include "design/vision.h"

#include "design/validate/checks.h"
#include "model/library.h"

namespace shardscape {

bool has_tower(const Design& design) { return uses_axis(design, Axis::PatchInputs); }

bool tower_uses(const Design& design, Axis axis) {
  const Architecture* architecture = ModelLibrary::instance().architecture(design.model.architecture);
  return architecture && architecture->tower_axes.test(static_cast<size_t>(axis));
}

bool runs_tower(const Design& design) {
  return design.workload.images > 0 && design.workload.mode != Mode::Decode && has_tower(design);
}

bool has_vision_stage(const Design& design) {
  return design.workload.vision_stage == VisionStage::Own && design.parallel.pp > 1 && runs_tower(design);
}

int64_t language_stages(const Design& design) {
  return design.parallel.pp - (has_vision_stage(design) ? 1 : 0);
}

namespace {

// Frames of a video after the patches have merged some, rounded up.
int64_t merged_frames(const Design& design) {
  return (design.workload.frames + design.model.vision_frames - 1) / design.model.vision_frames;
}

bool frames_apart(const Design& design) {
  const Architecture* architecture = ModelLibrary::instance().architecture(design.model.architecture);
  return architecture && architecture->tower.frames_apart;
}

}  // namespace

int64_t patches_per_image(const Design& design) {
  const int64_t pixels = design.model.vision_patch;
  if (pixels < 1 || design.model.vision_frames < 1) return 0;
  const int64_t side = design.workload.image_size / pixels;
  return (frames_apart(design) ? 1 : merged_frames(design)) * side * side;
}

int64_t images_per_sequence(const Design& design) {
  return design.workload.images *
         (design.model.vision_frames > 0 && frames_apart(design) ? merged_frames(design) : 1);
}

}  // namespace shardscape
