// The graph in the DOT language of Graphviz (graphviz.org/doc/info/lang.html).
#include "app/cli/graph_listing.h"

namespace shardscape {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

std::string dot_node(const Segment& s, const ListedNode& listed) {
  if (listed.op < 0) {
    const Tensor& t = s.tensor(listed.tensor);
    return quoted(listed.id) + " [shape=ellipse, label=" + quoted(t.name + "\n" + local_shape_text(t)) +
           "];\n";
  }
  const Op& op = s.op(listed.op);
  const std::string title = op.label.empty() ? op.name : op.label;
  const Redistribution* by = redistribution_of(op);
  const std::string style = by ? "style=filled, fillcolor=\"#f4d9b8\", " : "";
  return quoted(listed.id) + " [" + style +
         "label=" + quoted(title + "\n" + std::string(op_kind_name(op.kind))) +
         ", tooltip=" + quoted(by ? by->why : op.flops.text() + " FLOP") + "];\n";
}

std::string dot_edge(const ListedSegment& listed, const ListedEdge& e) {
  const Tensor& t = listed.segment->tensor(e.tensor);
  return quoted(listed.nodes[e.from].id) + " -> " + quoted(listed.nodes[e.to].id) +
         " [label=" + quoted(local_shape_text(t)) +
         ", tooltip=" + quoted(t.name + ": " + to_string(t.placement, t.axes)) + "];\n";
}

}  // namespace

std::string graph_dot(const Report& report, const std::vector<ListedSegment>& listing) {
  std::string out = "digraph " + quoted(report.design.name) +
                    " {\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
                    "  edge [fontname=\"sans-serif\", fontsize=8];\n";
  for (const ListedSegment& listed : listing) {
    out += "  subgraph " + quoted("cluster_" + listed.segment->name) + " {\n    label=" +
           quoted(listed.segment->name + (listed.count == 1 ? "" : " x " + std::to_string(listed.count))) +
           ";\n";
    for (const ListedNode& n : listed.nodes) out += "    " + dot_node(*listed.segment, n);
    out += "  }\n";
    for (const ListedEdge& e : listed.edges) out += "  " + dot_edge(listed, e);
  }
  return out + "}\n";
}

}  // namespace shardscape
