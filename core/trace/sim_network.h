// How long messages and collectives of a bundle take, as ASTRA-sim's congestion-unaware analytical backend counts: every message
// as if it were alone on its links, collectives message by message.
//
// A message of S bytes takes hops · latency + S / bandwidth of the first dimension along which its ends differ, whole nanoseconds:
// 2 hops through a switch, 1 where all are connected, the shorter way round a ring.
// A collective of n ranks is cut into preferred-dataset-splits streams, one after another. A stream passes the dimensions as phases
// (all-gathers from the last dimension to the first; all-reduces level by level under localBWAware), that of a group smaller than
// the job is one phase, a ring where there are several dimensions. In a phase a rank takes D before its first message, sends it, and
// for each that it receives takes D again, and where it has to reduce three passes of the message over its memory; then it sends
// the next one. D: endpoint-delay, in groups smaller than the job 10 ns. Messages, each of a stream's S:
//   ring             n-1 of S/n to the next rank (of an all-gather S, its own shard), of an all-reduce 2(n-1), of an all-to-all n(n-1)/2
//   directW          the same, 2(n-1) or n-1 of an all-to-all too, to one rank after another; without W n-1 of them at once
//   halvingDoubling  of S/2, S/4, ..., of an all-reduce then back, to the rank 1, 2, 4, ... away
// Sources: astra-sim/astra-sim, astra-sim/system and network_frontend/analytical @518bd51.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "trace/bundle_config.h"
#include "trace/chakra.h"

namespace shardscape {

class SimNetwork {
 public:
  // A Problem names what of the configuration is not played. The configuration must outlive this.
  static std::variant<SimNetwork, Problem> make(const BundleConfig& config);
  int64_t message(int64_t from, int64_t to, int64_t bytes) const;  // ns
  // members: of the group, in its order. times: of each, ns; when it begins, and afterwards when it is done.
  void collective(chakra::CollectiveType type, int64_t bytes, const std::vector<int64_t>& members, std::vector<int64_t>& times) const;

 private:
  enum class Algorithm : uint8_t { Ring, Direct, HalvingDoubling };
  struct Implementation {
    Algorithm algorithm = Algorithm::Ring;
    int64_t window = 0;      // messages of a rank at a time; 0: all
    bool whole = false;      // over all ranks of the job, as if there were one dimension
  };
  struct Phase {
    chakra::CollectiveType type;
    Implementation by;
    int64_t dimension = -1;  // -1: all members in one
    int64_t bytes = 0;
  };
  // Ranks of one phase, and where their times are.
  struct Party {
    std::vector<int64_t> ranks;
    std::vector<size_t> places;
    bool part = false;       // of the job
  };

  explicit SimNetwork(const BundleConfig& config) : config_(config) {}
  std::vector<Phase> phases(chakra::CollectiveType type, int64_t bytes, bool whole_job) const;
  std::vector<Party> parties(const Phase& phase, const std::vector<int64_t>& members, bool whole_job) const;
  void run(const Phase& phase, const Party& party, std::vector<int64_t>& times) const;
  void one_by_one(const Phase& phase, const Party& party, std::vector<int64_t>& times) const;
  void all_at_once(const Phase& phase, const Party& party, std::vector<int64_t>& times) const;
  bool reduces(const Phase& phase, const Party& party, int64_t message) const;
  int64_t reduction(int64_t bytes) const;
  int64_t handling(const Party& party) const;

  const BundleConfig& config_;
  std::array<std::vector<Implementation>, 4> implementations_;
};

}  // namespace shardscape
