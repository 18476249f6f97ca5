// Sanitizers make a program ten to thirty times slower. Their presets therefore set SHARDSCAPE_TEST_SHARE:
// with 8, a slow test draws an eighth of its random cases, and tests/sampled.py runs every eighth row of its
// data.
#pragma once
#include <QtGlobal>
#include <algorithm>

namespace shardscape::test {

inline int test_share() { return std::max(1, qEnvironmentVariableIntValue("SHARDSCAPE_TEST_SHARE")); }

// Random cases to draw, of `all`.
inline int cases(int all) { return std::max(1, all / test_share()); }

}  // namespace shardscape::test
