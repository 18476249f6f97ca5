#include "timing/steady_state/action_transfer.h"

namespace shardscape {
namespace {

using Row = ActionTransfer::Row;

constexpr Row kNothing{ActionTransfer::kNever, ActionTransfer::kNever, ActionTransfer::kNever,
                       ActionTransfer::kNever};

Row only(ActionTransfer::Start start) {
  Row out = kNothing;
  out[start] = 0;
  return out;
}

void raise(Row& row, const Row& other) {
  for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(row[i], other[i]);
}

Row later_by(Row row, double seconds) {
  for (double& end : row) end += seconds;
  return row;
}

}  // namespace

// Repeats Timeline::append with a Row in place of each time.
ActionTransfer::ActionTransfer(const SimulatedAction& action) : ActionTransfer() {
  const std::vector<Node>& nodes = action.timeline.nodes();
  std::vector<Row> ends;  // of the action's nodes
  ends.reserve(nodes.size() - action.first);
  const auto end_of = [&](NodeId id) -> Row {
    if (id == kNoNode) return kNothing;
    if (const auto at = static_cast<size_t>(id); at >= action.first) return ends[at - action.first];
    if (id == action.compute) return only(Compute);
    if (id == action.data) return only(Data);
    return id == action.message ? only(Message) : kNothing;
  };
  compute = only(Compute);
  data = only(Data);
  Row launched = only(Launched);
  bool before_first_layer = true;
  auto wait = action.waits.begin();
  for (size_t i = action.first; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    const bool computes = n.stream == StreamKind::Compute;
    Row& stream = computes ? compute : data;
    Row begin = stream;
    for (NodeId left = *wait++; left > 0; --left) raise(begin, end_of(*wait++));
    const double takes = n.parts ? n.parts->seconds : n.end - n.begin;
    if (n.parts && before_first_layer) {
      first_layer = begin;
      first_layer[Message] = kNever;
      before_first_layer = false;
    }
    if (n.parts && n.parts->host() > 0) {
      raise(begin, launched);
      launched = later_by(launched, n.parts->host());
      begin = later_by(begin, takes);
      raise(begin, launched);
      stream = begin;
    } else {
      stream = later_by(begin, takes);
    }
    ends.push_back(stream);
    if (!computes) continue;
    seconds += takes;
    exposed += n.parts ? communication(n.parts->categories) : is_communication(n.category) ? takes : 0;
    message_before_layer = message_before_layer || !n.parts;
  }
  host = launched[Launched];
}

}  // namespace shardscape
