// A phase of a collective: the messages of each rank along one dimension, and the messages that it reduces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chakra/chakra.h"

namespace shardscape {

enum class PhaseAlgorithm : uint8_t { Ring, Direct, HalvingDoubling, DoubleBinaryTree };

struct CollectiveImplementation {
  PhaseAlgorithm algorithm = PhaseAlgorithm::Ring;
  int64_t window = 0;  // Direct: messages of a rank at a time; 0: all
  // Runs over all ranks of the job, as if the network had one dimension.
  bool whole = false;
};

// The tree of a stream. The first tree has the last rank as its root, the second tree the first rank.
enum class TreeChoice : uint8_t { First, Second, Alternating };

struct CollectivePhase {
  chakra::CollectiveType type = chakra::CollectiveType::AllReduce;
  CollectiveImplementation by = {};
  int64_t dimension = -1;  // -1: all members in one phase
  int64_t bytes = 0;       // of a stream when the phase begins
  bool reversed = false;   // a ring sends to the rank before, not to the next rank
  TreeChoice tree = TreeChoice::Alternating;
};

// Ranks of one phase that exchange messages, and the indices of their times.
struct CollectiveParty {
  std::vector<int64_t> ranks;
  std::vector<size_t> places;
  // The group is smaller than the job.
  bool part = false;
};

// Bytes of a stream that a rank holds after the phase over n ranks.
int64_t bytes_after(const CollectivePhase& phase, int64_t n);

// Messages of a rank in all algorithms but DoubleBinaryTree. n: ranks of the party. Messages are numbered
// from 0 in the order in which the rank sends them.
int64_t message_count(const CollectivePhase& phase, int64_t n);
int64_t messages_at_a_time(const CollectivePhase& phase, int64_t n);
int64_t message_bytes(const CollectivePhase& phase, int64_t n, int64_t number);
// The index in the party of the rank to which the rank at `index` sends a message, and of the rank from which
// it then receives one.
int64_t receiver_of(const CollectivePhase& phase, int64_t n, int64_t index, int64_t number);
int64_t sender_of(const CollectivePhase& phase, int64_t n, int64_t index, int64_t number);
// Whether a rank reduces what it has received before it sends the message. The number may be message_count or
// more: the rank reduces the last messages that it receives and sends nothing.
bool reduces(const CollectivePhase& phase, const CollectiveParty& party, int64_t number);

// The neighbours of a rank in a binary tree over n ranks, as indices in the party; -1: none. n: a power of
// two. The root has one child, below which all other ranks are numbered from left to right.
struct TreePlace {
  int64_t parent = -1, left = -1, right = -1;
  bool leaf() const { return left < 0 && right < 0; }
};
TreePlace tree_place(int64_t n, int64_t index, bool second_tree);

}  // namespace shardscape
