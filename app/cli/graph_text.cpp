// The graph as text: ops in the syntax of block templates, with results and costs.
#include "app/cli/graph_listing.h"
#include "app/cli/text.h"
#include "base/units.h"

namespace shardscape {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const Report& report) : report_(report) {}

  std::string text(const std::vector<ListedSegment>& listing) {
    line(0, report_.design.name + ": sizes are those of one rank and one microbatch");
    line(0, symbols());
    for (const ListedSegment& listed : listing) segment(listed);
    return std::move(out_);
  }

 private:
  void line(size_t indent, const std::string& text) {
    out_ += std::string(indent, ' ') + wrapped(text, indent + 4, 120) + "\n";
  }

  std::string symbols() const {
    std::string text;
    for (const auto& [symbol, value] : report_.binding.items()) {
      text += (text.empty() ? "" : ", ") + symbol.name() + "=" + grouped(value);
    }
    return text;
  }

  std::string valued(const Expr& formula, std::string (*format)(Wide)) const {
    const auto value = evaluate(formula, report_.binding);
    if (const auto* error = std::get_if<EvalError>(&value))
      return formula.text() + " (" + error->message + ")";
    return formula.text() + " = " + format(std::get<Wide>(value));
  }
  static std::string bytes(Wide value) { return format_bytes(value); }
  static std::string grouped_tokens(Wide value) { return grouped(value) + " tokens"; }

  void segment(const ListedSegment& listed) {
    const Segment& s = *listed.segment;
    out_ += "\n" + s.name + (listed.count == 1 ? "" : ": " + grouped(listed.count) + " of them") + "\n";
    Phase phase = Phase::Step;
    int block = -2;
    bool first = true;
    std::vector<TensorId> given;  // outside tensors that the next op reads
    for (const ListedNode& node : listed.nodes) {
      if (node.op < 0) {
        given.push_back(node.tensor);
        continue;
      }
      const Op& op = s.op(node.op);
      if (first || op.phase != phase) line(2, std::string(phase_name(op.phase)));
      if (first || op.phase != phase || op.block != block) heading(s, op.block);
      first = false;
      phase = op.phase;
      block = op.block;
      for (TensorId id : given) outside(s.tensor(id));
      given.clear();
      describe(s, op);
    }
    saved(s);
  }

  void heading(const Segment& s, int block) {
    if (block < 0) return line(4, "(between blocks)");
    const BlockInstance& b = s.blocks[static_cast<size_t>(block)];
    line(4, b.name + ": " + b.label + (b.template_id == b.name ? "" : " (" + b.template_id + ")"));
  }

  // "x [b, S, D] bfloat16, Shard(batch) on dp"
  static std::string tensor(const Tensor& t) {
    return t.name + " " + local_shape_text(t) + " " + std::string(dtype_name(t.dtype)) + ", " +
           to_string(t.placement, t.axes);
  }

  void outside(const Tensor& t) {
    const char* what = t.role == TensorRole::Parameter ? "parameter "
                       : t.role == TensorRole::Input   ? "input "
                                                       : "given ";
    line(6, what + tensor(t));
  }

  void describe(const Segment& s, const Op& op) {
    std::vector<std::string> inputs;
    for (TensorId id : op.inputs) inputs.push_back(s.tensor(id).name);
    const Redistribution* by = redistribution_of(op);
    const std::string spec = by ? group_name(by->group) : op.spec;
    line(6, op.name + " = " + std::string(op_kind_name(op.kind)) + (spec.empty() ? "" : "[" + spec + "]") +
                "(" + joined(inputs, ", ") + ")" +
                (op.label.empty() || op.label == op.name ? "" : "   # " + op.label));
    for (TensorId id : op.outputs) line(8, "-> " + tensor(s.tensor(id)));
    if (is_collective(op.kind))
      line(8, (is_ring(op.kind) ? "sends " : "full buffer ") + valued(collective_bytes(s, op), bytes));
    if (!op.flops.is_zero()) line(8, "FLOPs " + valued(op.flops, format_flops));
    if (!op.useful_flops.is_zero() && op.useful_flops != op.flops) {
      line(8, "useful FLOPs " + valued(op.useful_flops, format_flops));
    }
    if (const AttentionAttributes* attention = attention_of(op); attention && attention->window)
      line(8, "window " + valued(window_width(s), grouped_tokens));
    if (by) line(8, "why: " + by->why);
  }

  void saved(const Segment& s) {
    if (s.saved.empty()) return;
    line(2, "saved for the backward");
    for (const SavedStorage& saved : s.saved) {
      const Storage& storage = s.storages[static_cast<size_t>(saved.storage)];
      const std::string saver = saved.saver < 0 ? "" : ", for the backward of " + s.op(saved.saver).name;
      line(4, storage.name + ": " + valued(storage.bytes, bytes) + saver);
    }
  }

  const Report& report_;
  std::string out_;
};

}  // namespace

std::string graph_text(const Report& report, const std::vector<ListedSegment>& listing) {
  return TextWriter(report).text(listing);
}

}  // namespace shardscape
