// Checks tensors that one layer makes and later layers read.
#include <algorithm>

#include "design/layer_sizes.h"
#include "design/validate/checks.h"
#include "mesh/pipeline_layout.h"
#include "model/library.h"

namespace shardscape {
namespace {

// The layers that make and read one carried tensor, in the order of the model.
struct CarriedLayers {
  int64_t unmade = -1;  // the first layer that reads the tensor before any layer makes it; -1: none
  // A reader behind the first layer of a stage whose maker is on an earlier stage; -1: none.
  int64_t split = -1, maker = -1;
};

CarriedLayers layers_of(const Design& design, const Architecture& architecture, const CarriedTensor& tensor) {
  const ModelLayers layers = layers_of(design.model, architecture);
  const std::vector<int64_t> stages = layers_per_virtual_stage(design);
  CarriedLayers out;
  int64_t maker = makes(architecture.embedding, tensor) ? -1 : -2, first = 0;
  size_t stage = 0;
  for (int64_t layer = 0; layer < design.model.layers; ++layer) {
    while (stage + 1 < stages.size() && layer >= first + stages[stage]) first += stages[stage++];
    const bool lead = layers.lead >= 0 && layer < design.model.dense_layers;
    const int kind = lead ? layers.lead : layers.pattern.at(layer, design.model.layers);
    const SectionTemplate* lines = section_of(architecture, layers.kinds[static_cast<size_t>(kind)].kind);
    if (lines && makes(*lines, tensor)) maker = layer;
    if (!lines || !reads(*lines, tensor)) continue;
    if (maker == -2 && out.unmade < 0) out.unmade = layer;
    if (maker < first && first > 0 && out.split < 0) {
      out.split = layer;
      out.maker = maker;
    }
  }
  return out;
}

std::string number(int64_t layer) { return "layer " + std::to_string(layer); }

}  // namespace

void check_carried(Checks& checks) {
  const Design& d = checks.design;
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  if (!architecture || !runs_carries(d, *architecture) ||
      !checks.in_range({"layers", "pp", "virtual_stages"}))
    return;
  for (const CarriedTensor& tensor : architecture->carries) {
    if (tensor.added_to >= 0) continue;
    const CarriedLayers found = layers_of(d, *architecture, tensor);
    if (found.unmade >= 0)
      checks.error(ProblemCode::CarriedUnmade, "layer_pattern",
                   number(found.unmade) + " reads \"" + tensor.name + "\", which no earlier layer produces",
                   "a pattern that begins with a layer that produces this tensor");
    else if (found.split >= 0 && tensor.cached && d.workload.mode != Mode::Train)
      checks.error(ProblemCode::CarriedCacheSplit, "pp",
                   number(found.split) + " reads the cache of " + number(found.maker) +
                       ", which is on an earlier stage",
                   "stages that keep the layers with a shared cache together", {set_to("pp", 1)});
  }
  if (d.workload.mode == Mode::Train && checks.in_range({"offload_activations"}) &&
      d.workload.offload_activations > 0)
    checks.error(ProblemCode::CarriedOffloaded, "offload_activations",
                 "later layers read tensors of earlier layers, so these tensors cannot move to the host", "0",
                 {set_to("offload_activations", 0)});
}

}  // namespace shardscape
