// Times of messages and collectives of a bundle, as in ASTRA-sim's congestion-unaware analytical backend:
// every message has its links for itself, and collectives run message by message.
//
// A message of S bytes takes hops · latency + S / bandwidth of the first dimension along which its ends
// differ, in whole nanoseconds. A switch takes 2 hops, a full connection 1, a ring the shorter way round.
//
// A collective of n ranks is cut into preferred-dataset-splits streams. In a dimension, as many streams run
// at a time as active-chunks-per-dimension; the next one starts when the first of these ends. Streams of a
// collective have the same size, so that they end in the order in which they start, if the collective has one
// phase. A stream passes the dimensions as phases: all-gathers from the last dimension to the first,
// all-reduces level by level under localBWAware. A group smaller than the job is one phase, a ring if there
// are several dimensions.
//
// In a phase a rank waits D, then sends its first message. For each received message it waits D again, and
// for a reduction also three passes of the message over its memory; then it sends the next message. D is
// endpoint-delay; in groups smaller than the job it is 10 ns. Messages of a stream of S bytes:
// - ring: n-1 messages of S/n to the next rank (all-gather: of S, its own shard); all-reduce 2(n-1);
//   all-to-all n(n-1)/2.
// - direct with a window W: as ring, but an all-to-all has n-1 messages. The messages go to one rank after
//   another. Without W: n-1 messages at once.
// - halvingDoubling: messages of S/2, S/4, ..., for an all-reduce then back, to the rank 1, 2, 4, ... away.
//
// Sources: astra-sim/astra-sim, astra-sim/system and network_frontend/analytical @518bd51.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "astra_sim/bundle_config.h"
#include "base/problem.h"
#include "chakra/chakra.h"

namespace shardscape {

class SimNetwork {
 public:
  // Returns a Problem for a configuration that is not simulated. The configuration must outlive the result.
  static Result<SimNetwork> make(const BundleConfig& config);
  int64_t message(int64_t from, int64_t to, int64_t bytes) const;  // ns
  // type: with an implementation_index. members: ranks of the group, in its order. times: ns per member; in:
  // start, out: end of the collective; incomplete if stopped.
  void collective(chakra::CollectiveType type, int64_t bytes, const std::vector<int64_t>& members,
                  std::vector<int64_t>& times, const std::stop_token& stop = {}) const;

 private:
  enum class Algorithm : uint8_t { Ring, Direct, HalvingDoubling };
  struct Implementation {
    Algorithm algorithm = Algorithm::Ring;
    int64_t window = 0;  // messages of a rank at a time; 0: all
    // Runs over all ranks of the job, as if the network had one dimension.
    bool whole = false;
  };
  struct Phase {
    chakra::CollectiveType type;
    Implementation by;
    int64_t dimension = -1;  // -1: all members in one phase
    int64_t bytes = 0;
  };
  // Ranks of one phase that exchange messages, and the indices of their times.
  struct Party {
    std::vector<int64_t> ranks;
    std::vector<size_t> places;
    // The group is smaller than the job.
    bool part = false;
  };

  explicit SimNetwork(const BundleConfig& config) : config_(config) {}
  std::vector<Phase> phases(chakra::CollectiveType type, int64_t bytes, bool whole_job) const;
  std::vector<Party> parties(const Phase& phase, const std::vector<int64_t>& members, bool whole_job) const;
  void run(const Phase& phase, const Party& party, std::vector<int64_t>& times,
           const std::stop_token& stop) const;
  void in_sequence(const Phase& phase, const Party& party, std::vector<int64_t>& times,
                   const std::stop_token& stop) const;
  void all_at_once(const Phase& phase, const Party& party, std::vector<int64_t>& times) const;
  bool reduces(const Phase& phase, const Party& party, int64_t message) const;
  int64_t reduction(int64_t bytes) const;
  int64_t handling(const Party& party) const;
  // The first set of ranks with halving and doubling that is no power of two.
  std::optional<std::string> uneven_halving() const;

  const BundleConfig& config_;
  std::array<std::vector<Implementation>, kImplementationCount> implementations_;
};

}  // namespace shardscape
