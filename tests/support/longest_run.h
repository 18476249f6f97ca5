// How long tests wait for programs that they start. Sanitizers and a busy machine slow a program down a
// hundred times; one that hangs must end before the test itself reaches its limit.
#pragma once

namespace shardscape::test {

inline constexpr int kLongestRun = 900'000;  // ms

}  // namespace shardscape::test
