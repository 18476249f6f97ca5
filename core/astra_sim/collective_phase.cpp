#include "astra_sim/collective_phase.h"

#include <algorithm>
#include <bit>

namespace shardscape {
namespace {

using chakra::CollectiveType;

constexpr int64_t kMostBytes = int64_t{1} << 60;

// Of a power of two.
int64_t log2_of(int64_t n) { return std::bit_width(static_cast<uint64_t>(n)) - 1; }

int64_t times_power(int64_t bytes, int64_t exponent) {
  return bytes > kMostBytes >> exponent ? kMostBytes : bytes << exponent;
}

// Halving and doubling: the distance to the partner. An all-reduce goes the way back.
int64_t distance(const CollectivePhase& phase, int64_t n, int64_t number) {
  const int64_t steps = log2_of(n);
  if (phase.type == CollectiveType::AllGather) return n >> (number + 1);
  return number < steps ? int64_t{1} << number : n >> (number - steps + 1);
}

// How far along the ring the receiver is.
int64_t hops(const CollectivePhase& phase, int64_t n, int64_t number) {
  return phase.by.algorithm == PhaseAlgorithm::Direct ? 1 + number % (n - 1) : 1;
}

}  // namespace

int64_t bytes_after(const CollectivePhase& phase, int64_t n) {
  // A tree always does an all-reduce.
  if (phase.by.algorithm == PhaseAlgorithm::DoubleBinaryTree) return phase.bytes;
  if (phase.type == CollectiveType::AllGather)
    return phase.bytes > kMostBytes / n ? kMostBytes : phase.bytes * n;
  return phase.type == CollectiveType::ReduceScatter ? phase.bytes / n : phase.bytes;
}

int64_t message_count(const CollectivePhase& phase, int64_t n) {
  const bool all_reduce = phase.type == CollectiveType::AllReduce;
  if (phase.by.algorithm == PhaseAlgorithm::HalvingDoubling) return (all_reduce ? 2 : 1) * log2_of(n);
  if (phase.type == CollectiveType::AllToAll && phase.by.algorithm == PhaseAlgorithm::Ring)
    return n * (n - 1) / 2;
  return all_reduce ? 2 * (n - 1) : n - 1;
}

int64_t messages_at_a_time(const CollectivePhase& phase, int64_t n) {
  if (phase.by.algorithm != PhaseAlgorithm::Direct) return 1;
  return phase.by.window == 0 ? n - 1 : std::min(phase.by.window, n - 1);
}

int64_t message_bytes(const CollectivePhase& phase, int64_t n, int64_t number) {
  const bool gather = phase.type == CollectiveType::AllGather;
  if (phase.by.algorithm != PhaseAlgorithm::HalvingDoubling) return gather ? phase.bytes : phase.bytes / n;
  if (gather) return times_power(phase.bytes, number);
  const int64_t steps = log2_of(n);
  if (number < steps || phase.type != CollectiveType::AllReduce) return phase.bytes >> (number + 1);
  return times_power(phase.bytes >> (steps + 1), number - steps + 1);
}

int64_t receiver_of(const CollectivePhase& phase, int64_t n, int64_t index, int64_t number) {
  if (phase.by.algorithm == PhaseAlgorithm::HalvingDoubling) return index ^ distance(phase, n, number);
  const int64_t far = hops(phase, n, number);
  return (phase.reversed ? index - far + n : index + far) % n;
}

int64_t sender_of(const CollectivePhase& phase, int64_t n, int64_t index, int64_t number) {
  if (phase.by.algorithm == PhaseAlgorithm::HalvingDoubling) return index ^ distance(phase, n, number);
  const int64_t far = hops(phase, n, number);
  return (phase.reversed ? index + far : index - far + n) % n;
}

// Messages alternate in cycles: as many as at a time are forwarded, then other messages may be reduced. In an
// all-reduce only every second cycle reduces.
bool reduces(const CollectivePhase& phase, const CollectiveParty& party, int64_t number) {
  const auto n = static_cast<int64_t>(party.ranks.size());
  if (phase.type != CollectiveType::AllReduce && phase.type != CollectiveType::ReduceScatter) return false;
  const int64_t at_a_time = messages_at_a_time(phase, n);
  int64_t others = at_a_time * (n - 1);
  if (phase.by.algorithm == PhaseAlgorithm::HalvingDoubling) others = log2_of(n) - 1;
  if (phase.by.algorithm == PhaseAlgorithm::Direct && !party.part) others = at_a_time;
  const int64_t cycle = at_a_time + others;
  if (number % cycle < at_a_time) return false;
  return phase.type == CollectiveType::ReduceScatter || number / cycle % 2 == 0;
}

TreePlace tree_place(int64_t n, int64_t index, bool second_tree) {
  const int64_t root = second_tree ? 0 : n - 1, first = second_tree ? 1 : 0;
  const int64_t top = n / 2 - 1 + first;  // the child of the root
  TreePlace place;
  if (index == root) {
    (second_tree ? place.right : place.left) = top;
    return place;
  }
  // Numbers from left to right in a full tree: the trailing ones of a number are the height of the rank.
  const int64_t number = index - first;
  const int height = std::countr_one(static_cast<uint64_t>(number));
  if (height > 0) {
    const int64_t half = int64_t{1} << (height - 1);
    place.left = index - half;
    place.right = index + half;
  }
  const int64_t step = int64_t{1} << height;
  place.parent = index == top ? root : (number >> (height + 1)) % 2 == 0 ? index + step : index - step;
  return place;
}

}  // namespace shardscape
