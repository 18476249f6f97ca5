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

int64_t patches_per_image(const Design& design) {
  const int64_t pixels = design.model.vision_patch, frames = design.model.vision_frames;
  if (pixels < 1 || frames < 1) return 0;
  const int64_t side = design.workload.image_size / pixels;
  return (design.workload.frames + frames - 1) / frames * side * side;
}

}  // namespace shardscape
