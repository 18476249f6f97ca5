// A long, regular list of whole numbers in few words, such as the peers of all ranks of a class.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shardscape {

// A sequence is a list of pieces. A piece is a first number and loops, the innermost first, each with a step
// and a count: {10, 1, 3, 100, 2} is 10 11 12 110 111 112. Numbers are 0 to 2^31 - 1.
class NumberSequence {
 public:
  NumberSequence() = default;
  static NumberSequence of(std::span<const int64_t> numbers);
  // From pieces as pieces() gives them, which may come from a damaged file. Takes no more memory than the
  // pieces, however long the sequence is. Returns nothing if a count is below 1, a number is out of range, or
  // the sequence is longer than 2^31 - 1.
  static std::optional<NumberSequence> from(const std::vector<std::vector<int64_t>>& pieces);
  std::vector<std::vector<int64_t>> pieces() const;
  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  int64_t at(int64_t index) const;  // 0 to size() - 1
  friend bool operator==(const NumberSequence&, const NumberSequence&) = default;

 private:
  struct Loop {
    int64_t step = 0, count = 1;
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  struct Piece {
    int64_t first = 0;
    std::vector<Loop> loops;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  static std::vector<Piece> merged(const std::vector<Piece>& pieces);
  bool append(Piece piece);  // false: out of range
  std::vector<Piece> pieces_;
  std::vector<int64_t> ends_;  // by piece: index after its last number
};

}  // namespace shardscape
