// Symbols that count layers and microbatches on a stage. Each stage binds its own values.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

// Layers of kind k on a stage: Ls (one kind), or Ls0, Ls1, ... (several kinds).
Symbol stage_layers_symbol(const Graph& graph, int kind);
// Microbatches of which a stage holds the activations of the embedding (nfe) or the head (nfh) at its peak.
// Each chunk of several has its own number in flight, hence a symbol; a stage of one chunk uses nf.
Symbol end_in_flight_symbol(bool head);
// Split backwards: the microbatches among nfe and nfh whose weight gradients are still deferred: nze, nzh.
Symbol end_deferred_symbol(bool head);
// Classes of layers of one kind on a stage. Block recompute, groups of several layers and offloading lead to
// several classes; otherwise there is one.
std::vector<LayerClass> layer_classes(const Structure& structure);
// What an instance of the embedding, of the head or of a part of a vision tower saves.
CheckpointPolicy end_policy(const Segment& segment);
// Layers of kind k and of this class on a stage. La: CheckpointPolicy::Activations; Lc:
// CheckpointPolicy::Input; Li: CheckpointPolicy::Nothing. Suffix o: offloaded. Then the kind, if there are
// several kinds. Ls if there is one class.
Symbol layer_count_symbol(const Graph& graph, int kind, LayerClass of);
// Layers times microbatches, where chunks hold different numbers of microbatches (Structure::chunkwise). In
// flight: Lfa, Lfc, Lfi, or Lf. With deferred weight gradients: Lza, Lzc, Lzi, or Lz.
Symbol layers_in_flight_symbol(const Graph& graph, int kind, LayerClass of);
Symbol layers_deferred_symbol(const Graph& graph, int kind, LayerClass of);
// Messages that a stage sends per microbatch: nx. Only where the ends of the model do not determine the
// number (ChunkLayout::Vee).
Symbol messages_symbol();
// Residual blocks: vectors per token in the message to the next stage (Rs) and from the previous stage (Rr).
Symbol vectors_sent_symbol();
Symbol vectors_received_symbol();
// Carried tensors: messages with the tensor of this index that a stage sends to the next stage per microbatch
// (Cs0, Cs1, ...), and that it receives from the previous stage (Cr0, Cr1, ...). Virtual stages are summed.
Symbol carried_sent_symbol(int index);
Symbol carried_received_symbol(int index);
// Offloaded layers of kind k that are on the device, minus layers of this kind whose backward is done: Lta,
// Ltc.
Symbol offloaded_layers_on_device_symbol(const Graph& graph, int kind, LayerClass of);
// Layers of kind k that are recomputed at the same time: Lw. Among these, layers after the first of their
// group: Lv. Only if counts_replayed; otherwise always one layer.
Symbol layers_replayed_symbol(const Graph& graph, int kind);
Symbol inner_replayed_symbol(const Graph& graph, int kind);
bool counts_replayed(const Graph& graph);
// Recomputed layers of kind k that are not the last of their group: Lr. Only with groups of several layers.
Symbol layers_followed_symbol(const Graph& graph, int kind);
// Layers of kind k in the whole model: L, or L0, L1, ...
Symbol model_layers_symbol(const Graph& graph, int kind);
// Instances of a segment in the whole model: layers of its kind, layers of the tower, or 1.
Expr instances_in_model(const Graph& graph, int segment);

}  // namespace shardscape
