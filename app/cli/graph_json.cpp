// The graph as JSON: nodes and edges; every size has a formula and a value.
#include "app/cli/graph_listing.h"
#include "base/json_text.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

const char* role_name(TensorRole role) {
  switch (role) {
    case TensorRole::Input: return "input";
    case TensorRole::Parameter: return "parameter";
    case TensorRole::Activation: return "activation";
    case TensorRole::Gradient: return "gradient";
    case TensorRole::ParameterGradient: return "parameter_gradient";
    case TensorRole::Constant: return "constant";
    case TensorRole::Statistic: return "statistic";
    case TensorRole::Cache: return "cache";
    case TensorRole::Dequantized: return "dequantized";
  }
  return "";
}

const char* segment_kind_name(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::Embedding: return "embedding";
    case SegmentKind::Layer: return "layer";
    case SegmentKind::Head: return "head";
    case SegmentKind::Tower: return "tower";
  }
  return "";
}

class JsonWriter {
 public:
  explicit JsonWriter(const Report& report) : report_(report) {}

  Json document(const std::vector<ListedSegment>& listing) const {
    Json symbols = Json::object();
    for (const auto& [symbol, value] : report_.binding.items()) symbols[symbol.name()] = value;
    Json segments = Json::array();
    for (const ListedSegment& listed : listing) segments.push_back(segment(listed));
    return {{"design", report_.design.name}, {"symbols", symbols}, {"segments", segments}};
  }

 private:
  // The value is null if the formula cannot be evaluated.
  Json quantity(const Expr& formula) const {
    const auto value = evaluate(formula, report_.binding);
    if (const auto* whole = std::get_if<Wide>(&value)) return json_quantity(*whole, formula);
    return {{"value", nullptr}, {"formula", formula.text()}};
  }

  Json tensor(const Tensor& t) const {
    Json axes = Json::array(), sizes = Json::array();
    for (size_t d = 0; d < t.axes.size(); ++d) {
      axes.push_back(axis_name(t.axes[d]));
      sizes.push_back(quantity(local_size(t, static_cast<int>(d))));
    }
    return {{"name", t.name},
            {"role", role_name(t.role)},
            {"dtype", dtype_name(t.dtype)},
            {"axes", axes},
            {"shape", sizes},
            {"placement", to_string(t.placement, t.axes)},
            {"bytes", quantity(local_bytes(t))}};
  }

  Json node(const Segment& s, const ListedNode& listed) const {
    if (listed.op < 0) {
      const Tensor& t = s.tensor(listed.tensor);
      return {{"id", listed.id}, {"kind", role_name(t.role)}, {"outputs", {tensor(t)}}};
    }
    const Op& op = s.op(listed.op);
    Json outputs = Json::array();
    for (TensorId id : op.outputs) outputs.push_back(tensor(s.tensor(id)));
    Json out{{"id", listed.id},
             {"name", op.name},
             {"label", op.label},
             {"kind", op_kind_name(op.kind)},
             {"phase", phase_name(op.phase)},
             {"block", op.block < 0 ? Json() : Json(s.blocks[static_cast<size_t>(op.block)].name)},
             {"spec", op.spec},
             {"flops", quantity(op.flops)},
             {"useful_flops", quantity(op.useful_flops)},
             {"read_bytes", quantity(op.read_bytes)},
             {"written_bytes", quantity(op.written_bytes)},
             {"outputs", outputs}};
    if (const Redistribution* by = redistribution_of(op)) {
      out["group"] = group_name(by->group);
      out["group_size"] = quantity(group_size(by->group));
    }
    if (is_collective(op.kind)) {
      out["elements"] = quantity(collective_elements(s, op));
      out["bytes"] = quantity(collective_bytes(s, op));
    }
    if (const AttentionAttributes* attention = attention_of(op); attention && attention->window)
      out["window"] = quantity(window_width(s));
    if (is_redistribution(op.kind)) out["why"] = redistribution(op).why;
    return out;
  }

  Json segment(const ListedSegment& listed) const {
    const Segment& s = *listed.segment;
    Json blocks = Json::array(), nodes = Json::array(), edges = Json::array(), saved = Json::array();
    for (const BlockInstance& b : s.blocks)
      blocks.push_back({{"name", b.name}, {"template", b.template_id}, {"label", b.label}});
    for (const ListedNode& n : listed.nodes) nodes.push_back(node(s, n));
    for (const ListedEdge& e : listed.edges) {
      edges.push_back({{"from", listed.nodes[e.from].id},
                       {"to", listed.nodes[e.to].id},
                       {"tensor", s.tensor(e.tensor).name}});
    }
    for (const SavedStorage& saved_storage : s.saved) {
      const Storage& storage = s.storages[static_cast<size_t>(saved_storage.storage)];
      saved.push_back({{"storage", storage.name},
                       {"bytes", quantity(storage.bytes)},
                       {"saver", saved_storage.saver < 0 ? Json() : Json(s.op(saved_storage.saver).name)}});
    }
    return {{"name", s.name},
            {"kind", segment_kind_name(s.kind)},
            {"count", listed.count},
            {"blocks", blocks},
            {"nodes", nodes},
            {"edges", edges},
            {"saved_for_backward", saved}};
  }

  const Report& report_;
};

}  // namespace

std::string graph_json(const Report& report, const std::vector<ListedSegment>& listing) {
  return json_document(JsonWriter(report).document(listing));
}

}  // namespace shardscape
