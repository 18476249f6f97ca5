#include "chakra/node_tensors.h"

#include <algorithm>
#include <charconv>

namespace shardscape {
namespace {

void append_number(std::string& out, int64_t value) {
  char buffer[20];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

bool is_stream(NameScope scope) {
  switch (scope) {
    case NameScope::StreamIn:
    case NameScope::StreamOut:
    case NameScope::StreamGradIn:
    case NameScope::StreamGradOut:
    case NameScope::Replayed: return true;
    case NameScope::Rank:
    case NameScope::Layer:
    case NameScope::Microbatch:
    case NameScope::Carried: break;
  }
  return false;
}

void append_stream(std::string& out, NameScope scope, const TraceNode& node) {
  const bool in = scope == NameScope::StreamIn || scope == NameScope::StreamGradIn;
  out += "stream.";
  append_number(out, node.position + (in ? 0 : 1));
  if (scope == NameScope::StreamGradIn || scope == NameScope::StreamGradOut) out += ".grad";
  if (scope == NameScope::Replayed || (scope == NameScope::StreamIn && (node.flags & kReplayedInput) != 0))
    out += ".replayed";
}

}  // namespace

void append_scope(std::string& out, NameScope scope, const RankProgram& program, const TraceNode& node,
                  const std::string& place) {
  if (scope == NameScope::Rank) return;
  if (scope != NameScope::Layer && node.microbatch >= 0) {
    out += program.pass;
    append_number(out, node.microbatch);
    out += '.';
  }
  if (is_stream(scope)) return append_stream(out, scope, node);
  if (scope == NameScope::Carried) return;
  if (scope == NameScope::Microbatch && node.chunk >= 0) {
    out += "chunk";
    append_number(out, node.chunk);
    out += '.';
  }
  if (node.layer >= 0) {
    out += place.empty() ? "layer" : place;
    append_number(out, node.layer);
    out += '.';
  } else if (!place.empty()) {
    out += place;
    out += '.';
  }
}

NamedTensor named_tensor(const RankProgram& program, const TraceNode& node, const TraceTensor& tensor) {
  NamedTensor out{{}, tensor.bytes};
  append_scope(out.name, tensor.scope, program, node, program.ops[node.op].place);
  if (!is_stream(tensor.scope)) out.name += tensor.name;
  return out;
}

NodeTensors node_tensors(const RankProgram& program, size_t index) {
  const TraceNode& node = program.nodes[index];
  const TraceOp& op = program.ops[node.op];
  NodeTensors out;
  const auto read = [&](NamedTensor tensor) {
    if (std::none_of(out.inputs.begin(), out.inputs.end(),
                     [&](const NamedTensor& t) { return t.name == tensor.name; }))
      out.inputs.push_back(std::move(tensor));
  };
  for (const TraceTensor& t : op.inputs) read(named_tensor(program, node, t));
  for (const TraceTensor& t : op.outputs) {
    if (t.use == TensorUse::Passed && (node.flags & kPassesOutput) == 0) continue;
    if (t.use == TensorUse::Accumulated && (node.flags & kFirstOfStep) == 0)
      read(named_tensor(program, node, t));
    else
      out.outputs.push_back(named_tensor(program, node, t));
  }
  if (const auto extra = program.extra.find(static_cast<uint32_t>(index)); extra != program.extra.end()) {
    for (const NamedTensor& t : extra->second.inputs) read(t);
    out.outputs.insert(out.outputs.end(), extra->second.outputs.begin(), extra->second.outputs.end());
  }
  std::erase_if(out.inputs, [&](const NamedTensor& in) {
    return std::any_of(out.outputs.begin(), out.outputs.end(),
                       [&](const NamedTensor& t) { return t.name == in.name; });
  });
  return out;
}

}  // namespace shardscape
