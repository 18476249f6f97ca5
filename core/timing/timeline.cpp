#include "timing/timeline.h"

#include <algorithm>

namespace shardscape {

Timeline::Timeline(int stages, bool spans) : streams_(static_cast<size_t>(stages)), spans_(spans) {
  constexpr size_t kTypicalNodes = 1 << 9;  // of a steady-state simulation
  nodes_.reserve(kTypicalNodes);
}

NodeId Timeline::append(const Node& of, double seconds, const NodeId* after, size_t count) {
  Node& node = nodes_.emplace_back(of);
  NodeId& last = streams_[static_cast<size_t>(node.stage)].last[static_cast<size_t>(node.stream)];
  node.after = last;
  node.begin = end_of(last);
  for (size_t i = 0; i < count; ++i)
    if (const double end = end_of(after[i]); end > node.begin) {
      if (later(end, node.begin)) node.after = after[i];
      node.begin = end;
    }
  node.end = node.begin + seconds;
  // The host launches kernels ahead of the device, but not past a message: Megatron-LM synchronises after
  // each message (batch_p2p_sync). A node ends no earlier than its launch. The wait for the launch is part of
  // the node, so paths have no gaps.
  double& launched = streams_[static_cast<size_t>(node.stage)].launched;
  for (size_t i = 0; i < count && node.stream == StreamKind::Compute; ++i)
    if (after[i] != kNoNode && this->node(after[i]).peer >= 0)
      launched = std::max(launched, end_of(after[i]));
  if (node.parts && node.parts->host() > 0) {
    const double ready = std::max(node.begin, launched);
    launched += node.parts->host();
    node.end = std::max(ready + seconds, launched);
  }
  if (waits_) {
    waits_->push_back(static_cast<NodeId>(count));
    waits_->insert(waits_->end(), after, after + count);
  }
  return last = static_cast<NodeId>(nodes_.size() - 1);
}

NodeId Timeline::add(const Node& node, double seconds, std::initializer_list<NodeId> after) {
  return append(node, seconds, after.begin(), after.size());
}

NodeId Timeline::add(const Node& node, double seconds, const std::vector<NodeId>& after) {
  return append(node, seconds, after.data(), after.size());
}

NodeId Timeline::latest(std::initializer_list<NodeId> nodes) const {
  NodeId out = kNoNode;
  for (const NodeId id : nodes)
    if (id != kNoNode && (out == kNoNode || end_of(id) > end_of(out))) out = id;
  return out;
}

int32_t Timeline::name(const SpanName& name) {
  if (!spans_) return -1;
  const auto it = std::find(names_.begin(), names_.end(), name);
  if (it != names_.end()) return static_cast<int32_t>(it - names_.begin());
  names_.push_back(name);
  return static_cast<int32_t>(names_.size() - 1);
}

void Timeline::resume(int stage, double end, double launched) {
  Streams& streams = streams_[static_cast<size_t>(stage)];
  streams.launched = launched;
  if (end_of(streams.last[static_cast<size_t>(StreamKind::Compute)]) != end)
    add_external(stage, StreamKind::Compute, end, end);
}

// The node begins at 0, so a wait for it is attributed to data communication alone.
void Timeline::resume_data_stream(int stage, double end) {
  if (end_of(last(stage, StreamKind::DataComm)) != end) add_external(stage, StreamKind::DataComm, 0, end);
}

NodeId Timeline::add_external(int stage, StreamKind stream, double begin, double end) {
  NodeId& last = streams_[static_cast<size_t>(stage)].last[static_cast<size_t>(stream)];
  Node node;
  node.begin = begin;
  node.end = end;
  node.after = last;
  node.stage = stage;
  node.stream = stream;
  if (stream == StreamKind::DataComm) node.category = TimeCategory::DataComm;
  node.external = true;
  last = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(node);
  return last;
}

NodeId Timeline::arrive(int stage, double begin, double end) {
  Node node;
  node.begin = begin;
  node.end = end;
  node.stage = node.peer = stage;
  node.stream = StreamKind::PipelineComm;
  node.kind = SpanKind::Send;
  node.category = TimeCategory::PipelineComm;
  node.external = true;
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

size_t Timeline::mark(int stage) {
  marks_.push_back({nodes_.size(), stage});
  return marks_.size() - 1;
}

void Timeline::finish(Simulation& out) {
  out.stages.assign(streams_.size(), {});
  out.step_seconds = 0;
  for (const Node& n : nodes_) out.step_seconds = std::max(out.step_seconds, n.end);
  if (spans_) make_spans(out);
  make_categories(out);
  if (spans_) make_critical(out);
  out.names = names_;
}

// Consecutive compute nodes of one action form one span. Every other node is a span of its own.
void Timeline::make_spans(Simulation& out) {
  // First node of the latest span of the compute stream.
  std::vector<int32_t> open(streams_.size(), -1);
  std::vector<std::vector<NodeId>> first(streams_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& n = nodes_[i];
    const auto stage = static_cast<size_t>(n.stage);
    std::vector<Span>& spans = out.stages[stage].spans;
    if (n.stream == StreamKind::Compute && open[stage] >= 0) {
      const Node& before = nodes_[static_cast<size_t>(open[stage])];
      if (before.kind == n.kind && before.microbatch == n.microbatch && before.chunk == n.chunk &&
          before.name == n.name) {
        n.span = before.span;
        spans[static_cast<size_t>(n.span)].end = n.end;
        continue;
      }
    }
    n.span = static_cast<int32_t>(spans.size());
    spans.push_back({n.begin, n.end, n.kind, n.stream, n.microbatch, n.chunk, n.name, -1, -1, false});
    first[stage].push_back(static_cast<NodeId>(i));
    if (n.stream == StreamKind::Compute) open[stage] = static_cast<int32_t>(i);
  }
  make_receives(out);
  // Sort spans by begin; nodes get the new indices.
  std::vector<std::vector<int32_t>> place(streams_.size());
  for (size_t s = 0; s < streams_.size(); ++s) {
    std::vector<Span>& spans = out.stages[s].spans;
    std::vector<int32_t> order(spans.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return spans[static_cast<size_t>(a)].begin < spans[static_cast<size_t>(b)].begin;
    });
    place[s].resize(order.size());
    std::vector<Span> sorted;
    sorted.reserve(spans.size());
    for (size_t i = 0; i < order.size(); ++i) {
      place[s][static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
      sorted.push_back(spans[static_cast<size_t>(order[i])]);
    }
    spans = std::move(sorted);
  }
  for (Node& n : nodes_) n.span = place[static_cast<size_t>(n.stage)][static_cast<size_t>(n.span)];
  for (size_t s = 0; s < streams_.size(); ++s)
    for (const NodeId id : first[s]) {
      if (node(id).after == kNoNode) continue;
      const Node& before = node(node(id).after);
      Span& span = out.stages[s].spans[static_cast<size_t>(node(id).span)];
      span.waits_stage = before.stage;
      span.waits_span = before.span;
    }
  for (StageTimes& stage : out.stages)
    for (Span& span : stage.spans)
      if (span.kind == SpanKind::Receive)
        span.waits_span = place[static_cast<size_t>(span.waits_stage)][static_cast<size_t>(span.waits_span)];
}

// Received messages. Messages of both neighbours share the link into the stage, so each begins no earlier
// than the end of the previous one.
void Timeline::make_receives(Simulation& out) const {
  std::vector<std::vector<Span>> received(streams_.size());
  for (const Node& n : nodes_)
    if (n.peer >= 0)
      received[static_cast<size_t>(n.peer)].push_back({n.begin, n.end, SpanKind::Receive, StreamKind::Receive,
                                                       n.microbatch, n.peer_chunk, n.name, n.stage, n.span,
                                                       false});
  for (size_t s = 0; s < received.size(); ++s) {
    std::stable_sort(received[s].begin(), received[s].end(),
                     [](const Span& a, const Span& b) { return a.end < b.end; });
    double free = 0;
    for (Span& span : received[s]) {
      span.begin = std::max(span.begin, free);
      free = span.end;
      out.stages[s].spans.push_back(span);
    }
  }
}

// Attributes the wait of a stage in [begin, end). Goes back from the cause through the nodes that it waited
// for: a wait counts as communication while a communication node ran, otherwise as a bubble.
void Timeline::attribute_wait(double begin, double end, NodeId cause, int stage, StageTimes& times) const {
  const auto take = [&](TimeCategory category, double until, int32_t name = -1) {
    if (until >= end) return;
    times.seconds[static_cast<size_t>(category)] += end - until;
    if (name >= 0) times.name_waits[static_cast<size_t>(name)] += end - until;
    end = until;
  };
  while (cause != kNoNode && end > begin) {
    const Node& n = node(cause);
    if (n.stream == StreamKind::Compute) break;
    const bool message = n.kind == SpanKind::Send;
    if (n.stage != stage && !message) break;
    take(TimeCategory::Bubble, std::max(begin, n.end));
    take(n.category, std::max(begin, n.begin), n.name);
    if (message) break;  // earlier waits belong to another stage
    cause = n.after;
  }
  take(TimeCategory::Bubble, begin);
}

void Timeline::make_categories(Simulation& out) {
  std::vector<double> free(streams_.size(), 0);
  std::vector<NodeId> last(streams_.size(), kNoNode);
  for (StageTimes& stage : out.stages) stage.name_waits.assign(names_.size(), 0);
  auto next = marks_.begin();
  const auto pass_marks = [&](size_t i) {
    for (; next != marks_.end() && next->node <= i; ++next) {
      const CategorySeconds& seconds = out.stages[static_cast<size_t>(next->stage)].seconds;
      next->bubble = seconds[static_cast<size_t>(TimeCategory::Bubble)];
      next->exposed = shardscape::communication(seconds);
    }
  };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    pass_marks(i);
    const Node& n = nodes_[i];
    const auto s = static_cast<size_t>(n.stage);
    StageTimes& stage = out.stages[s];
    // No node of this stage waits for a sent message.
    if (n.peer < 0 && (last[s] == kNoNode || n.end > node(last[s]).end)) last[s] = static_cast<NodeId>(i);
    if (n.external) {
      if (n.stream == StreamKind::Compute) free[s] = n.end;
      continue;
    }
    if (n.stream != StreamKind::Compute) {
      // A message counts as communication of the receiving stage, which may have to wait.
      if (is_communication(n.category))
        out.stages[n.peer >= 0 ? static_cast<size_t>(n.peer) : s].communication += n.end - n.begin;
      continue;
    }
    if (n.begin > free[s]) attribute_wait(free[s], n.begin, n.after, n.stage, stage);
    free[s] = n.end;
    if (n.parts) {
      for (size_t c = 0; c < stage.seconds.size(); ++c) stage.seconds[c] += n.parts->categories[c];
      if (n.parts->host() > 0)
        stage.seconds[static_cast<size_t>(TimeCategory::Host)] += n.end - n.begin - n.parts->seconds;
      stage.communication += n.parts->communication;
    } else {
      stage.seconds[static_cast<size_t>(n.category)] += n.end - n.begin;
      if (is_communication(n.category)) {
        stage.communication += n.end - n.begin;
        stage.message_gathers += n.end - n.begin;
      }
    }
  }
  pass_marks(nodes_.size());
  double bubble = 0, exposed = 0;
  for (size_t s = 0; s < streams_.size(); ++s) {
    StageTimes& stage = out.stages[s];
    // Streams that run on after the last compute node, until the last stage has ended too.
    const double end = std::max(free[s], end_of(last[s]));
    attribute_wait(free[s], end, last[s], static_cast<int>(s), stage);
    stage.seconds[static_cast<size_t>(TimeCategory::Bubble)] += out.step_seconds - end;
    stage.exposed = shardscape::communication(stage.seconds);
    bubble += stage.seconds[static_cast<size_t>(TimeCategory::Bubble)];
    exposed += stage.exposed;
  }
  const double all = out.step_seconds * static_cast<double>(streams_.size());
  out.bubble = all > 0 ? bubble / all : 0;
  out.exposed = all > 0 ? exposed / all : 0;
}

// Goes back from the node that ends last. Each part begins when the previous part ends.
void Timeline::make_critical(Simulation& out) const {
  NodeId at = kNoNode;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (at == kNoNode || nodes_[i].end > node(at).end) at = static_cast<NodeId>(i);
  for (; at != kNoNode; at = node(at).after) {
    const Node& n = node(at);
    out.stages[static_cast<size_t>(n.stage)].spans[static_cast<size_t>(n.span)].critical = true;
    if (n.parts) {
      for (size_t c = 0; c < out.critical_seconds.size(); ++c)
        out.critical_seconds[c] += n.parts->categories[c];
      if (n.parts->host() > 0)
        out.critical_seconds[static_cast<size_t>(TimeCategory::Host)] += n.end - n.begin - n.parts->seconds;
    } else {
      out.critical_seconds[static_cast<size_t>(n.category)] += n.end - n.begin;
    }
    if (!out.critical.empty() && out.critical.back().stage == n.stage && out.critical.back().span == n.span) {
      out.critical.back().begin = n.begin;
    } else {
      out.critical.push_back({n.stage, n.span, n.begin, n.end});
    }
  }
  std::reverse(out.critical.begin(), out.critical.end());
}

}  // namespace shardscape
