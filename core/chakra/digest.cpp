#include "chakra/digest.h"

#include <cstdio>
#include <cstring>

namespace shardscape {
namespace {

constexpr uint64_t kBase = 0x0f3b6a1c95e2d847ull % kPoly61Modulus;

}  // namespace

uint64_t poly61_add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= kPoly61Modulus ? sum - kPoly61Modulus : sum;
}

uint64_t poly61_multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return poly61_add(static_cast<uint64_t>(product) & kPoly61Modulus, static_cast<uint64_t>(product >> 61));
}

uint64_t poly61_weight(uint64_t offset) {
  uint64_t result = uint64_t{1} << (8 * (offset % 4)), power = kBase;
  for (uint64_t k = offset / 4; k != 0; k >>= 1) {
    if (k & 1) result = poly61_multiply(result, power);
    power = poly61_multiply(power, power);
  }
  return result;
}

uint64_t poly61(std::string_view bytes) {
  const size_t words = bytes.size() / 4, rest = bytes.size() % 4;
  uint32_t tail = 0;
  if (rest != 0) std::memcpy(&tail, bytes.data() + 4 * words, rest);
  const auto word = [&](size_t k) {
    uint32_t w;
    std::memcpy(&w, bytes.data() + 4 * k, 4);
    return uint64_t{w};
  };
  // Four independent Horner chains in C^4, so that the multiplications overlap.
  const uint64_t c2 = poly61_multiply(kBase, kBase), c4 = poly61_multiply(c2, c2);
  uint64_t lanes[4] = {0, 0, 0, 0};
  size_t k = words;
  uint64_t top = tail;  // words beyond the last complete group of four
  for (; k % 4 != 0; --k) top = poly61_add(poly61_multiply(top, kBase), word(k - 1));
  for (size_t group = k; group != 0; group -= 4)
    for (size_t lane = 0; lane < 4; ++lane)
      lanes[lane] = poly61_add(poly61_multiply(lanes[lane], c4), word(group - 4 + lane));
  uint64_t low = lanes[3];
  for (size_t lane = 3; lane-- != 0;) low = poly61_add(poly61_multiply(low, kBase), lanes[lane]);
  return poly61_add(low, poly61_multiply(top, poly61_weight(4 * k)));
}

uint64_t poly61_fold(uint64_t sequence, uint64_t file, uint64_t file_size) {
  const uint64_t with_file = poly61_add(poly61_multiply(sequence, kBase), file);
  return poly61_add(poly61_multiply(with_file, kBase), file_size % kPoly61Modulus);
}

std::string poly61_text(uint64_t digest) {
  char text[32];
  std::snprintf(text, sizeof text, "poly61:%016llx", static_cast<unsigned long long>(digest));
  return text;
}

}  // namespace shardscape
