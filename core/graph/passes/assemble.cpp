// Assemble and place: block templates become forward ops. Placements follow op by op; redistributions are
// inserted where placements differ.
#include <algorithm>
#include <utility>

#include "base/number_text.h"
#include "base/suggest.h"
#include "graph/draft_module.h"
#include "graph/passes/assembler.h"
#include "model/block_options.h"

namespace shardscape {
void Assembler::run(const SectionTemplate& section, const SectionTemplate& mtp) {
  Segment& s = b_.segment();
  const std::vector<Axis>& stream = b_.stream_axes();
  s.name = section.name;
  TensorNames names;
  names["tokens"] = constant("tokens");
  names["targets"] = constant("targets");
  if (s.kind != SegmentKind::Embedding) {
    s.input = b_.add_tensor("x", stream, b_.stream_placement(stream), b_.stream_dtype(), TensorRole::Input);
    names["x"] = s.input;
    if (!b_.structure().holds_vectors) b_.hold_last_vector(s.input);
  }
  if (s.kind == SegmentKind::Layer && b_.structure().draft_module)
    names["hidden"] = b_.add_tensor("hidden", stream, b_.stream_placement(stream), b_.stream_dtype(),
                                    TensorRole::Constant);
  read_carried(section, names);
  const bool serves = s.kind == SegmentKind::Head && !b_.structure().trains();
  if (serves && b_.structure().mode == Mode::Prefill) names["x"] = b_.last_token(s.input);
  TensorId out = names["x"];
  for (const OpLine& line : section.lines) {
    if (serves && reads_targets(line, library_)) continue;
    out = names[line.output] = call(line, names, line.output);
  }
  // The sampler needs all logits of a token.
  if (serves) {
    Placement whole = b_.tensor(out).placement;
    whole.shards.back().clear();
    out = b_.redistribute(out, whole, Phase::Forward, "the sampler");
  }
  part_ = ModelPart::Mtp;
  if (s.kind == SegmentKind::Head && !mtp.lines.empty())
    for (int64_t depth = 1; depth <= b_.structure().mtp_layers; ++depth) {
      // A depth of multi-token prediction looks one token further: the previous targets are its input
      // tokens (DeepSeek-V3, arXiv 2412.19437, section 2.2).
      names["tokens"] = names["targets"];
      names["targets"] = constant("targets_" + std::to_string(depth));
      for (const OpLine& line : mtp.lines)
        names[line.output] = call(line, names, "mtp" + std::to_string(depth) + "_" + line.output);
      out = names[mtp.lines.back().output];
    }
  if (s.kind == SegmentKind::Embedding)  // other lines may make carried tensors
    for (const OpLine& line : section.lines)
      if (line.output == "x") out = names.at("x");
  if (s.kind != SegmentKind::Head) out = to_stream(out, section.lines.back());
  if (s.kind == SegmentKind::Embedding && b_.structure().images)
    out = insert_images(out, section.lines.back());
  s.output = out;
  hand_on(section, names);
}

void Assembler::run_tower(const TowerTemplate& tower, const SectionTemplate& part) {
  Segment& s = b_.segment();
  s.name = part.name;
  part_ = ModelPart::Vision;
  TensorNames names;
  const bool projector = &part == &tower.projector;
  if (&part == &tower.patches) {
    const std::vector<Axis> axes{Axis::Batch, tower.class_token ? Axis::Patches : Axis::Seq,
                                 Axis::PatchInputs};
    names["patches"] = b_.add_tensor("patches", axes, b_.stream_placement(axes), b_.structure().dtype,
                                     TensorRole::Constant);
  } else {
    std::vector<Axis> axes = b_.stream_axes();
    if (projector) axes.back() = Axis::VisionHidden;
    const TensorRole role = b_.structure().frozen_tower ? TensorRole::Constant : TensorRole::Input;
    s.input = names["x"] = b_.add_tensor("x", axes, b_.stream_placement(axes), b_.stream_dtype(), role);
  }
  if (projector) {
    add_lines(tower.norm.lines, names);
    part_ = ModelPart::Projector;
  }
  s.output = add_lines(part.lines, names);
  if (!projector) {
    s.output = to_stream(s.output, part.lines.back());
    return;
  }
  const auto added = [&](const OpLine& line) {
    return std::find(tower.deepstack.begin(), tower.deepstack.end(), line.output) != tower.deepstack.end();
  };
  const auto own = std::find_if_not(part.lines.rbegin(), part.lines.rend(), added);
  s.output = image_tokens(names.at(own->output), *own);
  for (size_t i = 0; i < carries_.size(); ++i)
    for (const OpLine& line : part.lines)
      if (carries_[i].added_to >= 0 && line.output == carries_[i].line &&
          b_.structure().carried.made >> i & 1) {
        Carried entry{static_cast<int>(i)};
        entry.out = image_tokens(names.at(line.output), line);
        s.carried.push_back(entry);
      }
}

TensorId Assembler::image_tokens(TensorId made, const OpLine& line) {
  const std::vector<Axis> axes{Axis::Batch, Axis::ImageTokens, Axis::Hidden};
  if (b_.tensor(made).axes != axes)
    fail(ProblemCode::OpAxes, line, "the line leaves " + axes_text(b_.tensor(made).axes), axes_text(axes));
  Placement placement;
  placement.shards = {b_.structure().dp ? MeshAxes{MeshAxis::Dp} : MeshAxes{}, {}, {}};
  const TensorId out = b_.redistribute(made, placement, Phase::Forward, "the embedding of tokens");
  return b_.tensor(out).dtype == b_.structure().dtype ? out
                                                      : b_.cast(out, b_.structure().dtype, Phase::Forward);
}

TensorId Assembler::add_lines(const std::vector<OpLine>& lines, TensorNames& names) {
  TensorId out = -1;
  for (const OpLine& line : lines) out = names[line.output] = call(line, names, line.output);
  return out;
}

TensorId Assembler::to_stream(TensorId out, const OpLine& line) {
  // The stream of a model with residual blocks starts with one vector.
  const bool starts = b_.segment().kind == SegmentKind::Embedding && b_.structure().vectors > 0;
  const std::vector<Axis> wanted = starts ? std::vector<Axis>{Axis::Batch, Axis::Seq, Axis::Hidden}
                                          : b_.stream_axes();
  if (ungrown(b_.tensor(out).axes) != wanted)
    fail(ProblemCode::OpAxes, line, "the last line leaves " + axes_text(b_.tensor(out).axes),
         axes_text(wanted));
  out = b_.redistribute(out, b_.stream_placement(b_.tensor(out).axes), Phase::Forward, "the residual stream");
  return b_.tensor(out).dtype == b_.stream_dtype() ? out : b_.cast(out, b_.stream_dtype(), Phase::Forward);
}

TensorId Assembler::insert_images(TensorId stream, const OpLine& last) {
  if (b_.tensor(stream).axes.size() != 3)
    fail(ProblemCode::OpAxes, last, "tokens of images have no place in several residual streams",
         "a stream over batch, seq, hidden, or no images");
  const std::vector<Axis> axes{Axis::Images, Axis::ImageTokens, Axis::Hidden};
  const TensorRole role = b_.structure().frozen_tower ? TensorRole::Constant : TensorRole::Input;
  const TensorId images = b_.add_tensor("image_tokens", axes, b_.stream_placement(axes), b_.structure().dtype,
                                        role);
  b_.segment().input = images;
  b_.segment().blocks.push_back({"images", "insert_tokens", "Image tokens"});
  OpLine line = last;
  line.callee = template_name(OpKind::InsertTokens);
  line.spec = "bsd,vmd->bsd";
  line.options.clear();
  line.conditions.clear();
  return op(line, {stream, images}, "images", "Insert image tokens", {});
}

void Assembler::fail(ProblemCode code, const OpLine& line, const std::string& what,
                     const std::string& accepted) {
  fail(code, line.place, what, accepted);
}

void Assembler::fail(ProblemCode code, const SourcePlace& place, const std::string& what,
                     const std::string& accepted) {
  throw GraphError{{code, place_text(place), what, accepted}};
}

std::string Assembler::axes_text(const std::vector<Axis>& axes) {
  std::string out;
  for (Axis axis : axes) out += (out.empty() ? "" : ", ") + std::string(axis_name(axis));
  return "a tensor over " + out;
}

TensorId Assembler::constant(const std::string& name) {
  const std::vector<Axis> axes{Axis::Batch, Axis::Seq};
  return b_.add_tensor(name, axes, b_.stream_placement(axes), DType::Int64, TensorRole::Constant);
}

TensorId Assembler::lookup(const OpLine& line, const TensorNames& names, size_t arg) {
  const std::string& name = line.args[arg];
  const auto it = names.find(name);
  if (it == names.end()) {
    std::vector<std::string> known;
    for (const auto& [other, id] : names) known.push_back(other);
    fail(ProblemCode::UnknownResult, line.arg_place(arg),
         "\"" + name + "\" is not defined before this line" + did_you_mean(name, known),
         "one of " + or_list(known));
  }
  return it->second;
}

const BlockTemplate* Assembler::block_of(const OpLine& line) const {
  const BlockTemplate* block = library_.block(line.callee);
  const auto instead = [&](const std::string& id, const char* key) {
    const BlockTemplate* stand_in = library_.block(id);
    if (!stand_in)
      fail(ProblemCode::UnknownOp, line,
           "\"" + id + "\", which stands in for \"" + line.callee + "\", is not a block",
           std::string("the id of a block in its \"") + key + "\"");
    return stand_in;
  };
  if (block && !b_.structure().q_compressed)
    if (const auto other = block->without.find(Axis::QRank); other != block->without.end())
      block = instead(other->second, "without");
  if (block && b_.structure().mode == Mode::Decode && !block->decode.empty())
    block = instead(block->decode, "decode");
  return block;
}

TensorId Assembler::call(const OpLine& line, const TensorNames& names, const std::string& name) {
  const BlockTemplate* block = block_of(line);
  if (block)
    for (const OpLine& inner : block->ops)
      if (const auto kind = op_kind_from_name(inner.callee)) counted_spec(inner, *kind, inner.args.size());
  if (block && b_.profile().weighs_activations) block = weighed(*block);
  Segment& s = b_.segment();
  std::vector<TensorId> args;
  for (size_t arg = 0; arg < line.args.size(); ++arg) args.push_back(lookup(line, names, arg));
  if (!block || !line.spec.empty()) {
    s.blocks.push_back({name, line.callee, line.callee});
    return op(line, args, name, line.callee, {});
  }
  s.blocks.push_back({name, parse_option_call(block->id).id, block->label});
  if (args.size() != block->inputs.size())
    fail(ProblemCode::OpArguments, line.callee_place(),
         line.callee + " takes " + std::to_string(block->inputs.size()) + " inputs, not " +
             std::to_string(args.size()),
         "one argument for each of the block's inputs");
  TensorNames inside;
  for (const char* data : {"tokens", "targets"})  // a tower has neither
    if (const auto it = names.find(data); it != names.end()) inside.insert(*it);
  for (size_t i = 0; i < args.size(); ++i) {
    std::vector<Axis> axes = ungrown(b_.tensor(args[i]).axes);
    if (b_.tensor(args[i]).role == TensorRole::Cache)  // of an earlier layer
      std::replace_if(axes.begin(), axes.end(), is_context, Axis::Seq);
    if (axes != block->inputs[i].axes)
      fail(ProblemCode::OpAxes, line.arg_place(i),
           "\"" + line.args[i] + "\" is " + axes_text(b_.tensor(args[i]).axes),
           "the axes of the block's input \"" + block->inputs[i].name + "\"");
    inside[block->inputs[i].name] = args[i];
  }
  for (const BlockParam& param : block->params) inside[param.name] = parameter(name, param);
  store_weights(*block, inside);
  // A tower has no token after its last one, so nothing of it is cached.
  const std::vector<std::string> cached = s.kind == SegmentKind::Tower ? std::vector<std::string>{}
                                                                       : cached_names(*block);
  TensorNames made;  // results of ops, not replaced by cached tensors
  const auto cache_type = [&](const std::string& output) {
    const auto own = block->cached_types.find(output);
    if (own != block->cached_types.end()) return own->second;
    const auto in_fp8 = block->fp8_types.find(output);
    if (in_fp8 != block->fp8_types.end() && !b_.structure().trains() &&
        b_.structure().cache_dtype == DType::FP8)
      return in_fp8->second;
    return b_.structure().trains() ? b_.tensor(inside.at(output)).dtype : b_.structure().cache_dtype;
  };
  const Axis tokens = cached_tokens(*block);
  const auto windowed = [&](const std::string& output) {
    return tokens == Axis::WindowContext && block->windowed.contains(output);
  };
  for (const OpLine& inner : block->ops) {
    std::vector<TensorId> operands;
    for (size_t arg = 0; arg < inner.args.size(); ++arg) operands.push_back(lookup(inner, inside, arg));
    if (block->whole_sequence.contains(inner.output)) gather_sequence(operands, name + "." + inner.output);
    const auto label = block->labels.find(inner.output);
    const auto modules = block->op_modules.find(inner.output);
    const std::string& text = label == block->labels.end() ? inner.output : label->second;
    const RecomputeModules recomputed = modules == block->op_modules.end() ? block->modules
                                                                           : block->modules | modules->second;
    made[inner.output] = op(inner, operands, name + "." + inner.output, text, recomputed);
    inside[inner.output] = adapted(*block, inner, operands, made[inner.output], name, text, recomputed);
    if (!b_.structure().trains()) index_in_cached_type(inner, *block);
    if (!b_.structure().trains() && std::find(cached.begin(), cached.end(), inner.output) != cached.end())
      inside[inner.output] = b_.cache(inside[inner.output], tokens, cache_type(inner.output),
                                      windowed(inner.output));
  }
  for (const CarriedTensor& carried : carries_)
    if (carried.line == name && inside.contains(carried.result) && !carried.result.empty())
      made_inside_[carried.name] = inside.at(carried.result);
  check_parts(*block, inside);
  pack(made);
  if (b_.structure().trains())
    for (const std::string& output : cached)
      s.cached.push_back({inside.at(output), cache_type(output), windowed(output)});
  // Drops the instance of a block without ops (a dropout with probability 0).
  const int instance = static_cast<int>(s.blocks.size()) - 1;
  if (s.ops.empty() || s.ops.back().block != instance) s.blocks.pop_back();
  return inside.at(block->output);
}

// Scores of cached index keys are products of the type of the cache, in prefill, too.
void Assembler::index_in_cached_type(const OpLine& line, const BlockTemplate& block) {
  if (line.callee != template_name(OpKind::IndexTopK)) return;
  if (const auto type = block.cached_types.find(line.args[1]); type != block.cached_types.end())
    b_.segment().ops.back().compute = type->second;
}

void Assembler::gather_sequence(std::vector<TensorId>& operands, const std::string& consumer) {
  for (TensorId& id : operands)
    if (b_.tensor(id).role != TensorRole::Parameter)
      id = b_.redistribute(id, b_.whole_sequence(b_.tensor(id)), Phase::Forward, consumer);
}

TensorId Assembler::parameter(const std::string& instance, const BlockParam& param) {
  if (param.buffer) {
    const TensorId id = b_.add_tensor(instance + "." + param.name, param.axes, {},
                                      param.dtype.value_or(DType::FP32), TensorRole::Constant);
    b_.segment().buffers.push_back({id, part_, param.counted});
    return id;
  }
  Placement placement = b_.parameter_rules().place(param.axes);
  if (param.column) placement.shards.back() = b_.parameter_rules().of(Axis::Heads);
  const TensorId id = b_.add_tensor(instance + "." + param.name, param.axes, placement, parameter_type(param),
                                    TensorRole::Parameter);
  const bool padded = std::find(param.axes.begin(), param.axes.end(), Axis::Vocab) != param.axes.end();
  b_.segment().params.push_back(
      {id, -1, b_.structure().tied && !param.tied.empty() ? param.tied : param.shared, padded, false, part_});
  b_.segment().params.back().frozen = b_.structure().lora;
  return id;
}

std::vector<std::string> Assembler::cached_names(const BlockTemplate& block) {
  std::vector<std::string> names = block.cached;
  if (names.empty())
    for (const OpLine& line : block.ops)
      if (line.callee == template_name(OpKind::Attention))
        names.insert(names.end(), line.args.begin() + 1, line.args.begin() + 3);
  for (const BlockInput& input : block.inputs) std::erase(names, input.name);
  return names;
}

Axis Assembler::cached_tokens(const BlockTemplate& block) const {
  const auto says = [&](const char* word) {
    return std::any_of(block.ops.begin(), block.ops.end(),
                       [&](const OpLine& l) { return l.spec.find(word) != std::string::npos; });
  };
  if (b_.structure().window && says("window")) return Axis::WindowContext;
  return b_.structure().chunk && says("chunk") ? Axis::ChunkContext : Axis::Context;
}

void Assembler::check_parts(const BlockTemplate& block, const TensorNames& inside) {
  std::map<std::string, Expr> left;  // name of the tensor -> untaken rest of the split dimension
  const OpLine* last = nullptr;
  for (const OpLine& line : block.ops) {
    if (line.callee != template_name(OpKind::Take)) continue;
    const Tensor &whole = b_.tensor(inside.at(line.args[0])), &taken = b_.tensor(inside.at(line.output));
    for (size_t d = 0; d < whole.axes.size(); ++d)
      // A tower may drop its class token.
      if (whole.axes[d] != taken.axes[d] && whole.axes[d] != Axis::Seq) {
        Expr& rest = left.try_emplace(line.args[0], whole.sizes[d]).first->second;
        rest = rest - taken.sizes[d];
      }
    last = &line;
  }
  for (const auto& [name, rest] : left)
    if (!rest.is_zero())
      fail(ProblemCode::PartsIncomplete, *last,
           "the parts of \"" + name + "\" leave " + rest.text() + " of the split dimension",
           "parts that add up to the whole tensor, in order");
}

SourcePlace place_of_op(const SectionTemplate& section, const ModelLibrary& library, const std::string& op) {
  const auto makes = [](const std::string& output) {
    return [&output](const OpLine& line) { return line.output == output; };
  };
  const std::string call = op.substr(0, op.find('.')), result = op.substr(op.rfind('.') + 1);
  const auto line = std::find_if(section.lines.begin(), section.lines.end(), makes(call));
  if (line == section.lines.end()) return {};
  const BlockTemplate* block = library.block(line->callee);
  if (!block) return line->place;
  const auto inner = std::find_if(block->ops.begin(), block->ops.end(), makes(result));
  return inner == block->ops.end() ? line->place : inner->place;
}

void assemble_section(SegmentBuilder& builder, const SectionTemplate& section, const SectionTemplate& mtp,
                      const std::vector<CarriedTensor>& carries, const ModelLibrary& library) {
  Assembler(builder, library, carries).run(section, mtp);
}

void assemble_tower(SegmentBuilder& builder, const Architecture& architecture, const SectionTemplate& part,
                    const ModelLibrary& library) {
  Assembler(builder, library, architecture.carries).run_tower(architecture.tower, part);
}

}  // namespace shardscape
