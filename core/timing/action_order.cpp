#include "timing/action_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "timing/schedule_simulation.h"

namespace shardscape {
namespace {

// Replaces numbers of messages by slots. A slot is free again when all actions that wait for its message have
// received the message.
void assign_slots(ActionOrder& order, int32_t messages) {
  std::vector<int32_t> receivers(static_cast<size_t>(messages), 0);  // by message: actions that wait for it
  std::vector<int32_t> slots(static_cast<size_t>(messages), -1);     // by message
  std::vector<int32_t> free_slots;
  for (const OrderedAction& a : order.actions)
    if (a.message >= 0) ++receivers[static_cast<size_t>(a.message)];
  for (OrderedAction& a : order.actions) {
    if (a.message >= 0) {
      const auto message = static_cast<size_t>(a.message);
      a.message = slots[message];
      if (--receivers[message] == 0) free_slots.push_back(slots[message]);
    }
    if (a.sent_message < 0) continue;
    if (free_slots.empty()) free_slots.push_back(order.message_slots++);
    a.sent_message = slots[static_cast<size_t>(a.sent_message)] = free_slots.back();
    free_slots.pop_back();
  }
}

// Records the order of the schedule simulation. Actions take no time and need no timeline: a message is its
// number.
class Recorder : public ScheduleWork {
 public:
  explicit Recorder(const Schedule& schedule) {
    size_t most = 0;
    for (const std::vector<Action>& actions : schedule.actions) most += actions.size();
    order_.actions.reserve(most);
  }
  NodeId compute(Timeline&, int stage, const Action& action, NodeId arrived) override {
    OrderedAction& a = order_.actions.emplace_back();
    a.stage = static_cast<int16_t>(stage);
    a.kind = action.kind;
    a.chunk = static_cast<uint8_t>(action.chunk);
    a.microbatch = action.microbatch;
    a.pair = action.overlapped;  // find_pairs() numbers them
    a.message = arrived;
    return kNoNode;
  }
  NodeId send(Timeline&, int stage, const Action&, StagePlace to, NodeId) override {
    if (order_.actions.empty() || !can_hold_send(order_.actions.back(), stage)) {
      OrderedAction& send = order_.actions.emplace_back();
      send.stage = static_cast<int16_t>(stage);
      send.kind = ActionKind::SendForward;  // also used for SendBackward, which takes the same link
    }
    order_.actions.back().peer = static_cast<int16_t>(to.stage);
    return order_.actions.back().sent_message = sent_++;
  }
  double message(int, int) const override { return 0; }

  ActionOrder order() && {
    assign_slots(order_, sent_);
    return std::move(order_);
  }

 private:
  // Whether a send of the stage can be stored in the action directly before the send.
  static bool can_hold_send(const OrderedAction& a, int stage) {
    return a.stage == stage && a.sent_message < 0 && a.kind != ActionKind::GradReduce &&
           a.kind != ActionKind::Optimizer;
  }

  ActionOrder order_;
  int32_t sent_ = 0;  // messages so far
};

bool ends_backward(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::BackwardWeight;
}

void find_sync_points(ActionOrder& order) {
  std::vector<OrderedAction*> forwards(static_cast<size_t>(order.stages * order.chunks)),
      backwards = forwards;  // the latest backward
  for (OrderedAction& a : order.actions) {
    const auto chunk = static_cast<size_t>(a.stage * order.chunks + a.chunk);
    if (a.kind == ActionKind::Forward) {
      a.first = !forwards[chunk];
      forwards[chunk] = &a;
    }
    if (ends_backward(a.kind)) backwards[chunk] = &a;
  }
  for (const auto* ends : {&forwards, &backwards})
    for (OrderedAction* action : *ends)
      if (action) action->last = true;
  for (size_t i = 0; i < order.actions.size(); ++i)
    if (order.actions[i].last || order.actions[i].kind == ActionKind::GradReduce)
      order.sync_points.push_back(static_cast<int32_t>(i));
}

// Numbers the pairs of overlapped actions. The backward of a pair is the next action of its stage.
void find_pairs(ActionOrder& order) {
  std::map<OverlappedPair, size_t> numbers;
  std::vector<OrderedAction*> forwards(static_cast<size_t>(order.stages));
  for (OrderedAction& a : order.actions) {
    if (a.pair == 0) continue;
    OrderedAction*& forward = forwards[static_cast<size_t>(a.stage)];
    if (a.kind == ActionKind::Forward) {
      forward = &a;
      continue;
    }
    const OverlappedPair pair{forward->chunk, a.chunk, a.kind};
    const auto [it, fresh] = numbers.try_emplace(pair, numbers.size() + 1);
    if (fresh) order.pairs.push_back(pair);
    if (order.pairs.size() > OrderedAction::kMostPairs) throw std::length_error("too many overlapped pairs");
    forward->pair = a.pair = static_cast<uint16_t>(it->second);
  }
}

// The last window ends with the last forward but one of a stage, before the cool-down.
void mark(ActionOrder& order, int window) {
  order.window = window;
  std::vector<int> all(static_cast<size_t>(order.stages), 0), seen = all;
  for (const OrderedAction& a : order.actions)
    all[static_cast<size_t>(a.stage)] += a.kind == ActionKind::Forward;
  for (OrderedAction& a : order.actions) {
    if (a.kind != ActionKind::Forward) continue;
    const auto stage = static_cast<size_t>(a.stage);
    const int left = all[stage] - ++seen[stage] - 1, each = all[stage] / order.microbatches * window;
    if (left < 0 || left % each != 0 || left / each >= ActionOrder::kMarks) continue;
    a.mark = static_cast<int16_t>(left / each);
    order.marks_end = static_cast<size_t>(&a - order.actions.data()) + 1;
  }
}

}  // namespace

std::shared_ptr<const ActionOrder> action_order(const ParallelSpec& parallel, int microbatches, int rounds,
                                                PlanCache& cache, const std::stop_token& stop) {
  const ScheduleKind kind = schedule_of(parallel);
  const PipelineLayout places = pipeline_layout(parallel);
  const auto stages = static_cast<int>(places.stages);
  const int period = repeats_after(parallel, microbatches);
  const bool repeats = period > 0;
  const bool plain_1f1b = (kind == ScheduleKind::OneFOneB || kind == ScheduleKind::OneFOneBPairs) &&
                          places.chunks == 1;
  const int window = plain_1f1b ? std::max(1, stages / 2) : period;
  int simulated = repeats ? std::max(4 * window, (plain_1f1b ? 2 : 4) * stages) * rounds : microbatches;
  // The last round must have as many microbatches as in the full schedule.
  if (repeats) simulated += ((microbatches - simulated) % period + period) % period;
  const bool shortened = repeats && simulated < microbatches;
  if (!shortened) simulated = microbatches;
  CacheKey key = schedule_key(parallel);
  key.add(int64_t{simulated});
  key.add(int64_t{shortened});
  const auto make = [&]() -> std::shared_ptr<const ActionOrder> {
    const Schedule schedule = make_schedule(parallel, simulated, &cache);
    Recorder recorder(schedule);
    Timeline timeline(stages, false);
    simulate_schedule(schedule, recorder, timeline, stop);
    if (stop.stop_requested()) return nullptr;
    auto out = std::make_shared<ActionOrder>(std::move(recorder).order());
    out->stages = stages;
    out->chunks = static_cast<int>(places.chunks);
    out->microbatches = simulated;
    out->key = {key.words().begin(), key.words().end()};
    find_sync_points(*out);
    find_pairs(*out);
    if (shortened) mark(*out, window);
    return out;
  };
  return cache.get<ActionOrder>(CacheKind::ActionOrder, key, make, [](const ActionOrder& order) {
    return sizeof order + order.actions.size() * sizeof(OrderedAction);
  });
}

}  // namespace shardscape
