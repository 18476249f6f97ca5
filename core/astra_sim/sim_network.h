// Times of messages and collectives of a bundle, as in ASTRA-sim's congestion-unaware analytical backend:
// every message has its links for itself, and collectives run message by message.
//
// A message of S bytes takes hops · latency + S / bandwidth of the first dimension along which its ends
// differ, in whole nanoseconds. A switch takes 2 hops, a full connection 1, a ring the shorter way round.
//
// A collective of n ranks is cut into preferred-dataset-splits streams of equal size. In a dimension, as many
// streams run at a time as active-chunks-per-dimension; the next one starts when one of these ends. A stream
// passes the dimensions as phases: all-gathers from the last dimension to the first, all-reduces level by
// level under localBWAware, with rings reversed on the way back. A group smaller than the job is one phase, a
// ring if there are several dimensions. Streams that overtake each other, windows of several messages, direct
// all-reduces and trees are simulated event by event (stream_simulator.h).
//
// In a phase a rank waits D, then sends its first message. For each received message it waits D again, and
// for a reduction also three passes of the message over its memory; then it sends the next message. D is
// endpoint-delay; in groups smaller than the job it is 10 ns. Messages of a stream of S bytes:
// - ring: n-1 messages of S/n to the next rank (all-gather: of S, its own shard); all-reduce 2(n-1);
//   all-to-all n(n-1)/2.
// - direct with a window W: as ring, but an all-to-all has n-1 messages. The messages go to one rank after
//   another, W at a time. Without W: n-1 messages at once.
// - halvingDoubling: messages of S/2, S/4, ..., for an all-reduce then back, to the rank 1, 2, 4, ... away.
// - doubleBinaryTree: S up the tree to the root, and down again. Streams use one of two trees in turn.
//
// Sources: astra-sim/astra-sim, astra-sim/system and network_frontend/analytical @518bd51.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "astra_sim/bundle_config.h"
#include "astra_sim/collective_phase.h"
#include "astra_sim/implementation_use.h"
#include "astra_sim/stream_simulator.h"
#include "base/problem.h"
#include "chakra/chakra.h"

namespace shardscape {

struct SimCollective {
  chakra::CollectiveType type = chakra::CollectiveType::AllReduce;  // with an implementation_index
  int64_t bytes = 0;
  std::vector<int64_t> members = {};  // ranks of the group, in its order
  // Indices of the members in the order in which they start; empty: in the order of the group.
  std::vector<size_t> arrivals = {};
  // Streams of all earlier all-reduces of the whole job: two trees are used in turn.
  int64_t earlier_streams = 0;
};

// The number of streams of a collective; 0: an all-gather below preferred-dataset-splits.
int64_t stream_count(const BundleConfig& config, chakra::CollectiveType type, int64_t bytes);

class SimNetwork {
 public:
  // use: the collectives that will run. Returns a Problem for a configuration that is not simulated. The
  // configuration must outlive the result.
  static Result<SimNetwork> make(const BundleConfig& config, const CollectiveUse& use);
  int64_t message(int64_t from, int64_t to, int64_t bytes) const;  // ns
  // Three passes of the bytes over the memory: two reads and a write.
  int64_t reduction(int64_t bytes) const;  // ns
  // D. in_part: of a group smaller than the job.
  int64_t handling(bool in_part) const;  // ns

  // Phases, parties and streams of a collective.
  StreamPlan plan(const SimCollective& what) const;
  // times: ns per member; in: start, out: end of the collective; incomplete if stopped. Returns false if the
  // collective never ends, because its streams wait for each other, or if stopped.
  bool collective(const SimCollective& what, std::vector<int64_t>& times,
                  const std::stop_token& stop = {}) const;

 private:
  explicit SimNetwork(const BundleConfig& config) : config_(config) {}
  std::vector<CollectivePhase> phases(chakra::CollectiveType type, int64_t bytes, bool whole_job) const;
  std::vector<CollectiveParty> parties(const CollectivePhase& phase, const std::vector<int64_t>& members,
                                       bool whole_job) const;
  void run_in_order(const StreamPlan& plan, std::vector<int64_t>& times, const std::stop_token& stop) const;
  void run(const CollectivePhase& phase, const CollectiveParty& party, std::vector<int64_t>& times,
           const std::stop_token& stop) const;
  void in_sequence(const CollectivePhase& phase, const CollectiveParty& party, std::vector<int64_t>& times,
                   const std::stop_token& stop) const;
  void all_at_once(const CollectivePhase& phase, const CollectiveParty& party,
                   std::vector<int64_t>& times) const;

  const BundleConfig& config_;
  std::array<std::vector<CollectiveImplementation>, kImplementationCount> implementations_;
};

}  // namespace shardscape
