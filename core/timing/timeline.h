// The timeline: nodes on the streams of every stage. A node begins when its stream is free and all nodes that
// it waits for have ended. Times are in seconds since the step began.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "timing/layer_seconds.h"

namespace shardscape {

// Index into Timeline::nodes(). kNoNode: no node; it has always ended.
using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// Whether time a is later than time b. Times that differ only by rounding are equal. Therefore rounding never
// decides which of two simultaneous nodes counts as the cause of a wait: the first one in the list counts.
inline bool later(double a, double b) { return a > b + 1e-10 * b; }

struct Node {
  double begin = 0, end = 0;
  NodeId after = kNoNode;  // the node that ended last among those that this node waited for
  int32_t stage = 0;
  StreamKind stream = StreamKind::Compute;
  SpanKind kind = SpanKind::Forward;
  TimeCategory category = TimeCategory::MatrixProducts;  // of a node without parts
  int32_t microbatch = -1, chunk = 0, name = -1;
  // Of a message: the receiving stage, and the virtual stage there.
  int32_t peer = -1, peer_chunk = 0;
  const PartSeconds* parts = nullptr;  // parts of the node's seconds; must outlive the timeline
  int32_t span = -1;                   // index into the stage's spans, set by finish()
  bool external = false;               // stands for work that another simulation runs and counts
};

class Timeline {
 public:
  // spans: whether to record spans, names and the critical path.
  explicit Timeline(int stages, bool spans = true);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  int stages() const { return static_cast<int>(streams_.size()); }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  double end_of(NodeId id) const { return id == kNoNode ? 0 : node(id).end; }
  NodeId last(int stage, StreamKind stream) const { return of(stage).last[static_cast<size_t>(stream)]; }

  // Appends a node to its stream. after: nodes that it waits for.
  NodeId add(const Node& node, double seconds, std::initializer_list<NodeId> after);
  NodeId add(const Node& node, double seconds, const std::vector<NodeId>& after);
  // The node that ends last.
  NodeId latest(std::initializer_list<NodeId> nodes) const;
  int32_t name(const SpanName& name);  // index into Simulation::names
  bool has_spans() const { return spans_; }

  // Continue after actions that the steady-state simulation ran without nodes, through external nodes.
  // resume: the compute stream ran until `end`, the host launched until `launched`. arrive: a message
  // arrived.
  void resume(int stage, double end, double launched);
  void resume_data_stream(int stage, double end);  // the same for DataComm
  NodeId arrive(int stage, double begin, double end);
  // Adds an external node; it becomes the last node of its stream.
  NodeId add_external(int stage, StreamKind stream, double begin, double end);
  // The host launches nothing more until the compute stream has ended.
  void synchronize(int stage) {
    double& launched = streams_[static_cast<size_t>(stage)].launched;
    launched = std::max(launched, end_of(last(stage, StreamKind::Compute)));
  }
  double launched(int stage) const { return of(stage).launched; }
  // undo() removes the nodes that a stage got after a checkpoint. Other stages must not get nodes in between.
  auto checkpoint(int stage) const { return std::pair{nodes_.size(), of(stage)}; }
  void undo(int stage, const auto& checkpoint) {
    nodes_.resize(checkpoint.first);
    streams_[static_cast<size_t>(stage)] = checkpoint.second;
  }
  // While set, records the dependencies of every new node: their number (without the node's own stream), then
  // their ids.
  void record_dependencies(std::vector<NodeId>* into) { waits_ = into; }
  // Marks the current time of a stage. finish() computes the waits of the stage up to the mark. Returns the
  // index of the mark.
  struct Mark {
    size_t node;
    int stage;
    double bubble = 0, exposed = 0;  // seconds
  };
  size_t mark(int stage);
  const std::vector<Mark>& marks() const { return marks_; }

  // Computes spans, categories and the critical path. step_seconds is the end of the last node.
  void finish(Simulation& out);

 private:
  struct Streams {
    std::array<NodeId, kStreamKindCount> last;
    double launched = 0;  // end of the host's launches
    Streams() { last.fill(kNoNode); }
  };
  const Streams& of(int stage) const { return streams_[static_cast<size_t>(stage)]; }
  NodeId append(const Node& of, double seconds, const NodeId* after, size_t count);
  void make_spans(Simulation& out);
  void make_receives(Simulation& out) const;
  void make_categories(Simulation& out);
  void attribute_wait(double begin, double end, NodeId cause, int stage, StageTimes& times) const;
  void make_critical(Simulation& out) const;

  std::vector<Node> nodes_;
  std::vector<Streams> streams_;
  std::vector<SpanName> names_;
  std::vector<Mark> marks_;  // in the order of nodes
  std::vector<NodeId>* waits_ = nullptr;
  bool spans_;
};

}  // namespace shardscape
