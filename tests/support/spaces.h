// Spaces of small designs, for tests of the search.
#pragma once

#include <memory>
#include <random>

#include "explore/search.h"

namespace shardscape::test {

// GPT-2 with four layers, a batch of 16 sequences of 128 tokens.
Design small_gpt();
// Of it: so many ranks, all their layouts, some hundred designs. Throws where it makes no sense.
SpaceSpec small_space(const std::string& gpus = "8");
std::shared_ptr<const Space> made(const SpaceSpec& spec);
// What a search of it finds, and the same written and read again. Throws where it is refused.
SearchResult found(const std::shared_ptr<const Space>& space, const SearchOptions& options = {});
SearchResult reread(const SearchResult& result);
// Random dimensions of it, a few dozen to some hundred designs, with now and then a constraint.
SpaceSpec random_space(std::mt19937& random);

}  // namespace shardscape::test
