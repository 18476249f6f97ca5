// Kinds of layers that a model makes of the kinds of its architecture, by choosing another mixer or another
// feed-forward part. The text of an architecture states them: "llama; linear = layer(mixer =
// gated_delta_net), wide = layer(feed_forward = moe + shared_mlp)". A design, a preset and a flag hold this
// text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "model/block.h"

namespace shardscape {

class ModelLibrary;
struct Templates;

struct MadeKind {
  std::string name;  // of the new kind; the name of a kind of the architecture replaces this kind
  std::string from;  // a kind of the architecture
  // Calls such as "self_attention(rope, window)"; a feed-forward part may add several: "moe + shared_mlp".
  // Empty: as in `from`.
  std::string mixer, feed_forward;
  bool operator==(const MadeKind&) const = default;
};

struct ArchitectureCall {
  std::string id;  // with options: "glm4_moe; qk_norm"
  std::vector<MadeKind> kinds;
};
// Whether the text names made kinds.
bool has_made_kinds(std::string_view text);
// A Problem names the column of the text.
Result<ArchitectureCall> parse_architecture_call(std::string_view text);
std::string architecture_call_text(const ArchitectureCall& call);

// The architecture with its made kinds, and the blocks that they call with options. axes and ops are those of
// the architecture without made kinds.
Result<std::pair<Architecture, std::vector<BlockTemplate>>> with_made_kinds(const std::string& text,
                                                                            const ModelLibrary& library,
                                                                            const Templates& stated);

}  // namespace shardscape
