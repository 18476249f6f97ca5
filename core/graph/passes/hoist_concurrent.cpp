// Order of a backward with concurrent blocks (BlockInstance::concurrent): their ops come as soon as their
// operands exist, so that their collectives have begun when the backward of the other blocks runs. The
// forward keeps the order of the architecture's lines.
#include <algorithm>
#include <set>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

class Hoist {
 public:
  explicit Hoist(Segment& segment) : s_(segment), begin_(segment.replay_end) {}

  void run() {
    std::vector<OpId> left, order;
    for (OpId id = begin_; id < static_cast<OpId>(s_.ops.size()); ++id) left.push_back(id);
    find_operands();
    std::set<OpId> done;
    const auto ready = [&](OpId id) {
      const std::vector<OpId>& of = operands_[static_cast<size_t>(id - begin_)];
      return std::all_of(of.begin(), of.end(), [&](OpId before) { return done.contains(before); });
    };
    while (!left.empty()) {
      auto next = std::find_if(left.begin(), left.end(),
                               [&](OpId id) { return concurrent(id) && ready(id); });
      if (next == left.end()) next = left.begin();
      done.insert(*next);
      order.push_back(*next);
      left.erase(next);
    }
    reorder(order);
  }

 private:
  bool concurrent(OpId id) const {
    const int block = s_.op(id).block;
    return block >= 0 && s_.blocks[static_cast<size_t>(block)].concurrent;
  }

  // The ops that must run before each op of the backward: those that produce what the op reads, and, of a
  // storage that the op writes, all ops before it that read or write the storage.
  void find_operands() {
    for (OpId id = begin_; id < static_cast<OpId>(s_.ops.size()); ++id) {
      std::vector<OpId>& of = operands_.emplace_back();
      for (const TensorId in : s_.op(id).inputs)
        if (in >= 0 && s_.tensor(in).producer >= begin_) of.push_back(s_.tensor(in).producer);
      for (OpId before = begin_; before < id; ++before)
        if (shares_written(s_.op(before), s_.op(id))) of.push_back(before);
    }
  }

  // Whether `before` reads or writes a storage that `op` writes. Views of a storage write nothing.
  bool shares_written(const Op& before, const Op& op) const {
    const auto touches = [&](StorageId storage) {
      const auto holds = [&](TensorId id) { return id >= 0 && s_.tensor(id).storage == storage; };
      return std::any_of(before.inputs.begin(), before.inputs.end(), holds) ||
             std::any_of(before.outputs.begin(), before.outputs.end(), holds);
    };
    return !is_relabelling(op.kind) && std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) {
      return touches(s_.tensor(id).storage);
    });
  }

  // order: the ops of the backward in their new order. No op names an op of the backward as its forward.
  void reorder(const std::vector<OpId>& order) {
    std::vector<Op> moved;
    for (const OpId id : order) moved.push_back(std::move(s_.ops[static_cast<size_t>(id)]));
    std::move(moved.begin(), moved.end(), s_.ops.begin() + begin_);
    for (OpId id = begin_; id < static_cast<OpId>(s_.ops.size()); ++id)
      for (const TensorId out : s_.op(id).outputs) s_.tensors[static_cast<size_t>(out)].producer = id;
  }

  Segment& s_;
  const OpId begin_;
  std::vector<std::vector<OpId>> operands_;  // by op of the backward
};

}  // namespace

void hoist_concurrent(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  if (std::any_of(s.blocks.begin(), s.blocks.end(), [](const BlockInstance& b) { return b.concurrent; }))
    Hoist(s).run();
}

}  // namespace shardscape
