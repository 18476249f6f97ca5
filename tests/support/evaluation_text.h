// An evaluation as text, with all bits of its numbers.
#pragma once

#include <bit>
#include <string>

#include "explore/evaluation.h"

namespace shardscape::test {

inline std::string text(const Evaluation& e) {
  const auto bits = [](double value) { return std::to_string(std::bit_cast<uint64_t>(value)); };
  return std::to_string(static_cast<int>(e.feasibility)) + " " + e.reason + " " + std::to_string(e.memory) +
         " " + bits(e.step_seconds) + " " + bits(e.bubble) + " " + bits(e.exposed) + " " + bits(e.mfu);
}

}  // namespace shardscape::test
