// The bytes of a trace file, made once per rank class. Other ranks of the class rewrite only their group and
// peer numbers in place.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "chakra/rank_program.h"

namespace shardscape {

// The numbers in which ranks of a class differ. Slots: one per group role; own rank; ranks of the previous
// and the next stage; previous and next rank of the ring (0 without a ring).
struct RankNumbers {
  std::vector<int64_t> values;
};
inline size_t slot_count(int roles) { return static_cast<size_t>(roles) + 5; }
inline size_t own_slot(int roles) { return static_cast<size_t>(roles); }
inline size_t peer_slot(int roles, Peer peer) {
  return static_cast<size_t>(roles) + 1 + static_cast<size_t>(peer);
}

// A number as the file contains it: decimal digits of a group id, varint of a rank.
struct SlotText {
  std::array<char, 10> bytes{};
  uint8_t width = 0;
  std::string_view view() const { return {bytes.data(), width}; }
  friend bool operator==(const SlotText& a, const SlotText& b) { return a.view() == b.view(); }
};
using SlotTexts = std::vector<SlotText>;
SlotTexts slot_texts(const RankNumbers& numbers, int roles);
bool same_widths(const SlotTexts& a, const SlotTexts& b);

class TraceImage {
 public:
  TraceImage() = default;
  // Encodes the program with these numbers. Incomplete if stopped. Throws LoweringError if the file of one
  // rank would exceed 2 GiB.
  TraceImage(const RankProgram& program, const SlotTexts& texts, const std::stop_token& stop = {});
  // A file that is encoded already. offsets: by slot, where its numbers are.
  TraceImage(std::string bytes, SlotTexts texts, std::vector<std::vector<uint32_t>> offsets);
  bool fits(const SlotTexts& texts) const { return !bytes_.empty() && same_widths(texts_, texts); }
  // Rewrites the numbers that differ. Requires fits(texts).
  void patch(const SlotTexts& texts);
  std::string_view bytes() const { return bytes_; }
  uint64_t digest() const { return digest_of(texts_); }  // poly61 of bytes()
  // poly61 of the bytes with other numbers. Requires fits(texts).
  uint64_t digest_of(const SlotTexts& texts) const;

 private:
  struct Slot {
    std::vector<uint32_t> offsets;
    // Per byte of the number: contribution of a byte of value 1 to the digest, over all offsets.
    std::array<uint64_t, 10> weights{};
  };
  friend class ImageWriter;
  void compute_weights();
  std::string bytes_;
  SlotTexts texts_;
  std::vector<Slot> slots_;
  uint64_t fixed_digest_ = 0;  // digest with all numbers zero
};

// Size in bytes of the trace file of a rank with these numbers, without encoding it.
int64_t image_size(const RankProgram& program, const SlotTexts& texts);

}  // namespace shardscape
