// Assemble + place: block templates become forward ops; placements follow op by op, redistributions are inserted.
#include <algorithm>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

using Names = std::map<std::string, TensorId>;

class Assembler {
 public:
  Assembler(SegmentBuilder& builder, const ModelLibrary& library) : b_(builder), library_(library) {}

  void run(const SectionTemplate& section) {
    Segment& s = b_.segment();
    s.name = section.name;
    Names names;
    names["tokens"] = constant("tokens");
    names["targets"] = constant("targets");
    if (s.kind != SegmentKind::Embedding) {
      const std::vector<Axis> axes{Axis::Batch, Axis::Seq, Axis::Hidden};
      s.input = b_.add_tensor("x", axes, b_.stream_placement(axes), b_.structure().dtype, TensorRole::Input);
      names["x"] = s.input;
    }
    for (const OpLine& line : section.lines) names[line.output] = call(line, names);
    TensorId out = names[section.lines.back().output];
    if (s.kind != SegmentKind::Head) {
      const std::vector<Axis> stream{Axis::Batch, Axis::Seq, Axis::Hidden};
      if (b_.tensor(out).axes != stream)
        fail(section.lines.back(), "the last line leaves " + axes_text(out), "a tensor over batch, seq, hidden");
      out = b_.redistribute(out, b_.stream_placement(stream), Phase::Forward, "the residual stream");
    }
    s.output = out;
  }

 private:
  [[noreturn]] static void fail(const OpLine& line, const std::string& what, const std::string& accepted) {
    Problem p;
    p.where = line.place.file + ":" + std::to_string(line.place.line);
    p.what = what;
    p.accepted = accepted;
    throw GraphError{p};
  }

  std::string axes_text(TensorId id) {
    std::string out;
    for (Axis axis : b_.tensor(id).axes) out += (out.empty() ? "" : ", ") + std::string(axis_name(axis));
    return "a tensor over " + out;
  }

  TensorId constant(const char* name) {
    const std::vector<Axis> axes{Axis::Batch, Axis::Seq};
    return b_.add_tensor(name, axes, b_.stream_placement(axes), DType::Int64, TensorRole::Constant);
  }

  static TensorId lookup(const OpLine& line, const Names& names, const std::string& name) {
    const auto it = names.find(name);
    if (it == names.end()) {
      std::string known;
      for (const auto& [other, id] : names) known += (known.empty() ? "" : ", ") + other;
      fail(line, "\"" + name + "\" is not defined before this line", "one of " + known);
    }
    return it->second;
  }

  TensorId call(const OpLine& line, const Names& names) {
    const BlockTemplate* block = library_.block(line.callee);
    Segment& s = b_.segment();
    std::vector<TensorId> args;
    for (const std::string& arg : line.args) args.push_back(lookup(line, names, arg));
    if (!block || !line.spec.empty()) {
      s.blocks.push_back({line.output, line.callee, line.callee});
      return op(line, args, line.output, line.callee);
    }
    s.blocks.push_back({line.output, block->id, block->label});
    if (args.size() != block->inputs.size())
      fail(line, line.callee + " takes " + std::to_string(block->inputs.size()) + " inputs, not " + std::to_string(args.size()),
           "one argument for each of the block's inputs");
    Names inside{{"tokens", names.at("tokens")}, {"targets", names.at("targets")}};
    for (size_t i = 0; i < args.size(); ++i) {
      if (b_.tensor(args[i]).axes != block->inputs[i].axes)
        fail(line, "\"" + line.args[i] + "\" is " + axes_text(args[i]), "the axes of the block's input \"" + block->inputs[i].name + "\"");
      inside[block->inputs[i].name] = args[i];
    }
    for (const BlockParam& param : block->params) inside[param.name] = parameter(line.output, param);
    for (const OpLine& inner : block->ops) {
      std::vector<TensorId> operands;
      for (const std::string& arg : inner.args) operands.push_back(lookup(inner, inside, arg));
      const auto label = block->labels.find(inner.output);
      inside[inner.output] = op(inner, operands, line.output + "." + inner.output,
                                label == block->labels.end() ? inner.output : label->second);
    }
    pack(*block, inside);
    // A block that came to nothing (dropout without dropping) is not there.
    const int instance = static_cast<int>(s.blocks.size()) - 1;
    if (s.ops.empty() || s.ops.back().block != instance) s.blocks.pop_back();
    return inside.at(block->output);
  }

  TensorId parameter(const std::string& instance, const BlockParam& param) {
    const TensorId id = b_.add_tensor(instance + "." + param.name, param.axes, b_.parameter_rules().place(param.axes),
                                      b_.structure().dtype, TensorRole::Parameter);
    const bool padded = std::find(param.axes.begin(), param.axes.end(), Axis::Vocab) != param.axes.end();
    b_.segment().params.push_back({id, -1, b_.structure().tied ? param.tied : std::string(), padded});
    return id;
  }

  // Outputs that the profile keeps in one buffer share a storage; a view that is saved keeps all of it.
  void pack(const BlockTemplate& block, const Names& inside) {
    for (const auto& group : b_.profile().packed) {
      std::vector<TensorId> members;
      for (const std::string& name : group) {
        const auto it = inside.find(name);
        const bool made_here = std::any_of(block.ops.begin(), block.ops.end(), [&](const OpLine& l) { return l.output == name; });
        if (it != inside.end() && made_here && b_.segment().op(b_.tensor(it->second).producer).kind == OpKind::Einsum)
          members.push_back(it->second);
      }
      if (members.size() < 2) continue;
      Segment& s = b_.segment();
      const StorageId storage = s.tensor(members[0]).storage;
      Expr bytes;
      for (TensorId id : members) {
        bytes += local_bytes(s.tensor(id));
        const StorageId old = s.tensor(id).storage;
        for (Tensor& t : s.tensors)
          if (t.storage == old) t.storage = storage;  // views made in place move along
      }
      s.storages[static_cast<size_t>(storage)].bytes = bytes;
    }
  }

  // Axis of every letter, from the operands; a letter must mean one axis.
  std::map<char, Axis> letter_axes(const OpLine& line, const OpSpec& spec, const std::vector<TensorId>& operands) {
    std::map<char, Axis> axes;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Tensor& t = b_.tensor(operands[i]);
      if (spec.in[i].size() != t.axes.size())
        fail(line, "\"" + line.args[i] + "\" has " + std::to_string(t.axes.size()) + " dimensions, but its letters are \"" + spec.in[i] + "\"",
             "one letter per dimension");
      for (size_t d = 0; d < t.axes.size(); ++d) {
        const auto [it, fresh] = axes.emplace(spec.in[i][d], t.axes[d]);
        if (!fresh && it->second != t.axes[d])
          fail(line, std::string("letter '") + spec.in[i][d] + "' means both " + std::string(axis_name(it->second)) + " and " + std::string(axis_name(t.axes[d])),
               "one axis per letter");
      }
    }
    return axes;
  }

  TensorId op(const OpLine& line, std::vector<TensorId> operands, const std::string& name, const std::string& label) {
    const auto kind = op_kind_from_name(line.callee);
    if (kind == OpKind::Dropout && !b_.structure().dropout) return operands.at(0);
    if (!kind) fail(line, "\"" + line.callee + "\" is neither an op nor a block", "an op such as einsum, rms_norm, attention, add, or the id of a block");
    OpSpec spec = checked_spec(line, *kind, operands);
    const KernelRule* rule = b_.profile().rule(line.callee);
    if (!rule) fail(line, "the kernel profile " + b_.profile().id + " has no rule for " + line.callee, "a profile whose \"ops\" has \"" + line.callee + "\"");
    std::vector<int> kept = rule->saves_inputs;
    for (const KernelStat& stat : rule->stats)
      if (stat.replaces != -1) kept.push_back(stat.replaces);
    for (int operand : kept)
      if (operand < 0 || operand >= static_cast<int>(operands.size()))
        fail(line, "the kernel profile " + b_.profile().id + " keeps operand " + std::to_string(operand) + " of " + line.callee,
             "operands 0 to " + std::to_string(operands.size() - 1));
    const OpTraits& traits = op_traits(*kind);
    const auto axes = letter_axes(line, spec, operands);
    std::vector<Axis> out_axes;
    for (char letter : spec.out) out_axes.push_back(axes.at(letter));

    MeshAxes partial;
    LetterShards shards;
    if (*kind == OpKind::Add && sum_partial_operands(spec, operands)) {
      partial = b_.tensor(operands[0]).placement.partial;
      for (size_t d = 0; d < spec.in[0].size(); ++d) shards[spec.in[0][d]] = b_.tensor(operands[0]).placement.shards[d];
    } else {
      shards = b_.align(*kind, spec, operands, {}, Phase::Forward, label);
    }
    Placement placement = SegmentBuilder::result_placement(spec.out, shards, partial);
    if (!placement.partial.empty() && traits.accumulates_max) placement.reduce = Reduce::Max;

    Op made;
    made.name = name;
    made.label = label;
    made.kind = *kind;
    made.block = static_cast<int>(b_.segment().blocks.size()) - 1;
    made.inputs = operands;
    made.spec = spec.text();
    made.causal = spec.causal;
    made.window = spec.window && b_.structure().window;
    made.soft_cap = spec.soft_cap;
    made.alibi = spec.alibi;
    if (*kind == OpKind::Attention && b_.structure().ring) {
      made.ring = b_.structure().zigzag && spec.causal ? Ring::Zigzag : Ring::Plain;
      made.label += made.ring == Ring::Zigzag ? ", zigzag ring" : ", ring";
    }
    const TensorId out = b_.add_tensor(name, out_axes, placement, traits.float_result ? DType::FP32 : b_.structure().dtype,
                                       TensorRole::Activation);
    made.outputs = {out};
    if (rule->in_place) b_.tensor(out).storage = b_.tensor(operands[0]).storage;
    for (const KernelStat& stat : rule->stats) add_statistics(line, stat, spec, axes, shards, name, made.outputs);
    b_.add_op(std::move(made));
    // Heads that Ulysses spread over cp go back to where the stream has its sequence.
    if (*kind == OpKind::Attention && b_.structure().ulysses) {
      Placement home = b_.stream_placement(out_axes);
      home.shards[2] = b_.parameter_rules().of(Axis::Heads);
      return b_.redistribute(out, home, Phase::Forward, "the sequence shards of cp");
    }
    return out;
  }

  OpSpec checked_spec(const OpLine& line, OpKind kind, const std::vector<TensorId>& operands) {
    const auto spec = parse_op_spec(line.spec);
    if (!spec) fail(line, "the letters \"" + line.spec + "\" cannot be read", "letters per operand and of the result, such as bsd,df->bsf");
    const int wanted = op_traits(kind).operands, given = static_cast<int>(operands.size());
    const bool count_ok = wanted < 0 ? given >= 2 : given >= wanted && given <= wanted + op_traits(kind).optional;
    if (!count_ok || spec->in.size() != operands.size())
      fail(line, line.callee + " has " + std::to_string(operands.size()) + " arguments and letters for " + std::to_string(spec->in.size()),
           (wanted < 0 ? std::string("two or more") : std::to_string(wanted)) + " arguments with letters for each");
    if (!op_traits(kind).reduces && kind != OpKind::Attention) {
      const bool rows = kind == OpKind::PositionAdd;
      for (const std::string& in : spec->in)
        for (char letter : in)
          if (spec->out.find(letter) == std::string::npos && !(rows && letter == spec->in[1][0]))
            fail(line, std::string("letter '") + letter + "' is missing from the result of " + line.callee, "a result with all letters: only einsum, embed and the reductions sum over letters");
    }
    if (kind != OpKind::Attention && !spec->plain())
      fail(line, "\"" + line.spec + "\" has words after the letters", "letters only: causal, window, soft_cap and alibi belong to attention");
    if (spec->window && !spec->causal) fail(line, "a window without causal is not known", "bshe,btge,btge->bshe; causal, window");
    if (kind == OpKind::Attention && (spec->in[0].size() != 4 || spec->in[1].size() != 4 || spec->in[1] != spec->in[2]))
      fail(line, "attention cannot use the letters \"" + line.spec + "\"", "bshe,btge,btge->bshe: batch, seq, heads, head_dim");
    return *spec;
  }

  // Summands that are all Partial alike are added first, so that one reduction serves them all.
  bool sum_partial_operands(const OpSpec& spec, const std::vector<TensorId>& operands) {
    const Placement& first = b_.tensor(operands[0]).placement;
    if (first.partial.empty() || first.reduce != Reduce::Sum) return false;
    return std::all_of(operands.begin(), operands.end(), [&](TensorId id) { return b_.tensor(id).placement == first; }) &&
           std::all_of(spec.in.begin(), spec.in.end(), [&](const std::string& letters) { return letters == spec.in[0]; });
  }

  void add_statistics(const OpLine& line, const KernelStat& stat, const OpSpec& spec, const std::map<char, Axis>& axes,
                      const LetterShards& shards, const std::string& name, std::vector<TensorId>& outputs) {
    if (!b_.keeps(stat)) return;
    if (stat.when.rfind("sharded:", 0) == 0) {
      const auto it = shards.find(stat.when.back());
      if (it == shards.end() || it->second.empty()) return;
    }
    std::vector<Axis> stat_axes;
    Placement placement;
    std::string over = stat.over;
    if (over == "result") over = spec.out;
    if (over == "parameter") over = spec.in.back();
    if (over == "...") {  // one per row: the letters that the op's parameter does not have
      over = spec.out;
      std::erase_if(over, [&](char letter) { return spec.in.back().find(letter) != std::string::npos; });
    }
    for (char letter : over) {
      const auto it = axes.find(letter);
      if (it == axes.end()) fail(line, std::string("the profile's \"") + stat.name + "\" runs over '" + letter + "', which this op does not have", "letters of the op");
      stat_axes.push_back(it->second);
      const auto at = shards.find(letter);
      placement.shards.push_back(at == shards.end() ? MeshAxes{} : at->second);
    }
    const DType type = stat.dtype == DType::BF16 ? b_.structure().dtype : stat.dtype;
    for (int copy = 0; copy < stat.copies; ++copy)
      outputs.push_back(b_.add_tensor(name + "." + stat.name, stat_axes, placement, type, TensorRole::Statistic));
  }

  SegmentBuilder& b_;
  const ModelLibrary& library_;
};

}  // namespace

void assemble_section(SegmentBuilder& builder, const SectionTemplate& section, const ModelLibrary& library) {
  Assembler(builder, library).run(section);
}

}  // namespace shardscape
