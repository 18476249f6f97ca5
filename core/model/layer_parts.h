// The mixer and the feed-forward part of a kind of layers, and the calls that can take their places.
#pragma once

#include <string>
#include <vector>

#include "model/block.h"

namespace shardscape {

class ModelLibrary;

// Lines that together read one tensor and make one: a block, or several blocks and their sum.
struct Sublayer {
  std::vector<size_t> lines;  // of the section; empty if the layer has no such part, or several
  std::string input, output;
  std::string call;  // "self_attention(rope)", "moe + shared_mlp"
};
struct Sublayers {
  Sublayer mixer, feed_forward;
};
Sublayers parts_of(const SectionTemplate& kind, const ModelLibrary& library);

// What a layer uses a block for. A feed-forward block has an inner width; a mixer has other matrices. Both
// read and make one tensor over batch, seq and hidden.
enum class BlockUse { Other, Mixer, FeedForward };
BlockUse use_of(const BlockTemplate& block);

// A call that can be a part of a layer.
struct PartChoice {
  std::string call, label, help;
};
// All calls of this use: those in architectures of the library, then blocks that no architecture calls.
// Sorted by label.
std::vector<PartChoice> part_choices(BlockUse use, const ModelLibrary& library);

// The calls of a part that adds several.
std::vector<std::string> summands(const std::string& call);
// "self_attention(rope, window)" as a block of the library is named: "self_attention; rope, window"; and
// back.
std::string block_call(const std::string& call);
std::string call_text(const std::string& callee);

}  // namespace shardscape
