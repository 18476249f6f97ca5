// The images of a workload as the vision tower of the model sees them.
#pragma once

#include "design/design.h"
#include "model/axis.h"

namespace shardscape {

bool has_tower(const Design& design);
// Whether blocks of the tower have parameters along the axis. Inside a tower, axes mean its own sizes.
bool tower_uses(const Design& design, Axis axis);
// Whether passes run the tower: in training and prefill, with images.
bool runs_tower(const Design& design);
// Whether the tower has a pipeline stage of its own.
bool has_vision_stage(const Design& design);
// Stages that hold layers of the language model.
int64_t language_stages(const Design& design);
// Patches of one image or video: ceil(frames / frames of a patch) x (image_size / vision_patch)^2, or those
// of one frame if the tower takes frames apart (TowerTemplate::frames_apart). 0 for a model without the sizes
// of a tower.
int64_t patches_per_image(const Design& design);
// Images of a sequence as the tower counts them (I): videos count with their frames if it takes these apart.
int64_t images_per_sequence(const Design& design);

}  // namespace shardscape
