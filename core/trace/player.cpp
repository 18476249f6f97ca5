#include "trace/player.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

namespace shardscape {
namespace {

using chakra::CollectiveType;
using chakra::NodeType;

constexpr uint32_t kNobody = UINT32_MAX;
constexpr int kStuckShown = 8;  // ranks described where the play stops

struct MeetingKey {
  int64_t group;
  uint32_t issue;
  bool operator==(const MeetingKey&) const = default;
};
struct MessageKey {
  int64_t source, destination, size;
  int32_t tag;
  bool operator==(const MessageKey&) const = default;
};
struct KeyHash {
  static uint64_t mix(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0xff51afd7ed558ccdull;
    return a ^ a >> 32;
  }
  size_t operator()(const MeetingKey& k) const { return mix(mix(7, static_cast<uint64_t>(k.group)), k.issue); }
  size_t operator()(const MessageKey& k) const {
    return mix(mix(mix(mix(11, static_cast<uint64_t>(k.source)), static_cast<uint64_t>(k.destination)),
                   static_cast<uint64_t>(k.size)),
               static_cast<uint64_t>(k.tag));
  }
};

class Player {
 public:
  Player(const BundleTraces& traces, const BundleConfig& config, Findings& findings)
      : traces_(traces), config_(config), findings_(findings), ranks_(traces.ranks.size()) {}

  bool run(const std::stop_token& stop) {
    for (size_t r = 0; r < ranks_.size(); ++r) start(static_cast<int64_t>(r));
    for (size_t steps = 0; !busy_.empty(); ++steps) {
      if (steps % 1024 == 0 && stop.stop_requested()) return false;
      const int64_t rank = busy_.front();
      busy_.pop_front();
      state(rank).queued = false;
      issue(rank);
    }
    return all_finished();
  }

 private:
  struct Rank {
    std::vector<uint32_t> waits;     // per communication node: how many must finish first
    std::vector<uint32_t> issued;    // per group slot
    std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>, std::greater<>> ready;
    uint32_t running = kNobody;      // the collective in flight
    size_t done = 0;
    bool queued = false;
  };
  struct Waiting {
    int64_t rank;
    uint32_t comm;
  };
  struct Message {
    size_t arrived = 0;
    std::deque<Waiting> receivers;
  };

  Rank& state(int64_t rank) { return ranks_[static_cast<size_t>(rank)]; }
  const ShapeNode& node(int64_t rank, uint32_t comm) const {
    return traces_.shape(rank).nodes[traces_.analysis(rank).comm[comm].node];
  }
  int64_t peer(int64_t rank, const ShapeNode& n) const { return traces_.ranks[static_cast<size_t>(rank)].peers[n.slot]; }
  int64_t group(int64_t rank, const ShapeNode& n) const { return traces_.ranks[static_cast<size_t>(rank)].groups[n.slot]; }
  size_t group_size(int64_t group) const {
    return group == 0 ? ranks_.size() : config_.groups.at(group).size();
  }

  void start(int64_t rank) {
    if (!traces_.ranks[static_cast<size_t>(rank)].readable) return;
    const ShapeAnalysis& a = traces_.analysis(rank);
    Rank& s = state(rank);
    s.waits.reserve(a.comm.size());
    for (const CommNode& c : a.comm) s.waits.push_back(c.pred_count);
    s.issued.resize(traces_.shape(rank).group_slots);
    for (uint32_t i = 0; i < a.comm.size(); ++i)
      if (a.comm[i].pred_count == 0) arrive(rank, i);
    wake(rank);
  }

  void wake(int64_t rank) {
    if (std::exchange(state(rank).queued, true)) return;
    busy_.push_back(rank);
  }

  // All dependencies of the node are done.
  void arrive(int64_t rank, uint32_t comm) {
    if (traces_.analysis(rank).comm[comm].join) return finish(rank, comm);
    const ShapeNode& n = node(rank, comm);
    if (n.type != NodeType::Recv) {
      state(rank).ready.push({n.id, comm});
      return;
    }
    Message& message = messages_[{peer(rank, n), rank, n.size, n.tag}];
    if (message.arrived == 0) {
      message.receivers.push_back({rank, comm});
      return;
    }
    --message.arrived;
    finish(rank, comm);
  }

  void finish(int64_t rank, uint32_t comm) {
    // Not recursive: a chain of nodes that complete at once may be long.
    finished_.push_back({rank, comm});
    if (std::exchange(finishing_, true)) return;
    while (!finished_.empty()) {
      const Waiting w = finished_.back();
      finished_.pop_back();
      const ShapeAnalysis& a = traces_.analysis(w.rank);
      Rank& s = state(w.rank);
      ++s.done;
      const CommNode& c = a.comm[w.comm];
      for (uint32_t k = 0; k < c.succ_count; ++k) {
        const uint32_t next = a.succs[c.succs + k];
        if (--s.waits[next] == 0) arrive(w.rank, next);
      }
      wake(w.rank);
    }
    finishing_ = false;
  }

  void issue(int64_t rank) {
    Rank& s = state(rank);
    while (s.running == kNobody && !s.ready.empty()) {
      const uint32_t comm = s.ready.top().second;
      s.ready.pop();
      const ShapeNode& n = node(rank, comm);
      if (n.type == NodeType::Send)
        send(rank, comm, n);
      else if (n.collective == CollectiveType::Broadcast)
        finish(rank, comm);
      else
        meet(rank, comm, n);
    }
  }

  // A send is done when the packet arrives, whether a receive waits for it or not.
  void send(int64_t rank, uint32_t comm, const ShapeNode& n) {
    Message& message = messages_[{rank, peer(rank, n), n.size, n.tag}];
    if (message.receivers.empty()) {
      ++message.arrived;
    } else {
      const Waiting receiver = message.receivers.front();
      message.receivers.pop_front();
      finish(receiver.rank, receiver.comm);
    }
    finish(rank, comm);
  }

  void meet(int64_t rank, uint32_t comm, const ShapeNode& n) {
    Rank& s = state(rank);
    s.running = comm;
    const MeetingKey key{group(rank, n), s.issued[n.slot]++};
    std::vector<Waiting>& here = meetings_[key];
    here.push_back({rank, comm});
    if (here.size() < group_size(key.group)) return;
    for (const Waiting& w : here) {
      const ShapeNode& other = node(w.rank, w.comm);
      if (other.collective != n.collective || other.size != n.size) return;  // they never complete
    }
    const std::vector<Waiting> members = std::move(here);
    meetings_.erase(key);
    for (const Waiting& w : members) state(w.rank).running = kNobody;
    for (const Waiting& w : members) finish(w.rank, w.comm);
  }

  bool all_finished() {
    int64_t stuck = 0, unreadable = 0, first = -1;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const auto rank = static_cast<int64_t>(r);
      if (!traces_.ranks[r].readable) {
        ++unreadable;
      } else if (!traces_.analysis(rank).complete || ranks_[r].done < traces_.analysis(rank).comm.size()) {
        if (first < 0) first = rank;
        if (ranks_[r].done < traces_.analysis(rank).comm.size() && stuck < kStuckShown) describe(rank);
        ++stuck;
      }
    }
    if (stuck > 0)
      findings_.error("NOT_FINISHED", first, -1, std::to_string(stuck) + " of " + std::to_string(ranks_.size()) +
                                                     " ranks cannot run to their end");
    return stuck == 0 && unreadable == 0;
  }

  void describe(int64_t rank) {
    Rank& s = state(rank);
    if (s.running != kNobody) return describe_meeting(rank);
    const ShapeAnalysis& a = traces_.analysis(rank);
    for (uint32_t i = 0; i < a.comm.size(); ++i) {
      if (a.comm[i].join || s.waits[i] != 0) continue;
      const ShapeNode& n = node(rank, i);
      if (n.type != NodeType::Recv || !waits_for_message(rank, i, n)) continue;
      findings_.error("WAITS", rank, static_cast<int64_t>(n.id),
                      "waits for ever to receive " + std::to_string(n.size) + " bytes with tag " + std::to_string(n.tag) +
                          " from rank " + std::to_string(peer(rank, n)));
      return;
    }
    findings_.error("WAITS", rank, -1, "waits for ever for nodes in a cycle or for missing ones");
  }

  bool waits_for_message(int64_t rank, uint32_t comm, const ShapeNode& n) {
    const auto it = messages_.find({peer(rank, n), rank, n.size, n.tag});
    return it != messages_.end() &&
           std::any_of(it->second.receivers.begin(), it->second.receivers.end(),
                       [&](const Waiting& w) { return w.rank == rank && w.comm == comm; });
  }

  void describe_meeting(int64_t rank) {
    Rank& s = state(rank);
    const ShapeNode& n = node(rank, s.running);
    const int64_t id = group(rank, n);
    const uint32_t number = s.issued[n.slot];
    std::string missing;
    int64_t count = 0;
    const auto look = [&](int64_t member) {
      const auto& here = meetings_[{id, number - 1}];
      if (std::any_of(here.begin(), here.end(), [&](const Waiting& w) { return w.rank == member; })) return;
      if (++count <= 8) missing += (missing.empty() ? "" : ", ") + std::to_string(member);
    };
    if (id == 0)
      for (size_t r = 0; r < ranks_.size(); ++r) look(static_cast<int64_t>(r));
    else
      for (const int64_t member : config_.groups.at(id)) look(member);
    findings_.error("WAITS", rank, static_cast<int64_t>(n.id),
                    "waits for ever in collective " + std::to_string(number) + " of " +
                        (id == 0 ? std::string("the world") : "group " + std::to_string(id)) + " (" + collective_text(n) +
                        "): " + (count == 0 ? "its members bring different types or sizes"
                                            : "missing rank " + missing + (count > 8 ? " and others" : "")));
  }

  const BundleTraces& traces_;
  const BundleConfig& config_;
  Findings& findings_;
  std::vector<Rank> ranks_;
  std::deque<int64_t> busy_;
  std::vector<Waiting> finished_;
  bool finishing_ = false;
  std::unordered_map<MeetingKey, std::vector<Waiting>, KeyHash> meetings_;
  std::unordered_map<MessageKey, Message, KeyHash> messages_;
};

}  // namespace

bool play(const BundleTraces& traces, const BundleConfig& config, Findings& findings, const std::stop_token& stop) {
  return Player(traces, config, findings).run(stop);
}

}  // namespace shardscape
