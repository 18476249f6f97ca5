// What runs when on the streams of every stage: nodes that begin when their stream is free and all that they
// wait for has ended.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "timing/layer_seconds.h"

namespace shardscape {

using NodeId = int32_t;  // index into Timeline::nodes(); kNoNode: nothing, which has always ended
inline constexpr NodeId kNoNode = -1;

// Whether a moment is later than another. Those that differ by rounding are the same, so that no share of a
// step hangs on it which of two things that end at once is said to have been waited for: the first that is
// named.
inline bool later(double a, double b) { return a > b + 1e-10 * b; }

struct Node {
  double begin = 0, end = 0;
  NodeId after = kNoNode;  // what ended last before it could begin
  int32_t stage = 0;
  StreamKind stream = StreamKind::Compute;
  SpanKind kind = SpanKind::Forward;
  TimeCategory category = TimeCategory::Products;  // of nodes without parts
  int32_t microbatch = -1, chunk = 0, name = -1;
  int32_t peer = -1, peer_chunk = 0;   // of a message: the stage that it goes to, and the virtual stage there
  const PartSeconds* parts = nullptr;  // what the seconds are made of; outlives the timeline
  int32_t span = -1;                   // index into the stage's spans, set by finish
  bool elsewhere = false;              // stands for what was played, and counted, elsewhere
};

class Timeline {
 public:
  // spans: whether anybody looks at spans, names and the critical path.
  explicit Timeline(int stages, bool spans = true);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  int stages() const { return static_cast<int>(streams_.size()); }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  double end_of(NodeId id) const { return id == kNoNode ? 0 : node(id).end; }
  NodeId last(int stage, StreamKind stream) const { return of(stage).last[static_cast<size_t>(stream)]; }

  // Appends to the node's stream. Sends, receives and their like give what they wait for.
  NodeId add(Node node, double seconds, std::initializer_list<NodeId> after);
  NodeId add(Node node, double seconds, const std::vector<NodeId>& after);
  // The one of them that ends last.
  NodeId latest(std::initializer_list<NodeId> nodes) const;
  int32_t name(const std::string& text);
  bool has_spans() const { return spans_; }

  // Of what is played elsewhere: the compute stream of the stage has run until then, the host was busy with
  // launches until `launched`; a message has come.
  void resume(int stage, double end, double launched);
  void resume_data(int stage, double end);  // the same of collectives over replicas
  NodeId arrive(int stage, double begin, double end);
  NodeId elsewhere(int stage, StreamKind stream, double begin, double end);  // the last of its stream
  double launched(int stage) const { return of(stage).launched; }
  // What is added to a stage after a checkpoint can be undone, if nothing is added to others meanwhile.
  auto checkpoint(int stage) const { return std::pair{nodes_.size(), of(stage)}; }
  void undo(int stage, const auto& checkpoint) {
    nodes_.resize(checkpoint.first);
    streams_[static_cast<size_t>(stage)] = checkpoint.second;
  }
  // While it is set, writes down what nodes are added with: of each how many others it waits for besides its
  // stream, and which.
  void note_waits(std::vector<NodeId>* into) { waits_ = into; }
  // What a stage has waited for up to here; known once finished. Returns the index of the mark.
  struct Mark {
    size_t node;
    int stage;
    double bubble = 0, exposed = 0;  // seconds
  };
  size_t mark(int stage);
  const std::vector<Mark>& marks() const { return marks_; }

  // Spans, categories, the critical path; step_seconds is the end of the last node.
  void finish(Simulation& out);

 private:
  struct Streams {
    std::array<NodeId, kStreamKindCount> last;
    double launched = 0;  // until when the host is busy with launches
    Streams() { last.fill(kNoNode); }
  };
  const Streams& of(int stage) const { return streams_[static_cast<size_t>(stage)]; }
  NodeId append(Node node, double seconds, const NodeId* after, size_t count);
  void make_spans(Simulation& out);
  void make_receives(Simulation& out) const;
  void make_categories(Simulation& out);
  void cover(double begin, double end, NodeId cause, int stage, CategorySeconds& seconds) const;
  void make_critical(Simulation& out) const;

  std::vector<Node> nodes_;
  std::vector<Streams> streams_;
  std::vector<std::string> names_;
  std::vector<Mark> marks_;  // in the order of nodes
  std::vector<NodeId>* waits_ = nullptr;
  bool spans_;
};

}  // namespace shardscape
