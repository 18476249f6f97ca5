#include "graph/kernel_label.h"

#include <algorithm>
#include <cctype>

namespace shardscape {
namespace {

// "Gate" becomes "gate" inside a label; "KV" stays.
std::string inside(std::string word) {
  if (word.size() > 1 && std::islower(static_cast<unsigned char>(word[1])))
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
  return word;
}

// Of two or more GEMMs.
std::string joined_label(const Segment& s, std::vector<OpId> gemms) {
  // In order of the forward; the backward has the reverse order.
  std::sort(gemms.begin(), gemms.end(), [&](OpId a, OpId b) { return forward_of(s, a) < forward_of(s, b); });
  std::vector<std::string> heads;
  for (const OpId id : gemms) heads.push_back(op_label(s.op(id)));
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

}  // namespace

const std::string& op_label(const Op& op) { return op.label.empty() ? op.name : op.label; }

std::string kernel_label(const Segment& s, OpId op) {
  if (s.op(op).kind != OpKind::Einsum) return op_label(s.op(op));
  std::vector<OpId> gemms;
  for (const OpId id : s.kernel(op)->ops)
    if (s.op(id).kind == OpKind::Einsum) gemms.push_back(id);
  return gemms.size() < 2 ? op_label(s.op(op)) : joined_label(s, gemms);
}

}  // namespace shardscape
