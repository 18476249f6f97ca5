#include "graph/stage_symbols.h"

#include <string>

namespace shardscape {
namespace {

Symbol layers_symbol(const Graph& graph, const char* name, int kind) {
  return Symbol::intern(graph.one_kind() ? name : name + std::to_string(kind));
}

std::string class_letters(LayerClass of) {
  const char* const letter = of.checkpoint_policy == CheckpointPolicy::Activations ? "a"
                             : of.checkpoint_policy == CheckpointPolicy::Input     ? "c"
                                                                                   : "i";
  return std::string(letter) + (of.offloaded ? "o" : "");
}

}  // namespace

Symbol stage_layers_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "Ls", kind); }
Symbol end_in_flight_symbol(bool head) { return Symbol::intern(head ? "nfh" : "nfe"); }
Symbol end_deferred_symbol(bool head) { return Symbol::intern(head ? "nzh" : "nze"); }
Symbol vectors_sent_symbol() { return Symbol::intern("Rs"); }
Symbol vectors_received_symbol() { return Symbol::intern("Rr"); }
Symbol carried_sent_symbol(int index) { return Symbol::intern("Cs" + std::to_string(index)); }
Symbol carried_received_symbol(int index) { return Symbol::intern("Cr" + std::to_string(index)); }
Symbol messages_symbol() { return Symbol::intern("nx"); }

std::vector<LayerClass> layer_classes(const Structure& structure) {
  std::vector<LayerClass> out{
      {structure.recompute == Recompute::Full ? CheckpointPolicy::Input : CheckpointPolicy::Activations}};
  if (structure.recompute_block) out.push_back({CheckpointPolicy::Activations});
  if (structure.offload_activations)
    for (size_t i = 0, n = out.size(); i < n; ++i) out.push_back({out[i].checkpoint_policy, true});
  if (structure.recompute_groups) out.push_back({CheckpointPolicy::Nothing});
  return out;
}

CheckpointPolicy end_policy(const Segment& segment) {
  return segment.replay_end > segment.backward_begin ? CheckpointPolicy::Input
                                                     : CheckpointPolicy::Activations;
}

Symbol layer_count_symbol(const Graph& graph, int kind, LayerClass of) {
  return layers_symbol(
      graph, (layer_classes(graph.structure).size() == 1 ? "Ls" : "L" + class_letters(of)).c_str(), kind);
}
Symbol layers_in_flight_symbol(const Graph& graph, int kind, LayerClass of) {
  return layers_symbol(
      graph, ("Lf" + (layer_classes(graph.structure).size() == 1 ? "" : class_letters(of))).c_str(), kind);
}
Symbol layers_deferred_symbol(const Graph& graph, int kind, LayerClass of) {
  return layers_symbol(
      graph, ("Lz" + (layer_classes(graph.structure).size() == 1 ? "" : class_letters(of))).c_str(), kind);
}
Symbol offloaded_layers_on_device_symbol(const Graph& graph, int kind, LayerClass of) {
  return layers_symbol(graph, ("Lt" + class_letters({of.checkpoint_policy})).c_str(), kind);
}
Symbol layers_replayed_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "Lw", kind); }
Symbol inner_replayed_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "Lv", kind); }
Symbol layers_followed_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "Lr", kind); }
bool counts_replayed(const Graph& graph) {
  return graph.structure.recompute != Recompute::None &&
         (graph.structure.recompute_groups || !graph.one_kind());
}
Symbol model_layers_symbol(const Graph& graph, int kind) { return layers_symbol(graph, "L", kind); }
Expr instances_in_model(const Graph& graph, int segment) {
  const Segment& of = graph.segments[static_cast<size_t>(segment)];
  return of.kind == SegmentKind::Layer ? Expr(model_layers_symbol(graph, segment - 1)) : of.copies;
}

}  // namespace shardscape
