// A digest that is linear in the bytes: changing a few bytes of a long file costs a few multiplications.
// poly61(bytes) = sum over 32-bit little-endian words w[k] of w[k]·C^k, modulo 2^61 - 1 (a polynomial hash as in Karp and
// Rabin, 1987). It finds damage and mix-ups; it is no protection against forgery.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardscape {

inline constexpr uint64_t kPoly61Modulus = (uint64_t{1} << 61) - 1;

uint64_t poly61(std::string_view bytes);
// What a byte of value 1 at this offset adds.
uint64_t poly61_weight(uint64_t offset);
uint64_t poly61_add(uint64_t a, uint64_t b);
uint64_t poly61_multiply(uint64_t a, uint64_t b);
// Digest of a sequence of files: start with 0, fold in order.
uint64_t poly61_fold(uint64_t sequence, uint64_t file, uint64_t file_size);
std::string poly61_text(uint64_t digest);  // "poly61:0123456789abcdef"

}  // namespace shardscape
