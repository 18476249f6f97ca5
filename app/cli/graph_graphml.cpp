// The graph as GraphML (graphml.graphdrawing.org), which NetworkX, Gephi and yEd open.
#include "app/cli/graph_listing.h"
#include "report/page_report.h"

namespace shardscape {
namespace {

struct Key {
  const char *id, *of, *name;
};
constexpr Key kKeys[] = {
    {"title", "node", "title"},   {"kind", "node", "kind"},   {"segment", "node", "segment"},
    {"count", "node", "count"},   {"flops", "node", "flops"}, {"why", "node", "why"},
    {"tensor", "edge", "tensor"}, {"shape", "edge", "shape"}, {"placement", "edge", "placement"}};

std::string data(const char* key, const std::string& value) {
  return value.empty() ? "" : std::string("<data key=\"") + key + "\">" + html_text(value) + "</data>";
}

std::string node(const ListedSegment& listed, const ListedNode& n) {
  const Segment& s = *listed.segment;
  std::string out = "<node id=\"" + html_text(n.id) + "\">" + data("segment", s.name) +
                    data("count", std::to_string(listed.count));
  if (n.op < 0) {
    out += data("title", s.tensor(n.tensor).name) + data("kind", "tensor");
  } else {
    const Op& op = s.op(n.op);
    const Redistribution* by = redistribution_of(op);
    out += data("title", op.label.empty() ? op.name : op.label) +
           data("kind", std::string(op_kind_name(op.kind))) +
           (by ? data("why", by->why) : data("flops", op.flops.text()));
  }
  return out + "</node>\n";
}

std::string edge(const ListedSegment& listed, const ListedEdge& e) {
  const Tensor& t = listed.segment->tensor(e.tensor);
  return "<edge source=\"" + html_text(listed.nodes[e.from].id) + "\" target=\"" +
         html_text(listed.nodes[e.to].id) + "\">" + data("tensor", t.name) +
         data("shape", local_shape_text(t)) + data("placement", to_string(t.placement, t.axes)) + "</edge>\n";
}

}  // namespace

std::string graph_graphml(const Report& report, const std::vector<ListedSegment>& listing) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  for (const Key& key : kKeys)
    out += std::string("<key id=\"") + key.id + "\" for=\"" + key.of + "\" attr.name=\"" + key.name +
           "\" attr.type=\"string\"/>\n";
  out += "<graph id=\"" + html_text(report.design.name) + "\" edgedefault=\"directed\">\n";
  for (const ListedSegment& listed : listing) {
    for (const ListedNode& n : listed.nodes) out += node(listed, n);
    for (const ListedEdge& e : listed.edges) out += edge(listed, e);
  }
  return out + "</graph>\n</graphml>\n";
}

}  // namespace shardscape
