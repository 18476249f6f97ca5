// Block templates and architectures as read from JSON: named inputs, parameters and forward op lines.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "model/axis.h"
#include "model/recompute_module.h"

namespace shardscape {

struct SourcePlace {
  std::string file;  // relative to the data folder, "models/blocks/mlp.json"
  int line = 0;      // 1-based
};

// One line of a template: `q = einsum[bsd,dhe->bshe](x, wq)` or a call of another block `n = rms_norm(x)`.
struct OpLine {
  std::string output;
  std::string callee;               // op kind or block id
  std::string spec;                 // text in [], may be empty
  std::vector<std::string> args;    // names defined above, inputs or parameters
  SourcePlace place;
};

// The message carries the column and what was expected there.
std::variant<OpLine, Problem> parse_op_line(const std::string& text, const SourcePlace& place);

struct BlockInput {
  std::string name;
  std::vector<Axis> axes;
};

struct BlockParam {
  std::string name;
  std::vector<Axis> axes;
  std::string tied;    // non-empty: the same parameter wherever this key is used and the model ties it
  std::string shared;  // non-empty: the same parameter wherever this key is used
  bool column = false; // a product with it is split over tp by its last dimension, then gathered (column parallel)
  bool buffer = false; // not trained by gradients, in float32: a router's balance bias
  std::optional<DType> dtype{};  // kept in this type whatever the model's
};

struct BlockTemplate {
  std::string id, label, help;
  std::vector<BlockInput> inputs;
  std::vector<BlockParam> params;
  std::vector<OpLine> ops;
  std::string output;                         // name of the tensor it returns
  std::vector<std::string> cached;            // what inference keeps of it per token; empty: keys and values as attention reads them
  std::map<Axis, std::string> without;        // the block that stands in for it in a model that lacks this axis
  std::string decode;                         // the block that stands in for it where inference makes one token per sequence; empty: itself
  std::map<std::string, std::string> labels;  // op output -> what people call the op
  RecomputeModules modules;                   // what selective recomputation may choose that all ops are part of
  std::map<std::string, RecomputeModules> op_modules;  // op output -> the same, of this op alone
  SourcePlace place;
};

// A chain of block calls; `x` is what comes in from the section before, the last line's output goes on.
struct SectionTemplate {
  std::string name;  // "embedding", "layer", "head"
  std::vector<OpLine> lines;
};

// Layer i of the model is kinds[pattern[i % pattern.size()]]; the first dense_layers ones are of the kind lead instead.
struct Architecture {
  std::string id;
  SectionTemplate embedding, head;
  SectionTemplate mtp;  // after the head, once for every depth of multi-token prediction; no lines: it has none
  std::vector<SectionTemplate> kinds;
  std::vector<int> pattern;
  int lead = -1;  // none
  SourcePlace place;
  // Of all blocks that its lines call: axes of their parameters, and their kinds of op.
  std::bitset<kAxisCount> axes;
  std::set<std::string> ops;
  bool uses(Axis axis) const { return axes.test(static_cast<size_t>(axis)); }
};

}  // namespace shardscape
