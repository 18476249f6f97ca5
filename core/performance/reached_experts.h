// The number of different experts that the tokens of an inference step reach. A step reads the weights of
// these experts only.
//
// Routing is uniform: a token chooses K of E experts. T tokens reach an expert with the probability
// p = 1 - (1 - K/E)^T, and E p experts in expectation.
// With expert parallelism all ranks wait for the rank that reads most. A rank holds n = E/ranks experts. The
// number that it reads is binomial, B(n, p), if experts are hit independently. The expectation of the largest
// of several independent numbers is the sum over j from 0 to n-1 of 1 - F(j)^ranks, with the distribution
// function F (David and Nagaraja, Order Statistics, 2003, section 3.1).
#pragma once

#include <cstdint>

namespace shardscape {

// Experts that the busiest of experts / local ranks reads; between 1 and `local`. tokens: of all ranks
// together, above 0. chosen: experts per token.
double reached_experts(double tokens, int64_t experts, int64_t chosen, int64_t local);

}  // namespace shardscape
