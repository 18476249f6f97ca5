#include "graph/gemm_kernels.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace shardscape {
namespace {

// Both products read the same data operand, and their results share one storage.
bool one_kernel(const Segment& s, const Op& a, const Op& b) {
  return a.kind == OpKind::Einsum && b.kind == OpKind::Einsum && a.inputs[0] == b.inputs[0] &&
         a.compute == b.compute && s.tensor(a.inputs[1]).role == TensorRole::Parameter &&
         s.tensor(b.inputs[1]).role == TensorRole::Parameter &&
         s.tensor(a.outputs[0]).storage == s.tensor(b.outputs[0]).storage;
}

OpId forward_of(const Segment& s, OpId id) {
  const Op& op = s.op(id);
  return op.grad != GradRole::None && op.forward >= 0 && op.kind == OpKind::Einsum ? op.forward : id;
}

const std::string& said(const Op& op) { return op.label.empty() ? op.name : op.label; }

// "Gate" becomes "gate" inside a label; "KV" stays.
std::string inside(std::string word) {
  if (word.size() > 1 && std::islower(static_cast<unsigned char>(word[1])))
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
  return word;
}

}  // namespace

std::vector<OpId> gemm_kernels(const Segment& s) {
  std::vector<OpId> pack(s.ops.size());  // for each forward op, the first op of its pack
  for (OpId i = 0; i < static_cast<OpId>(pack.size()); ++i) {
    pack[static_cast<size_t>(i)] = i;
    const Op& op = s.op(i);
    if (op.kind != OpKind::Einsum || op.grad != GradRole::None) continue;
    for (OpId j = 0; j < i; ++j)
      if (pack[static_cast<size_t>(j)] == j && s.op(j).phase == op.phase && one_kernel(s, s.op(j), op)) {
        pack[static_cast<size_t>(i)] = j;
        break;
      }
  }
  std::vector<OpId> out(s.ops.size());
  std::map<std::tuple<OpId, GradRole, Phase, int>, OpId> first;
  for (OpId i = 0; i < static_cast<OpId>(out.size()); ++i) {
    const Op& op = s.op(i);
    out[static_cast<size_t>(i)] = i;
    if (op.kind == OpKind::Einsum)
      out[static_cast<size_t>(i)] = first
                                        .try_emplace({pack[static_cast<size_t>(forward_of(s, i))], op.grad,
                                                      op.phase, op.operand},
                                                     i)
                                        .first->second;
  }
  return out;
}

std::vector<OpId> kernel_members(const std::vector<OpId>& kernels, OpId first) {
  std::vector<OpId> out;
  for (OpId i = first; i < static_cast<OpId>(kernels.size()); ++i)
    if (kernels[static_cast<size_t>(i)] == first) out.push_back(i);
  return out;
}

std::string kernel_label(const Segment& s, const std::vector<OpId>& members) {
  if (members.size() < 2) return said(s.op(members.front()));
  // In order of the forward; the backward has the reverse order.
  std::vector<OpId> order = members;
  std::sort(order.begin(), order.end(), [&](OpId a, OpId b) { return forward_of(s, a) < forward_of(s, b); });
  std::vector<std::string> heads;
  for (const OpId id : order) heads.push_back(said(s.op(id)));
  // The common ending of all labels, from a space on: " projection, weight gradient".
  std::string tail = heads.front();
  for (const std::string& label : heads) {
    size_t same = 0;
    while (same < std::min(tail.size(), label.size()) &&
           tail[tail.size() - 1 - same] == label[label.size() - 1 - same])
      ++same;
    tail = tail.substr(tail.size() - same);
  }
  const size_t space = tail.find(' ');
  tail = space == std::string::npos ? std::string() : tail.substr(space);
  bool letters = true;
  for (std::string& head : heads) {
    head.resize(head.size() - tail.size());
    letters = letters && head.size() == 1;
  }
  std::string out = heads.front();
  for (size_t i = 1; i < heads.size(); ++i) {
    if (!letters) out += i + 1 < heads.size() ? ", " : " and ";
    out += letters ? heads[i] : inside(heads[i]);
  }
  return out + tail;
}

std::string op_kernel_label(const Segment& s, OpId op) {
  if (s.op(op).kind != OpKind::Einsum) return said(s.op(op));
  const std::vector<OpId> kernels = gemm_kernels(s);
  return kernel_label(s, kernel_members(kernels, kernels[static_cast<size_t>(op)]));
}

}  // namespace shardscape
