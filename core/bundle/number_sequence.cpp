#include "bundle/number_sequence.h"

#include <algorithm>

namespace shardscape {
namespace {

constexpr int64_t kLargest = INT32_MAX;

}  // namespace

// Neighbouring pieces with equal loops and equal distances become one piece with one more loop.
std::vector<NumberSequence::Piece> NumberSequence::merged(const std::vector<Piece>& pieces) {
  std::vector<Piece> out;
  for (size_t i = 0; i < pieces.size();) {
    const auto follows = [&](size_t k, int64_t step) {
      return k < pieces.size() && pieces[k].loops == pieces[i].loops &&
             pieces[k].first - pieces[k - 1].first == step;
    };
    Piece& piece = out.emplace_back(pieces[i]);
    size_t next = i + 1;
    if (next < pieces.size()) {
      const int64_t step = pieces[next].first - pieces[i].first;
      while (follows(next, step)) ++next;
      if (next > i + 1) piece.loops.push_back({step, static_cast<int64_t>(next - i)});
    }
    i = next;
  }
  return out;
}

NumberSequence NumberSequence::of(std::span<const int64_t> numbers) {
  std::vector<Piece> pieces;
  for (const int64_t number : numbers) pieces.push_back({number, {}});
  for (size_t before = pieces.size() + 1; pieces.size() < before;) {
    before = pieces.size();
    pieces = merged(pieces);
  }
  NumberSequence out;
  for (Piece& piece : pieces) out.append(std::move(piece));
  return out;
}

bool NumberSequence::append(Piece piece) {
  // Loops of one number would make at() slow, and those of more are few.
  std::erase_if(piece.loops, [](const Loop& loop) { return loop.count == 1; });
  int64_t count = 1, least = piece.first, most = piece.first;
  for (const Loop& loop : piece.loops) {
    int64_t reach = 0;
    if (loop.count < 1 || __builtin_mul_overflow(loop.step, loop.count - 1, &reach) ||
        __builtin_mul_overflow(count, loop.count, &count) ||
        __builtin_add_overflow(reach < 0 ? least : most, reach, &(reach < 0 ? least : most)))
      return false;
  }
  if (least < 0 || most > kLargest || count > kLargest - size()) return false;
  ends_.push_back(size() + count);
  pieces_.push_back(std::move(piece));
  return true;
}

std::optional<NumberSequence> NumberSequence::from(const std::vector<std::vector<int64_t>>& pieces) {
  NumberSequence out;
  for (const std::vector<int64_t>& numbers : pieces) {
    if (numbers.size() % 2 == 0) return std::nullopt;
    Piece piece{numbers[0], {}};
    for (size_t k = 1; k < numbers.size(); k += 2) piece.loops.push_back({numbers[k], numbers[k + 1]});
    if (!out.append(std::move(piece))) return std::nullopt;
  }
  return out;
}

std::vector<std::vector<int64_t>> NumberSequence::pieces() const {
  std::vector<std::vector<int64_t>> out;
  for (const Piece& piece : pieces_) {
    std::vector<int64_t>& numbers = out.emplace_back(1, piece.first);
    for (const Loop& loop : piece.loops) numbers.insert(numbers.end(), {loop.step, loop.count});
  }
  return out;
}

int64_t NumberSequence::at(int64_t index) const {
  const auto piece = std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin();
  const auto p = static_cast<size_t>(piece);
  int64_t left = index - (p == 0 ? 0 : ends_[p - 1]);
  int64_t number = pieces_[p].first;
  for (const Loop& loop : pieces_[p].loops) {
    number += left % loop.count * loop.step;
    left /= loop.count;
  }
  return number;
}

}  // namespace shardscape
