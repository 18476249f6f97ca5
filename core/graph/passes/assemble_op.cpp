// One line of a block template becomes an op, or several: quantized GEMMs, dispatch by node
// (assemble_experts.cpp).
#include <algorithm>
#include <utility>

#include "base/suggest.h"
#include "graph/passes/assembler.h"

namespace shardscape {

void Assembler::pack(const TensorNames& made) {
  for (const auto& group : b_.profile().packed) {
    std::vector<TensorId> members;
    for (const std::string& name : group) {
      const auto it = made.find(name);
      if (it != made.end() && b_.segment().op(b_.tensor(it->second).producer).kind == OpKind::Einsum)
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
        if (t.storage == old) t.storage = storage;  // views made in place follow
    }
    s.storages[static_cast<size_t>(storage)].bytes = bytes;
  }
}

std::map<char, Axis> Assembler::letter_axes(const OpLine& line, const OpSpec& spec,
                                            const std::vector<TensorId>& operands) {
  std::map<char, Axis> axes;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& t = b_.tensor(operands[i]);
    if (spec.in[i].size() != t.axes.size())
      fail(ProblemCode::OpLetters, line.arg_place(i),
           "\"" + line.args[i] + "\" has " + std::to_string(t.axes.size()) +
               " dimensions, but its letters are \"" + spec.in[i] + "\"",
           "one letter per dimension");
    for (size_t d = 0; d < t.axes.size(); ++d) {
      const auto [it, added_letters] = axes.emplace(spec.in[i][d], t.axes[d]);
      if (!added_letters && it->second != t.axes[d])
        fail(ProblemCode::OpLetters, line.spec_place(),
             std::string("letter '") + spec.in[i][d] + "' means both " + std::string(axis_name(it->second)) +
                 " and " + std::string(axis_name(t.axes[d])),
             "one axis per letter");
    }
  }
  return axes;
}

TensorId Assembler::quantized_operand(TensorId id, DType type, RecomputeModules modules) {
  if (b_.tensor(id).role == TensorRole::Parameter) {
    for (Param& param : b_.segment().params)
      if (param.tensor == id) param.quantized = param.format == WeightFormat::Plain;
    return id;
  }
  if (b_.tensor(id).dtype == type) return id;  // already quantized
  if (const auto it = quantized_.find({id, type}); it != quantized_.end()) return it->second;
  const TensorId whole = b_.redistribute(id, b_.operand_placement(OpKind::Einsum, b_.tensor(id)),
                                         Phase::Forward, "Quantize");
  const TensorId result = b_.quantize(whole, Phase::Forward, static_cast<int>(b_.segment().blocks.size()) - 1,
                                      type);
  b_.segment().ops.back().modules = modules;
  const auto& again = b_.profile().recomputes;
  b_.segment().ops.back().recomputed_in_backward = std::find(again.begin(), again.end(),
                                                             op_kind_name(OpKind::Quantize)) != again.end();
  return quantized_[{id, type}] = result;
}

std::vector<std::string> Assembler::callees() const {
  std::vector<std::string> out;
  for (const BlockTemplate& block : library_.blocks())
    if (block.id.find(';') == std::string::npos) out.push_back(block.id);
  for (int kind = 0; kind < kOpKindCount; ++kind)
    if (const std::string_view name = template_name(static_cast<OpKind>(kind)); !name.empty())
      out.emplace_back(name);
  return out;
}

TensorId Assembler::op(const OpLine& line, std::vector<TensorId> operands, const std::string& name,
                       const std::string& label, RecomputeModules modules) {
  const auto kind = op_kind_from_name(line.callee);
  if (kind == OpKind::Dropout && !b_.structure().dropout) return operands.at(0);
  if (!kind)
    fail(ProblemCode::UnknownOp, line.callee_place(),
         "\"" + line.callee + "\" is neither an op nor a block" + did_you_mean(line.callee, callees()),
         "an op such as einsum, rms_norm, attention, add, or the id of a block");
  OpSpec spec = checked_spec(line, *kind, operands.size());
  if (b_.structure().ep_nodes && b_.tensor(operands.back()).axes.size() == 2) {
    const std::optional<RoutingRule> routing = op_traits(*kind).routing;
    if (kind == OpKind::DispatchWeights)
      return dispatch_in_node(line, spec, operands[0], name, label, modules);
    if (routing == RoutingRule::ToExperts)
      return dispatch_by_node(line, spec, operands, name, label, modules);
    if (routing == RoutingRule::FromExperts)
      return combine_by_node(line, spec, operands, name, label, modules);
  }
  OpDraft draft{line, name, *kind, std::move(spec), checked_rule(line, operands), std::move(operands)};
  name_axes(draft);
  if (b_.structure().frozen_dtype != FrozenWeights::Same && *kind == OpKind::Einsum)
    for (TensorId& id : draft.operands) id = dequantized(id);
  Op made;
  if (const auto type = quantized_type(draft)) {
    made.compute = *type;
    for (TensorId& id : draft.operands) id = quantized_operand(id, *type, modules);
  }
  if (const Param* weights = formatted(*kind, draft.operands)) made.stored = stored_type(weights->format);
  place(draft, label);
  made.name = name;
  made.label = label;
  made.kind = *kind;
  made.block = static_cast<int>(b_.segment().blocks.size()) - 1;
  made.inputs = draft.operands;
  // Norms before attention and MLP belong to the layernorm module; norms of single heads do not.
  made.modules = modules_of(line.callee, modules, b_.in_stream(draft.out_axes));
  made.spec = draft.spec.text();
  made.attributes = draft.spec.attributes;
  if (auto* attention = std::get_if<AttentionAttributes>(&made.attributes)) adapt(*attention, made.label);
  made.recomputed_in_backward = recomputed_in_backward(line.output);
  // The merge counts the sinks.
  const TensorId sinks = draft.splits_context() && draft.spec.in.back().size() == 1 ? draft.operands.back()
                                                                                    : -1;
  if (sinks >= 0) {
    made.inputs.pop_back();
    made.spec = OpSpec{{draft.spec.in.begin(), draft.spec.in.end() - 1}, draft.spec.out}.text();
  }
  const TensorId out = add_result(draft, made);
  const TensorId sums = draft.splits_context() ? made.outputs.back() : -1;
  b_.add_op(std::move(made));
  return sums >= 0 ? b_.merge_parts(out, sums, sinks) : in_expected_placement(draft, out);
}

const KernelRule& Assembler::checked_rule(const OpLine& line, const std::vector<TensorId>& operands) {
  const KernelRule* rule = b_.profile().rule(line.callee);
  if (!rule)
    fail(ProblemCode::ProfileRule, line,
         "the kernel profile " + b_.profile().id + " has no rule for " + line.callee,
         "a profile whose \"ops\" has \"" + line.callee + "\"");
  const OpTraits& traits = op_traits(*op_kind_from_name(line.callee));
  const int most = traits.operands + traits.optional;  // an op may lack optional operands
  std::vector<int> operands_read = rule->saves_inputs;
  for (const KernelStat& stat : rule->stats)
    if (stat.replaces != -1) operands_read.push_back(stat.replaces);
  for (int operand : operands_read)
    if (operand < 0 || operand >= std::max(most, static_cast<int>(operands.size())))
      fail(ProblemCode::ProfileRule, line,
           "the kernel profile " + b_.profile().id + " saves operand " + std::to_string(operand) + " of " +
               line.callee,
           "operands 0 to " + std::to_string(operands.size() - 1));
  return *rule;
}

void Assembler::name_axes(OpDraft& draft) {
  draft.axes = letter_axes(draft.line, draft.spec, draft.operands);
  const std::string added_letters = new_letters(draft.spec);
  if (draft.spec.axis) {
    draft.axes.emplace(added_letters[0], *draft.spec.axis);
  } else if (draft.kind == OpKind::Concat) {
    draft.axes[added_letters[0]] = joined_axis(draft.line, draft.operands);
  } else {
    for (size_t i = 0; i < added_letters.size(); ++i) draft.axes[added_letters[i]] = made_axis(draft, i);
  }
  for (char letter : draft.spec.out) draft.out_axes.push_back(draft.axes.at(letter));
}

Axis Assembler::made_axis(const OpDraft& draft, size_t letter) const {
  const Axis made = op_traits(draft.kind).makes[letter];
  const auto has = [&](Axis axis) {
    const std::vector<Axis>& axes = b_.tensor(draft.operands[0]).axes;
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  if (made == Axis::Merged && has(Axis::Hidden)) return Axis::MergedHidden;
  return made == Axis::QuarterTokens && has(made) ? Axis::ImageTokens : made;
}

void Assembler::place(OpDraft& draft, const std::string& label) {
  MeshAxes partial;
  if (const auto routing = op_traits(draft.kind).routing) {
    draft.shards = b_.route(*routing, draft.spec, draft.operands, partial, label);
  } else if (draft.kind == OpKind::Add && sum_partial_operands(draft.spec, draft.operands)) {
    const Placement& first = b_.tensor(draft.operands[0]).placement;
    partial = first.partial;
    for (size_t d = 0; d < draft.spec.in[0].size(); ++d) draft.shards[draft.spec.in[0][d]] = first.shards[d];
  } else {
    draft.shards = b_.align(draft.kind, draft.spec, draft.operands, {}, Phase::Forward, label);
  }
  if (op_traits(draft.kind).shares_copied_heads)
    for (const auto& [letter, axes] : draft.shards)
      if (!axes.empty() && axes == kv_axes(b_.structure())) partial = tp_axes(b_.structure());
  draft.placement = b_.result_placement(draft.spec.out, draft.shards, partial);
  if (op_traits(draft.kind).routing == RoutingRule::FromExperts) b_.sum_by_stream_axes(draft.placement);
  if (!draft.placement.partial.empty() && op_traits(draft.kind).accumulates_max)
    draft.placement.reduce = Reduce::Max;
}

void Assembler::adapt(AttentionAttributes& attention, std::string& label) {
  const Structure& s = b_.structure();
  if (s.ring) {
    attention.ring = s.zigzag && attention.causal ? Ring::Zigzag : Ring::Plain;
    label += attention.ring == Ring::Zigzag ? ", zigzag ring" : ", ring";
  }
  // In decode, the new token comes after all cached tokens, so no mask applies.
  const bool masks = s.mode != Mode::Decode;
  attention.causal = attention.causal && masks;
  attention.packed = s.packed && attention.causal;
  attention.window = attention.window && s.window && masks;
  attention.chunk = attention.chunk && s.chunk;  // the cache may begin in the chunk before
}

bool Assembler::recomputed_in_backward(const std::string& output) {
  const auto& again = b_.profile().recomputes;
  const std::string in_block = b_.segment().blocks.empty()
                                   ? ""
                                   : b_.segment().blocks.back().template_id + "." + output;
  return std::any_of(again.begin(), again.end(),
                     [&](const std::string& name) { return name == output || name == in_block; });
}

TensorId Assembler::add_result(const OpDraft& draft, Op& made) {
  const auto operand = [&](size_t i) -> Tensor& { return b_.tensor(draft.operands[i]); };
  const DType type = draft.rule.float_result ? DType::FP32 : result_type(draft.kind, draft.operands);
  const TensorId out = b_.add_tensor(draft.name, draft.out_axes, draft.placement, type,
                                     TensorRole::Activation);
  made.outputs = {out};
  if (draft.kind == OpKind::Concat &&
      std::all_of(draft.operands.begin(), draft.operands.end(),
                  [&](TensorId id) { return b_.tensor(id).role == TensorRole::Cache; })) {
    b_.tensor(out).role = TensorRole::Cache;  // parts of a cache are adjacent
    b_.tensor(out).storage = operand(0).storage;
    b_.tensor(out).dtype = operand(0).dtype;
  }
  if (draft.rule.in_place) b_.tensor(out).storage = operand(0).storage;
  if (draft.kind == OpKind::Append && operand(1).dtype == type)
    b_.tensor(out).storage = operand(1).storage;
  else if (op_traits(draft.kind).bytes == BytesRule::LastVector)
    b_.hold_last_vector(out);
  if (b_.structure().trains())  // saved for the backward
    for (const KernelStat& stat : draft.rule.stats) add_statistics(draft, stat, made);
  if (op_traits(draft.kind).state != StateRule::None)
    b_.add_state(made, draft.spec, draft.axes, draft.shards, draft.name);
  if (draft.splits_context()) {
    std::vector<Axis> lines = draft.out_axes;
    lines.back() = Axis::Parts;
    Placement own = draft.placement;
    own.shards.back() = std::exchange(own.partial, {});
    made.outputs.push_back(
        b_.add_tensor(draft.name + ".lse", lines, std::move(own), DType::FP32, TensorRole::Activation));
  }
  return out;
}

TensorId Assembler::in_expected_placement(const OpDraft& draft, TensorId out) {
  // The result of a column-parallel product is gathered to the whole stream, then each rank takes its part.
  if (draft.kind == OpKind::Einsum && b_.in_stream(draft.out_axes) &&
      !b_.tensor(out).placement.shards.back().empty()) {
    Placement whole = b_.tensor(out).placement;
    whole.shards.back().clear();
    return b_.redistribute(b_.redistribute(out, whole, Phase::Forward, "the residual stream"),
                           b_.stream_placement(draft.out_axes), Phase::Forward, "the residual stream");
  }
  if (op_traits(draft.kind).routing == RoutingRule::ToExperts && op_traits(draft.kind).sends_tokens)
    return to_experts(out);
  if (op_traits(draft.kind).routing == RoutingRule::FromExperts) return b_.whole_sum(out);
  // Ulysses: heads spread over cp return to the ranks that hold their part of the sequence.
  if (op_traits(draft.kind).family == OpFamily::Attention && b_.structure().ulysses) {
    Placement home = b_.stream_placement(draft.out_axes);
    home.shards[2] = b_.parameter_rules().of(Axis::Heads);
    return b_.redistribute(out, home, Phase::Forward, "the sequence shards of cp");
  }
  return out;
}

Axis Assembler::joined_axis(const OpLine& line, const std::vector<TensorId>& operands) {
  Expr size;
  for (TensorId id : operands) size += b_.tensor(id).sizes.back();
  const auto axis = axis_of_size(size, b_.segment().scope);
  if (!axis)
    fail(ProblemCode::OpAxes, line, "no axis has the size " + size.text(),
         "operands whose last dimensions add up to one");
  return *axis;
}

bool Assembler::valid_attention_letters(const OpSpec& spec) {
  const std::string &q = spec.in[0], &k = spec.in[1], &v = spec.in[2];
  const bool own_heads = k.size() == 4;  // otherwise latents, which serve all heads
  if (q.size() != 4 || !(own_heads || k.size() == 3) || v.size() != k.size() || q.back() != k.back() ||
      !k.starts_with(v.substr(0, v.size() - 1)) || spec.out != q.substr(0, 3) + v.back())
    return false;
  // Compressed keys, which are their own values; picked keys of a query, for all heads or for each KV head;
  // then sinks.
  size_t next = 3;
  if (const std::string* c = next < spec.in.size() ? &spec.in[next] : nullptr;
      c && c->size() == 3 && !own_heads && k == v && (*c)[0] == k[0] && (*c)[2] == k[2] &&
      (q + k).find((*c)[1]) == std::string::npos)
    ++next;
  if (next < spec.in.size() && spec.in[next].size() > 1) {
    const std::string& picked = spec.in[next++];
    const std::string of_query = q.substr(0, 2) + (picked.size() == 4 && own_heads ? k.substr(2, 1) : "");
    if (picked.size() != of_query.size() + 1 || !picked.starts_with(of_query)) return false;
  }
  if (next < spec.in.size() && spec.in[next++] != q.substr(2, 1)) return false;
  return next == spec.in.size();
}

bool Assembler::valid_index_letters(const OpSpec& spec) {
  const std::string &q = spec.in[0], &k = spec.in[1], &out = spec.out;
  if (q.size() != 4 || k.size() != 3 || q[0] != k[0] || q.back() != k.back() || q[1] == k[1]) return false;
  const bool adds = spec.in.size() == 3;  // the weighted scores of the heads
  return (!adds || spec.in[2] == q.substr(0, 3)) && out.size() == (adds ? 3U : 4U) &&
         out.starts_with(q.substr(0, adds ? 2 : 3));
}

void Assembler::check_attention(const OpLine& line, const OpSpec& spec, OpFamily family) {
  const auto* attention = std::get_if<AttentionAttributes>(&spec.attributes);
  if (!attention) return;
  const bool index = family == OpFamily::Index;
  // Picked keys have the queries' letter, compressed keys one of their own.
  const bool picks = std::any_of(
      spec.in.begin() + std::min<std::ptrdiff_t>(3, std::ssize(spec.in)), spec.in.end(),
      [&](const std::string& letters) { return letters.size() > 1 && letters[1] == spec.in[0][1]; });
  if (index && (attention->window || attention->chunk || attention->soft_cap || attention->alibi))
    fail(ProblemCode::OpLetters, line.spec_place(), "index_top_k cannot use \"" + line.spec + "\"",
         "the words causal and block: bsgd,btd->bsgp; causal, block");
  if ((attention->window || attention->chunk) && !attention->causal)
    fail(ProblemCode::OpLetters, line.spec_place(),
         std::string(attention->window ? "a window" : "a chunk") + " needs a causal mask",
         "bshe,btge,btge->bshe; causal, window");
  if (attention->window && attention->chunk)
    fail(ProblemCode::OpLetters, line.spec_place(), "an attention has a window and chunks",
         "window or chunk");
  if (attention->block && !index && !picks)
    fail(ProblemCode::OpLetters, line.spec_place(),
         "an attention reads blocks only with keys from index_top_k",
         "bshe,btge,btge,bsgp->bshe; causal, block");
  if (index && !valid_index_letters(spec))
    fail(ProblemCode::OpLetters, line.spec_place(),
         "index_top_k cannot use the letters \"" + line.spec + "\"",
         "bsid,btd,bsi->bsp: batch, seq, index heads, dimension; the weighted scores of the heads are added. "
         "Without weights, every head selects its own keys, bsgd,btd->bsgp");
  if (!index && !valid_attention_letters(spec))
    fail(ProblemCode::OpLetters, line.spec_place(), "attention cannot use the letters \"" + line.spec + "\"",
         "bshe,btge,btge->bshe: batch, seq, heads, head_dim; values may be of another size, "
         "bshe,bthe,bthw->bshw; latents that serve all heads have none, bshl,btl,btr->bshr. Compressed keys "
         "may follow, where keys are values, bshe,bte,bte,bje->bshe, then selected keys, of all heads or of "
         "each KV head, bshe,btge,btge,bsgp->bshe, and one sink per head, bshe,btge,btge,h->bshe");
}

// q and k: batch, sequence, heads, key dim. v and the result: the same heads, those that share q and k, value
// dim. beta has the heads of v; so have the decays with "delta", while "channel" has one decay per key
// channel.
void Assembler::check_linear_scan(const OpLine& line, const OpSpec& spec) {
  const auto& scan = std::get<LinearScanAttributes>(spec.attributes);
  const std::string &q = spec.in[0], &v = spec.in[2];
  const std::string heads = v.substr(0, v.size() - 1);
  const bool fits = q.size() >= 4 && spec.in[1] == q && v.size() >= q.size() && spec.out == v &&
                    heads.starts_with(q.substr(0, q.size() - 1)) && heads.find(q.back()) == std::string::npos;
  const bool gated = spec.in.size() == 5 && spec.in[3] == (scan.channel ? q : heads) && spec.in[4] == heads;
  const bool one_word = int{scan.delta} + int{scan.channel} + int{scan.fixed} == 1;
  if (fits && one_word && (scan.fixed ? spec.in.size() == 3 : gated)) return;
  fail(ProblemCode::OpLetters, line.spec_place(), "linear_scan cannot use the letters \"" + line.spec + "\"",
       "bsgk,bsgk,bsghv,bsgh,bsgh->bsghv; delta (queries, keys, values, decays, betas), or "
       "bsgk,bsgk,bsghv,bsgk,bsgh->bsghv; channel, or bshk,bshk,bshv->bshv; fixed");
}

// compress: projections of the tokens in parts, their weights, and a bias per token of a block. The result
// has one vector per block. split_heads: the third letter becomes two.
void Assembler::check_compression(const OpLine& line, OpKind kind, const OpSpec& spec) {
  const std::string &in = spec.in[0], &out = spec.out;
  if (kind == OpKind::Compress &&
      (in.size() != 4 || spec.in[1] != in || spec.in[2].size() != 3 || !in.ends_with(spec.in[2].substr(1)) ||
       in.find(spec.in[2][0]) != std::string::npos || out.size() != 3 || out[0] != in[0] || out[2] != in[3]))
    fail(ProblemCode::OpLetters, line.spec_place(), "compress cannot use the letters \"" + line.spec + "\"",
         "bsce,bsce,rce->bje: batch, seq, halves, dimension; the bias has the tokens of a block");
  if (kind == OpKind::SplitHeads &&
      (in.size() != 4 || out.size() != 5 || !out.starts_with(in.substr(0, 2)) || out[4] != in[3]))
    fail(ProblemCode::OpLetters, line.spec_place(),
         "split_heads cannot use the letters \"" + line.spec + "\"",
         "bshe->bsgke: batch, seq, groups, heads of a group, dimension");
}

DType Assembler::result_type(OpKind kind, const std::vector<TensorId>& operands) {
  if (op_traits(kind).float_result) return DType::FP32;
  if (op_traits(kind).integer_result) return DType::Int64;
  if (op_traits(kind).relabels && is_integer(b_.tensor(operands[0]).dtype))
    return b_.tensor(operands[0]).dtype;
  if (op_traits(kind).sends_tokens)
    return b_.tensor(operands[1]).dtype;  // in the type in which tokens are sent
  if (op_traits(kind).keeps_type) return b_.tensor(operands[0]).dtype;
  DType type = b_.structure().dtype;
  if (op_traits(kind).wide_result)
    for (TensorId id : operands)
      if (const Tensor& t = b_.tensor(id);
          t.role != TensorRole::Constant && dtype_bytes(t.dtype) > dtype_bytes(type))
        type = t.dtype;
  return type;
}

std::optional<char> Assembler::wrongly_dropped(const OpSpec& spec, DroppedLetters drops) {
  if (drops == DroppedLetters::Any) return std::nullopt;
  const auto allowed = [&](char letter) {
    return spec.in.size() > 1 && ((drops == DroppedLetters::FirstOfSecond && letter == spec.in[1].front()) ||
                                  (drops == DroppedLetters::LastOfSecond && letter == spec.in[1].back()));
  };
  for (const std::string& in : spec.in)
    for (char letter : in)
      if (spec.out.find(letter) == std::string::npos && !allowed(letter)) return letter;
  return std::nullopt;
}

OpSpec Assembler::counted_spec(const OpLine& line, OpKind kind, size_t arguments) {
  auto spec = parse_op_spec(line.spec);
  if (!spec)
    fail(ProblemCode::OpLetters, line.spec_place(), "the letters \"" + line.spec + "\" cannot be read",
         "letters per operand and of the result, such as bsd,df->bsf");
  const int wanted = op_traits(kind).operands, given = static_cast<int>(arguments);
  const bool count_ok = wanted < 0 ? given >= 2
                                   : given >= wanted && given <= wanted + op_traits(kind).optional;
  if (!count_ok || spec->in.size() != arguments)
    fail(ProblemCode::OpArguments, line.callee_place(),
         line.callee + " has " + std::to_string(arguments) + " arguments and letters for " +
             std::to_string(spec->in.size()),
         (wanted < 0 ? std::string("two or more") : std::to_string(wanted)) +
             " arguments with letters for each");
  return *std::move(spec);
}

OpSpec Assembler::checked_spec(const OpLine& line, OpKind kind, size_t arguments) {
  OpSpec spec = counted_spec(line, kind, arguments);
  const size_t added_letters = kind == OpKind::Concat || spec.axis ? 1 : op_traits(kind).makes.size();
  if (new_letters(spec).size() != added_letters)
    fail(ProblemCode::OpLetters, line.spec_place(),
         "letters of the result of " + line.callee + " that no operand has: \"" + new_letters(spec) + "\"",
         added_letters == 0 ? "none" : std::to_string(added_letters) + " letters");
  if (kind == OpKind::Concat)
    for (const std::string& in : spec.in)
      if (!spec.out.starts_with(in.substr(0, in.size() - 1)) || in.size() > spec.out.size())
        fail(ProblemCode::OpLetters, line.spec_place(), "concat cannot use the letters \"" + line.spec + "\"",
             "bshn,bsr->bshe: the last dimensions are concatenated, all others are equal; an operand with "
             "fewer dimensions is repeated along the others");
  if (const auto letter = wrongly_dropped(spec, op_traits(kind).drops))
    fail(ProblemCode::OpLetters, line.spec_place(),
         std::string("letter '") + *letter + "' is missing from the result of " + line.callee,
         "a result with all letters: only einsum, embed and the reductions sum over letters");
  const OpAttributes none{}, defaults = default_attributes(kind);
  if (spec.attributes.index() == none.index()) spec.attributes = defaults;
  if (spec.attributes.index() != defaults.index())
    fail(ProblemCode::OpLetters, line.spec_place(), "\"" + line.spec + "\" has words after the letters",
         "letters only: causal, window, chunk, soft_cap and alibi belong to attention, causal and block to "
         "index_top_k, part and inverse to rope, clamp, limit and situ to swiglu, post to stream_gate, "
         "sigmoid, sqrt_softplus and raw to score_top_k and table_top_k, delta, channel and fixed to "
         "linear_scan, bounded to decay_gate");
  if (const auto* gate = std::get_if<SwiGluAttributes>(&spec.attributes);
      gate && gate->clamp + gate->limit + gate->situ > 1)
    fail(ProblemCode::OpLetters, line.spec_place(), "swiglu has several words",
         "one of clamp, limit and situ");
  if ((kind == OpKind::Take) != spec.axis.has_value() ||
      (spec.axis && (whole_letters(kind, spec).size() != 1 || spec.out.size() != spec.in[0].size())))
    fail(ProblemCode::OpLetters, line.spec_place(), line.callee + " cannot use \"" + line.spec + "\"",
         "bsk->bsn; ssm_state: only take replaces a letter of its operand by a letter of another "
         "axis");
  if (kind == OpKind::LinearScan) check_linear_scan(line, spec);
  check_attention(line, spec, op_traits(kind).family);
  check_compression(line, kind, spec);
  return spec;
}

bool Assembler::sum_partial_operands(const OpSpec& spec, const std::vector<TensorId>& operands) {
  const Placement& first = b_.tensor(operands[0]).placement;
  if (first.partial.empty() || first.reduce != Reduce::Sum) return false;
  return std::all_of(operands.begin(), operands.end(),
                     [&](TensorId id) { return b_.tensor(id).placement == first; }) &&
         std::all_of(spec.in.begin(), spec.in.end(),
                     [&](const std::string& letters) { return letters == spec.in[0]; });
}

void Assembler::add_statistics(const OpDraft& draft, const KernelStat& stat, Op& op) {
  const OpSpec& spec = draft.spec;
  const LetterShards& shards = draft.shards;
  if (!b_.has_statistic(stat)) return;
  const auto* scan = std::get_if<LinearScanAttributes>(&spec.attributes);
  if ((stat.when == "delta rule" && !(scan && scan->has_delta_rule())) ||
      (stat.when == "channel" && !(scan && scan->channel)))
    return;
  if (stat.when.rfind("sharded:", 0) == 0) {
    const auto it = shards.find(stat.when.back());
    if (it == shards.end() || it->second.empty()) return;
  }
  const RopeAttributes* rope = rope_of(op);
  const bool rotates_part = rope && rope->part;
  std::vector<Axis> stat_axes;
  Placement placement;
  std::string over = stat.over;
  if (const size_t width = over.find(", width of operand "); width != std::string::npos)
    over = over.substr(0, width) + spec.in.at(static_cast<size_t>(over.back() - '0')).back();
  if (over == "result") over = spec.out;
  if (over == "parameter") over = spec.in.back();
  const bool rows = over.starts_with("rows of ");
  if (rows || over.starts_with("operand ")) over = spec.in.at(static_cast<size_t>(over.back() - '0'));
  if (rows) over.pop_back();
  if (over == "...") {  // one per row: the letters that the op's parameter lacks
    over = spec.out;
    std::erase_if(over, [&](char letter) { return spec.in.back().find(letter) != std::string::npos; });
  }
  for (char letter : over) {
    const auto it = draft.axes.find(letter);
    if (it == draft.axes.end())
      fail(ProblemCode::ProfileRule, draft.line,
           std::string("the profile's \"") + stat.name + "\" has the letter '" + letter +
               "', which this op lacks",
           "letters of the op");
    stat_axes.push_back(rotates_part && letter == spec.in[0].back() ? Axis::RopeDim : it->second);
    const auto at = shards.find(letter);
    placement.shards.push_back(at == shards.end() ? MeshAxes{} : at->second);
  }
  if (stat.last_axis) {
    stat_axes.push_back(*stat.last_axis);
    placement.shards.emplace_back();
  }
  DType type = stat.dtype == DType::BF16 ? b_.structure().dtype : stat.dtype;
  if (stat.dtype_of >= 0) type = b_.tensor(op.inputs.at(static_cast<size_t>(stat.dtype_of))).dtype;
  const auto tokens = std::find(stat_axes.begin(), stat_axes.end(), Axis::Seq) - stat_axes.begin();
  if (stat.chunk > 0 && tokens == static_cast<std::ptrdiff_t>(stat_axes.size()))
    fail(ProblemCode::ProfileRule, draft.line,
         "the profile's \"" + stat.name + "\" has chunks, but no sequence",
         "the sequence's letter in \"over\"");
  for (int copy = 0; copy < stat.copies; ++copy) {
    op.outputs.push_back(
        b_.add_tensor(draft.name + "." + stat.name, stat_axes, placement, type, TensorRole::Statistic));
    if (stat.chunk == 0) continue;
    Tensor& t = b_.tensor(op.outputs.back());
    t.sizes[static_cast<size_t>(tokens)] = Expr(chunk_count_symbol(stat.chunk));
    b_.segment().storages[static_cast<size_t>(t.storage)].bytes = local_bytes(t);
  }
}

}  // namespace shardscape
