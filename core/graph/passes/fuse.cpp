// Fuse: decides which ops one kernel computes, how many bytes the kernel moves, and whether an attention or
// the GEMMs of experts are several kernels. The kernel profile says which ops a code base fuses; seconds,
// bytes and lifetimes read the result.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

class Fusion {
 public:
  explicit Fusion(SegmentBuilder& builder)
      : b_(builder),
        s_(builder.segment()),
        profile_(builder.profile()),
        first_(s_.ops.size()),
        readers_(s_.tensors.size()) {
    for (OpId id = 0; id < static_cast<OpId>(first_.size()); ++id) {
      first_[at(id)] = id;
      for (const TensorId input : s_.op(id).inputs)
        if (input >= 0 && (readers_of(input).empty() || readers_of(input).back() != id))
          readers_[static_cast<size_t>(input)].push_back(id);
    }
  }

  void run() {
    fuse_packed_gemms();
    fuse_gradient_sums();
    for (OpId id = 0; id < static_cast<OpId>(first_.size()); ++id) fuse_chain(id);
    for (OpId id = 0; id < static_cast<OpId>(first_.size()); ++id) fuse_shared_chain(id);
    for (const std::vector<std::string>& kinds : profile_.merged) merge(kinds);
    if (profile_.sums_in_next_norm) move_sum_to_norm();
    write();
  }

 private:
  static size_t at(OpId id) { return static_cast<size_t>(id); }
  OpId first(OpId id) const {
    while (first_[at(id)] != id) id = first_[at(id)];
    return id;
  }
  void join(OpId a, OpId b) {
    a = first(a), b = first(b);
    first_[at(std::max(a, b))] = std::min(a, b);
  }

  // Whether two forward GEMMs read the same data, and the profile packs their results into one storage.
  bool packed(const Op& a, const Op& b) const {
    return a.phase == b.phase && a.inputs[0] == b.inputs[0] && a.compute == b.compute &&
           a.stored == b.stored && is_weights(s_.tensor(a.inputs[1]).role) &&
           is_weights(s_.tensor(b.inputs[1]).role) &&
           s_.tensor(a.outputs[0]).storage == s_.tensor(b.outputs[0]).storage;
  }

  // GEMMs with packed results are one GEMM. Their input gradients are one GEMM that sums over the columns of
  // all of them; their weight gradients are one GEMM with as many columns.
  void fuse_packed_gemms() {
    std::vector<OpId> forwards;  // one GEMM of each pack
    std::map<OpId, OpId> pack;   // GEMM -> the first GEMM of its pack
    for (OpId id = 0; id < static_cast<OpId>(s_.ops.size()); ++id) {
      const Op& op = s_.op(id);
      if (op.kind != OpKind::Einsum || op.grad != GradRole::None) continue;
      const auto found = std::find_if(forwards.begin(), forwards.end(),
                                      [&](OpId other) { return packed(s_.op(other), op); });
      pack[id] = found == forwards.end() ? forwards.emplace_back(id) : *found;
    }
    std::map<std::tuple<OpId, GradRole, Phase, int>, OpId> kernels;
    for (OpId id = 0; id < static_cast<OpId>(s_.ops.size()); ++id) {
      const Op& op = s_.op(id);
      if (op.kind != OpKind::Einsum) continue;
      const OpId forward = forward_of(s_, id);
      const OpId of = pack.contains(forward) ? pack.at(forward) : forward;
      join(kernels.try_emplace({of, op.grad, op.phase, op.operand}, id).first->second, id);
    }
  }

  // The sum of the input gradients of packed GEMMs is the result of their one GEMM.
  void fuse_gradient_sums() {
    for (OpId id = 0; id < static_cast<OpId>(s_.ops.size()); ++id) {
      const Op& op = s_.op(id);
      if (op.kind != OpKind::Add || op.phase == Phase::Forward || op.inputs.empty()) continue;
      const auto kernel = [&](TensorId summand) -> OpId {
        const OpId producer = s_.tensor(summand).producer;
        return producer >= 0 && s_.op(producer).kind == OpKind::Einsum &&
                       s_.op(producer).grad == GradRole::Input
                   ? first(producer)
                   : -1;
      };
      const OpId of = kernel(op.inputs.front());
      if (of >= 0 && std::all_of(op.inputs.begin(), op.inputs.end(),
                                 [&](TensorId summand) { return kernel(summand) == of; }))
        join(of, id);
    }
  }

  const std::vector<OpId>& readers_of(TensorId tensor) const { return readers_[static_cast<size_t>(tensor)]; }

  // The only op that reads the op's result, if it runs in the same phase; -1: none.
  OpId only_reader(OpId id) const {
    const Op& op = s_.op(id);
    const std::vector<OpId>& readers = readers_of(op.outputs.front());
    return readers.size() == 1 && s_.op(readers.front()).phase == op.phase ? readers.front() : -1;
  }

  bool fits(const Op& op, const std::string& kind) const {
    return op.grad == GradRole::None && template_name(op.kind) == kind && !expert_bias_bytes(op);
  }

  // The ops that match a chain of kinds from this op on; empty: they do not match.
  std::vector<OpId> match(OpId id, const std::vector<std::string>& chain) const {
    std::vector<OpId> out;
    for (const std::string& kind : chain) {
      if (id < 0 || !fits(s_.op(id), kind)) return {};
      out.push_back(id);
      id = only_reader(id);
    }
    return out;
  }

  void fuse_chain(OpId id) {
    if (chained_.contains(id) || s_.op(id).outputs.empty()) return;
    for (const std::vector<std::string>& chain : profile_.fused) {
      const std::vector<OpId> ops = match(id, chain);
      if (ops.empty()) continue;
      for (const OpId member : ops) join(id, member);
      chained_.insert(ops.begin(), ops.end());
      return;
    }
  }

  bool fits_any(const Op& op, const std::string& kind) const {
    return op.phase == Phase::Forward && op.grad == GradRole::None && has_kernel(op) &&
           (fits(op, kind) || op_kind_name(op.kind) == kind);
  }

  // The ops that match a chain of KernelProfile::fused_results from this op on; empty: they do not match.
  std::vector<OpId> match_shared(OpId id, const std::vector<std::string>& chain) const {
    std::vector<OpId> out;
    if (!fits_any(s_.op(id), chain.front())) return {};
    out.push_back(id);
    for (size_t i = 1; i < chain.size(); ++i) {
      const std::vector<OpId>& readers = readers_of(s_.op(out.back()).outputs.front());
      const auto next = std::find_if(readers.begin(), readers.end(), [&](OpId reader) {
        return fits_any(s_.op(reader), chain[i]) && !chained_.contains(reader) && !closes_cycle(out, reader);
      });
      if (next == readers.end()) return {};
      out.push_back(*next);
    }
    return out;
  }

  void fuse_shared_chain(OpId id) {
    if (chained_.contains(id) || s_.op(id).outputs.empty()) return;
    for (const std::vector<std::string>& chain : profile_.fused_results) {
      const std::vector<OpId> ops = match_shared(id, chain);
      if (ops.empty()) continue;
      for (const OpId member : ops) join(id, member);
      chained_.insert(ops.begin(), ops.end());
      return;
    }
  }

  // KernelProfile::merged: the ops of each block.
  void merge(const std::vector<std::string>& kinds) {
    std::map<int, std::vector<OpId>> kernels;  // block -> one op of each kernel
    for (OpId id = 0; id < static_cast<OpId>(first_.size()); ++id) {
      const Op& op = s_.op(id);
      if (op.block < 0 ||
          std::none_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return fits_any(op, k); }))
        continue;
      std::vector<OpId>& of_block = kernels[op.block];
      const auto into = std::find_if(of_block.begin(), of_block.end(),
                                     [&](OpId other) { return !closes_cycle({other}, id); });
      if (into == of_block.end())
        of_block.push_back(id);
      else
        join(*into, id);
    }
  }

  // Whether one kernel of `ops` and `id` would wait for another kernel that waits for this kernel.
  bool closes_cycle(const std::vector<OpId>& ops, OpId id) const {
    std::set<OpId> group;
    for (const OpId op : ops) group.insert(first(op));
    const std::set<OpId> added{first(id)};
    return !group.contains(first(id)) &&
           (leads_through_others(group, added) || leads_through_others(added, group));
  }

  // Whether kernels of `to` need a result of kernels of `from` through a kernel of neither.
  bool leads_through_others(const std::set<OpId>& from, const std::set<OpId>& to) const {
    std::set<OpId> seen;
    std::vector<OpId> open;
    // Kernels whose results an op reads. Views have no kernel: their operands count.
    const std::function<void(OpId, bool)> add = [&](OpId reader, bool direct) {
      for (const TensorId input : s_.op(reader).inputs) {
        const OpId producer = input < 0 ? -1 : s_.tensor(input).producer;
        if (producer < 0) continue;
        if (!has_kernel(s_.op(producer))) {
          add(producer, direct);
          continue;
        }
        const OpId kernel = first(producer);
        if (to.contains(kernel) || (direct && from.contains(kernel)) || !seen.insert(kernel).second) continue;
        open.push_back(kernel);
      }
    };
    const auto add_all = [&](OpId kernel, bool direct) {
      for (OpId id = kernel; id < static_cast<OpId>(first_.size()); ++id)
        if (first(id) == kernel) add(id, direct);
    };
    for (const OpId kernel : to) add_all(kernel, true);
    while (!open.empty()) {
      const OpId kernel = open.back();
      open.pop_back();
      if (from.contains(kernel)) return true;
      add_all(kernel, false);
    }
    return false;
  }

  // KernelProfile::sums_in_next_norm. The sum of a layer has no kernel; the first norm of each layer computes
  // the sum of the layer before.
  void move_sum_to_norm() {
    if (s_.kind != SegmentKind::Layer || s_.output < 0) return;
    const OpId sum = s_.tensor(s_.output).producer;
    const auto alone = [&](OpId id) {
      for (OpId other = 0; other < static_cast<OpId>(first_.size()); ++other)
        if (other != id && first(other) == first(id)) return false;
      return true;
    };
    if (sum < 0 || s_.op(sum).kind != OpKind::Add || !alone(sum)) return;
    for (const OpId reader : readers_of(s_.input))
      if (s_.op(reader).kind == OpKind::RmsNorm || s_.op(reader).kind == OpKind::LayerNorm) {
        moved_sum_ = sum, summing_norm_ = reader;
        return;
      }
  }

  // An in-place addition of a bias: the kernel that writes or reads the sum also adds the bias. The
  // bias has one element per column; its bytes are not counted.
  bool is_epilogue(const Op& op) const {
    return op.kind == OpKind::BiasAdd && op.grad == GradRole::None && !expert_bias_bytes(op) &&
           s_.tensor(op.outputs[0]).storage == s_.tensor(op.inputs[0]).storage;
  }

  // Views have no kernel; attention sends and receives the messages of its ring.
  bool has_kernel(const Op& op) const {
    return !is_ring(op.kind) && !is_relabelling(op.kind) && !is_cache_view(s_, op);
  }

  void write() {
    std::map<OpId, std::vector<OpId>> members;
    for (OpId id = 0; id < static_cast<OpId>(first_.size()); ++id)
      if (has_kernel(s_.op(id)) && id != moved_sum_) members[first(id)].push_back(id);
    s_.kernel_of.assign(s_.ops.size(), -1);
    for (auto& [head, ops] : members) {
      Kernel kernel;
      const auto gemm = std::find_if(ops.begin(), ops.end(),
                                     [&](OpId id) { return s_.op(id).kind == OpKind::Einsum; });
      const auto attention = std::find_if(ops.begin(), ops.end(),
                                          [&](OpId id) { return s_.op(id).kind == OpKind::Attention; });
      kernel.op = gemm != ops.end() ? *gemm : attention != ops.end() ? *attention : ops.back();
      kernel.moved_bytes = moved_bytes(ops);
      // The norm also reads both summands. It has the sum on chip, instead of reading it, and writes it.
      if (std::find(ops.begin(), ops.end(), summing_norm_) != ops.end())
        kernel.moved_bytes += Expr(2) * local_bytes(s_.tensor(s_.input));
      for (const OpId id : ops) s_.kernel_of[at(id)] = static_cast<int>(s_.kernels.size());
      kernel.ops = std::move(ops);
      set_variant(kernel);
      s_.kernels.push_back(std::move(kernel));
    }
  }

  // Which of its kernels a code base runs for a GEMM or an attention.
  void set_variant(Kernel& kernel) const {
    const Op& op = s_.op(kernel.op);
    kernel.next_to_experts = profile_.concurrent_shared_experts && op.phase == Phase::Forward &&
                             op.modules.has(RecomputeModule::SharedExperts) && !is_collective(op.kind);
    kernel.separate_experts = op.kind == OpKind::Einsum && profile_.separate_experts.value_or(false);
    const KernelRule* rule = attention_of(op) ? profile_.rule(std::string(template_name(op.kind))) : nullptr;
    if (!rule) return;
    kernel.fused_attention = rule->kernel;
    kernel.score_bytes = score_bytes(*rule, op.grad != GradRole::None);
  }

  bool is_score(const KernelStat& stat) const {
    const bool of_tensor = stat.over == "result" || stat.over == "parameter" ||
                           stat.over.find("operand ") != std::string::npos;
    return !of_tensor && stat.over.find('s') != std::string::npos &&
           stat.over.find('t') != std::string::npos && b_.has_statistic(stat);
  }

  // Kernel::score_bytes. Unfused attention: one kernel writes each saved score tensor and reads the score
  // tensor before it. The first kernel reads the scores of the matrix product. The backward kernel reads a
  // gradient and the saved result or mask, and writes a gradient.
  double score_bytes(const KernelRule& rule, bool backward) const {
    const double plain = dtype_bytes(b_.structure().dtype);
    double out = 0, read = plain;  // read: bytes of the score tensor before
    int kernels = 0;
    for (const KernelStat& stat : rule.stats) {
      if (!is_score(stat)) continue;
      const double bytes = stat.dtype == DType::BF16 ? plain : dtype_bytes(stat.dtype);
      out += bytes;
      if (stat.dtype == DType::Bool) continue;  // the kernel of the next tensor writes it too
      out += backward ? 2 * plain : read;
      // The gradient does not read the result of a mask or a cast.
      if (++kernels > 1 && backward) out -= bytes;
      read = bytes;
    }
    return out;
  }

  // Whether ops read the tensor, and only these. A replay also makes tensors that no op reads.
  bool only_read_by(const std::set<OpId>& ops, TensorId tensor) const {
    const std::vector<OpId>& readers = readers_of(tensor);
    return tensor != s_.output && tensor != s_.input_grad && !is_carried(s_, tensor) && !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](OpId id) { return ops.contains(id); });
  }

  // Bytes that separate bias kernels of the experts move, in forward or backward. Nothing: no separate
  // kernel.
  std::optional<Expr> expert_bias_bytes(const Op& op) const {
    if (op.kind != OpKind::BiasAdd || op.inputs.empty() || !profile_.expert_bias) return std::nullopt;
    const Tensor& to = s_.tensor(op.inputs[0]);
    const double moved = (*profile_.expert_bias)[op.grad == GradRole::None ? 0 : 1];
    if (moved <= 0 || to.axes.size() != 3 || to.axes.front() != Axis::Experts ||
        to.axes.back() != Axis::Hidden)
      return std::nullopt;
    constexpr int64_t kParts = 128;  // fractions of a byte per element
    return Expr(static_cast<int64_t>(kParts * moved)) / Expr(kParts) * local_elements(to);
  }

  // Bytes of the kernels that add the gradients of a tensor. One GEMM makes the gradients of packed GEMMs as
  // one summand. The profile adds all summands in one kernel, or each to the sum so far as it arrives.
  Expr gradient_sum_bytes(const Op& op) const {
    std::set<OpId> producers;
    Expr read;
    int64_t summands = 0;
    for (const TensorId id : op.inputs) {
      const OpId producer = s_.tensor(id).producer;
      if (producer >= 0 && s_.op(producer).kind == OpKind::Einsum &&
          !producers.insert(first(producer)).second)
        continue;
      read += local_bytes(s_.tensor(id));
      ++summands;
    }
    const int64_t kernels = profile_.adds_gradients_at_once ? 1 : std::max<int64_t>(1, summands - 1);
    return read + Expr(2 * kernels - 1) * local_bytes(s_.tensor(op.outputs[0]));
  }

  // Bytes that one op moves. single: no other op runs in its kernel.
  Expr own_bytes(const Op& op, bool single) const {
    if (const auto bias = expert_bias_bytes(op)) return *bias;
    if (is_epilogue(op) && !single) return {};
    if (is_gradient_sum(op)) return gradient_sum_bytes(op);
    // A kernel that recomputes a tensor for its backward does not write the tensor.
    if (is_recomputation(op) && s_.op(op.forward).recomputed_in_backward) return op.read_bytes;
    return op.read_bytes + op.written_bytes;
  }

  // A kernel reads a tensor once. Tensors that only its own ops read stay on chip.
  Expr moved_bytes(const std::vector<OpId>& ops) const {
    const std::set<OpId> members(ops.begin(), ops.end());
    std::set<TensorId> on_chip;
    Expr out;
    for (const OpId id : ops) {
      const Op& op = s_.op(id);
      if (is_gradient_sum(op) && ops.size() > 1) {  // a GEMM writes the sum of its summands
        out += local_bytes(s_.tensor(op.outputs[0]));
        continue;
      }
      out += own_bytes(op, ops.size() == 1);
      if (ops.size() == 1 || is_epilogue(op)) continue;
      const std::set<TensorId> inputs(op.inputs.begin(), op.inputs.end());
      for (const TensorId input : inputs)
        if (!on_chip.insert(input).second) out += -local_bytes(s_.tensor(input));
      for (const TensorId made : op.outputs) {
        on_chip.insert(made);
        if (only_read_by(members, made)) out += -local_bytes(s_.tensor(made));
      }
    }
    return out;
  }

  const SegmentBuilder& b_;
  Segment& s_;
  const KernelProfile& profile_;
  std::vector<OpId> first_;                  // by op: an earlier op of its kernel, or the op itself
  std::set<OpId> chained_;                   // ops of chains
  OpId moved_sum_ = -1, summing_norm_ = -1;  // of move_sum_to_norm()
  std::vector<std::vector<OpId>> readers_;   // by tensor, ascending
};

}  // namespace

void fuse(SegmentBuilder& builder) { Fusion(builder).run(); }

}  // namespace shardscape
