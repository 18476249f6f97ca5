#include "trace/trace_query.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/units.h"
#include "chakra/chakra.h"
#include "trace/trace_graph.h"
#include "trace/trace_summary.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
using chakra::NodeType;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool contains(std::string_view text, const std::string& wanted) {
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

std::string work_text(const RawNode& node) {
  if (const auto key = comm_key(node)) {
    std::string text = node.type == static_cast<int64_t>(NodeType::Coll) ? key->what + " of " : "";
    text += grouped(key->bytes) + " bytes";
    if (!key->group.empty()) text += " over group " + key->group;
    const auto end = [&](Attr attr, const char* word) {
      if (node.attr(attr).present) text += word + std::to_string(attr_integer(node, attr));
    };
    if (node.type == static_cast<int64_t>(NodeType::Send)) end(Attr::CommDst, " to rank ");
    if (node.type == static_cast<int64_t>(NodeType::Recv)) end(Attr::CommSrc, " from rank ");
    return text;
  }
  std::string text;
  if (const int64_t flops = attr_integer(node, Attr::NumOps); flops > 0) text = format_flops(flops);
  if (const int64_t bytes = attr_integer(node, Attr::TensorSize); bytes > 0)
    text += (text.empty() ? "" : ", ") + format_bytes(bytes);
  return text;
}

// Distances of the nodes around the centre: breadth first, at most `most` positions.
std::map<uint32_t, int> distances(const TraceGraph& graph, uint32_t centre, int depth, size_t most,
                                  int64_t& left_out) {
  std::map<uint32_t, int> of{{centre, 0}};
  for (const int direction : {-1, 1}) {
    std::vector<uint32_t> frontier{centre};
    for (int step = 1; step <= depth && !frontier.empty(); ++step) {
      std::vector<uint32_t> next;
      const auto reach = [&](uint32_t p) {
        if (p == TraceGraph::kMissing || of.contains(p)) return;
        if (of.size() > most) {
          ++left_out;
          return;
        }
        of[p] = direction * step;
        next.push_back(p);
      };
      if (direction < 0) {
        for (const uint32_t p : frontier)
          for (const uint32_t d : graph.dependencies(p)) reach(d);
      } else {
        for (const auto& list : graph.dependents_of(frontier))
          for (const uint32_t d : list) reach(d);
      }
      frontier = std::move(next);
    }
  }
  return of;
}

}  // namespace

FoundNode describe_node(const RawNode& node) {
  return {node.id, std::string(node.name), type_text(node.type), work_text(node), node.duration};
}

Result<FoundNodes> find_nodes(const fs::path& file, std::string_view content, const std::string& text,
                              size_t most, const std::stop_token& stop) {
  std::string wanted = text;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), lower);
  FoundNodes found;
  auto header = visit_nodes(
      file, content,
      [&](const RawNode& node, std::string_view) {
        if (!contains(node.name, wanted)) return;
        if (++found.count <= static_cast<int64_t>(most)) found.nodes.push_back(describe_node(node));
      },
      stop);
  if (auto* problem = std::get_if<Problem>(&header)) return std::move(*problem);
  return found;
}

Result<Neighbourhood> around_node(const fs::path& file, std::string_view content, uint64_t id, int depth,
                                  size_t most, const std::stop_token& stop) {
  TraceGraph graph;
  auto header = visit_nodes(
      file, content, [&](const RawNode& node, std::string_view) { graph.add(node); }, stop);
  if (auto* problem = std::get_if<Problem>(&header)) return std::move(*problem);
  graph.finish();
  const auto centre = graph.find(id);
  if (!centre)
    return Problem{ProblemCode::TraceFormat, file.string(), "no node has the id " + std::to_string(id),
                   "an id from " + std::to_string(graph.first_id()) + " to " +
                       std::to_string(graph.last_id()) + "; --find TEXT shows ids"};
  Neighbourhood out;
  const auto distance = distances(graph, *centre, depth, most, out.left_out);
  uint32_t position = 0;
  visit_nodes(
      file, content,
      [&](const RawNode& node, std::string_view bytes) {
        const auto it = distance.find(position++);
        if (it == distance.end()) return;
        NeighbourNode neighbour{describe_node(node), it->second, node.ctrl_deps};
        neighbour.depends_on.insert(neighbour.depends_on.end(), node.data_deps.begin(), node.data_deps.end());
        if (it->first != *centre) {
          out.others.push_back(std::move(neighbour));
          return;
        }
        for (const uint64_t dep : neighbour.depends_on)
          if (!graph.find(dep)) out.missing.push_back(dep);
        out.centre = std::move(neighbour);
        // Older binary schemas give their numbers other meanings.
        const TraceHeader& form = std::get<TraceHeader>(header);
        if (form.simulated || !form.binary) out.attributes = node_attributes(bytes, form.binary);
      },
      stop);
  std::stable_sort(out.others.begin(), out.others.end(),
                   [](const NeighbourNode& a, const NeighbourNode& b) { return a.distance < b.distance; });
  return out;
}

}  // namespace shardscape
