// Block templates and architectures, as the JSON reader returns them: named inputs, parameters and forward op
// lines.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "model/axis.h"
#include "model/recompute_module.h"
#include "model/source_place.h"
#include "model/weight_format.h"

namespace shardscape {

// `if name` or `unless name` behind a line.
struct LineCondition {
  std::string option;
  bool wanted = true;  // false: `unless`
  int at = 0;          // characters of the line before the option
};

// One line of a template: an op such as `q = einsum[bsd,dhe->bshe](x, wq)`, or a call of another block such
// as `n = rms_norm(x)` or `a = attention(n; qk_norm, rope)`. A line may end in conditions: `if bias unless
// rope`. In the library, lines are resolved (block_options.h): they have neither options nor conditions.
struct OpLine {
  std::string output;
  std::string callee;                     // op kind or block id
  std::string spec;                       // text between [ and ], may be empty
  std::vector<std::string> args;          // inputs, parameters or results of earlier lines
  std::vector<std::string> options;       // of the called block
  std::vector<LineCondition> conditions;  // the line counts if all hold
  SourcePlace place;                      // of the first character
  // Characters of the line before the callee, before its letters and before each argument.
  int callee_at = 0, spec_at = 0;
  std::vector<int> args_at;
  SourcePlace callee_place() const { return place.further(callee_at); }
  SourcePlace spec_place() const { return place.further(spec_at); }
  SourcePlace arg_place(size_t arg) const { return place.further(arg < args_at.size() ? args_at[arg] : 0); }
};

// Name of an option of a block or an architecture, and what it does.
using BlockOptions = std::vector<std::pair<std::string, std::string>>;

// Parses one line that starts at the place. A Problem names the column and the expected token.
Result<OpLine> parse_op_line(const std::string& text, const SourcePlace& place);

struct BlockInput {
  std::string name;
  std::vector<Axis> axes;
};

struct BlockParam {
  std::string name;
  std::vector<Axis> axes;
  // Not empty: all parameters with this key are one parameter if the model ties embeddings.
  std::string tied;
  // Not empty: all parameters with this key are always one parameter.
  std::string shared;
  // Column parallel: the matrix product is sharded over tp by the parameter's last dimension, and its result
  // is gathered.
  bool column = false;
  bool buffer = false;           // not trained by gradients, float32: the balance bias of a router
  std::optional<DType> dtype{};  // stored in this type, whatever the data type of the model
  bool counted = true;           // as a parameter of the model; false only for buffers, such as tables of ids
  // Matrices that a checkpoint may quantize (weight_format.h). Their input axes come first, after the axis of
  // experts.
  std::optional<WeightRole> role{};
};

struct BlockTemplate {
  std::string id, label, help;
  std::string title;  // in lists of blocks, which show blocks with one label apart
  // Not empty: the block is a call of another block, "self_attention; rope, window". It has no lines.
  std::string is;
  std::vector<BlockInput> inputs;
  std::vector<BlockParam> params;
  std::vector<OpLine> ops;
  std::string output;  // name of the result
  // Tensors that inference caches per token. Empty: keys and values as attention reads them.
  std::vector<std::string> cached;
  std::map<std::string, DType> cached_types;  // of cached tensors with a type that no model changes
  std::map<std::string, DType> fp8_types;     // of cached tensors, where caches are in FP8
  std::set<std::string> windowed;             // cached tensors of which every sequence has a window
  // Op outputs whose op reads the whole sequence of the rank's part of cp, although sequence parallelism
  // splits the residual stream: all ranks of tp repeat the op.
  std::set<std::string> whole_sequence;
  std::map<Axis, std::string> without;  // the replacement block for models without the axis
  // The replacement block for decode, where a step makes one token per sequence. Empty: this block.
  std::string decode;
  std::map<std::string, std::string> labels;           // op output -> display name
  RecomputeModules modules;                            // recompute modules that contain the whole block
  std::map<std::string, RecomputeModules> op_modules;  // op output -> further modules of this op alone
  BlockOptions options;                                // that a call may name
  SourcePlace place;
};

// A chain of block calls. `x` is the output of the previous section; the output of the last line goes to the
// next section.
struct SectionTemplate {
  std::string name;  // "embedding", "layer", "head"
  std::vector<OpLine> lines;
};

// The vision tower of a model. Three parts run one after the other: the embedding of patches, which reads the
// constant `patches` over batch, seq and patch_inputs; a layer, vision_layers times; the projector, whose
// input `x` is over batch, seq and vision_hidden and whose result over batch, image_tokens and hidden
// replaces tokens of the language model. Inside the parts, batch counts images and seq the patches of one
// image. Inside patches and layer, hidden, heads, kv_heads, head_dim, ffn and positions are sizes of the
// tower.
struct TowerTemplate {
  std::string id;
  // Between patches and projector, images have one token more than patches. `patches` is then over batch,
  // patches and patch_inputs.
  bool class_token = false;
  // Attention sees the patches of one frame, so each frame of a video is an image of its own.
  bool frames_apart = false;
  SectionTemplate patches, layer, projector;
  // Results of lines of the projector, whose own result is that of the last other line. The first is added to
  // the tokens of images behind the first layer of the language model, the second behind the second layer,
  // and so on (DeepStack, arXiv 2406.04334).
  std::vector<std::string> deepstack;
  SectionTemplate norm;  // lines before those of the projector that belong to the tower; may be empty
  bool empty() const { return layer.lines.empty(); }
};

// A tensor that one layer makes and later layers read: keys that an indexer picked, or keys and values.
struct CarriedTensor {
  std::string name;    // in lines of later layers
  std::string line;    // of the layer that makes it: the name of the result of a line,
  std::string result;  // or of a result inside the block that the line calls; empty: the line's own result
  std::vector<Axis> axes;
  std::optional<DType> dtype{};  // nullopt: the model's type
  bool cached = false;           // a tensor that inference caches: in decode, later layers read the cache
  bool in_stream = false;        // split over ranks as the residual stream
  // A result of the projector, added to the tokens of images behind the language model's layer of this number
  // (TowerTemplate::deepstack). -1: lines of layers make and read the tensor.
  int64_t added_to = -1;
};
// Whether layers with these lines read the tensor, or make it. A layer that reads it does not make it.
bool reads(const SectionTemplate& section, const CarriedTensor& tensor);
bool makes(const SectionTemplate& section, const CarriedTensor& tensor);
// Bits of masks of carried tensors.
inline constexpr size_t kMaxCarried = 8;

// A model layout. Layer i has kind kinds[pattern[i % pattern.size()]], except that the first dense_layers
// layers have kind `lead`.
struct Architecture {
  std::string id;
  // Axes of the residual stream, the tensor between sections: batch and sequence first, hidden last. Each
  // token has one vector of the hidden size, or several along the axes in between.
  std::vector<Axis> stream{Axis::Batch, Axis::Seq, Axis::Hidden};
  SectionTemplate embedding, head;
  // Follows the head, once per depth of multi-token prediction. No lines: no multi-token prediction.
  SectionTemplate mtp;
  // The kind of layers whose sizes the modules of multi-token prediction have. Empty: the sizes of the model.
  std::string mtp_variant;
  std::vector<SectionTemplate> kinds;
  TowerTemplate tower;   // empty without a vision tower; only its id until all files are read
  std::string language;  // the architecture of the sections above, in a file that adds only a tower
  std::vector<int> pattern;
  int lead = -1;  // index into kinds; -1: no lead kind
  // Attention residuals: by kind of layer, the kind that stands for it in the first layer of a residual
  // block.
  std::map<std::string, std::string> block_start;
  std::vector<CarriedTensor> carries;
  // Results of lines of layers. The collectives of the blocks that these lines call run while other blocks of
  // the layer, which do not need their results, compute.
  std::set<std::string> concurrent;
  BlockOptions options;  // that a model may name behind the architecture: "glm4_moe; qk_norm"
  SourcePlace place;
  // Over all blocks that the lines call: the axes of parameters, and the op kinds. A tower has axes of its
  // own, because its hidden size is not that of the language model.
  std::bitset<kAxisCount> axes, tower_axes;
  std::set<std::string> ops;
  bool uses(Axis axis) const { return axes.test(static_cast<size_t>(axis)); }
};

}  // namespace shardscape
