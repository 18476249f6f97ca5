// Spaces of small designs, for tests of the search.
#pragma once

#include <memory>
#include <random>

#include "explore/search.h"

namespace shardscape::test {

// GPT-2 with four layers, a batch of 16 sequences of 128 tokens.
Design small_gpt();
// A space over small_gpt(): all layouts of the ranks, some hundred designs. Throws if the spec is invalid.
SpaceSpec small_space(const std::string& gpus = "8");
std::shared_ptr<const Space> made(const SpaceSpec& spec);
// small_space() with a constraint on its layouts.
std::shared_ptr<const Space> constrained_space();
// found: the result of a search. reread: the result after writing and reading. Both throw on a Problem.
SearchResult found(const std::shared_ptr<const Space>& space, const SearchOptions& options = {});
SearchResult reread(const SearchResult& result);
// Random dimensions over small_gpt(): a few dozen to some hundred designs, sometimes with a constraint.
SpaceSpec random_space(std::mt19937& random);

}  // namespace shardscape::test
