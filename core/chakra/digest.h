// poly61, a digest that is linear in the bytes: after changes of a few bytes, an update of the digest of a
// long file takes a few multiplications. poly61(bytes) = sum over 32-bit little-endian words w[k] of
// w[k]·C^k, modulo 2^61 - 1 (a polynomial hash as in Karp and Rabin, 1987). It detects damage and mix-ups; it
// does not protect against forgery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardscape {

inline constexpr uint64_t kPoly61Modulus = (uint64_t{1} << 61) - 1;

uint64_t poly61(std::string_view bytes);
// The contribution of a byte of value 1 at this offset.
uint64_t poly61_weight(uint64_t offset);
uint64_t poly61_add(uint64_t a, uint64_t b);
uint64_t poly61_multiply(uint64_t a, uint64_t b);
// Folds the digest of one file into the digest of a sequence of files. Start with 0 and keep the order.
uint64_t poly61_fold(uint64_t sequence, uint64_t file, uint64_t file_size);
std::string poly61_text(uint64_t digest);  // "poly61:0123456789abcdef"

}  // namespace shardscape
