// Loops on several threads. The only place that starts parallel work of core.
#pragma once

#include <cstddef>
#include <functional>

namespace shardscape {

// Calls body(0) ... body(count - 1), each once, on the caller's thread and on others, in any order. Returns
// after the last call. A thread that waits for the end of a loop runs calls of this loop only: a call of an
// outer loop would begin the same work again, because the result that this loop makes is not yet in a cache.
// Every call reads the model library that the caller reads. Whatever a call writes is visible after the loop.
// An exception of a call ends the loop and reaches the caller.
// ThreadSanitizer does not see into Debian's TBB. Builds for this sanitizer use threads of their own instead,
// so that the sanitizer sees every order that the loop guarantees and none that it does not.
void parallel_loop(size_t count, const std::function<void(size_t)>& body);

// From now on every other thread that helps a caller runs `begin` once, before its first call; nullptr: none
// does. TBB shares these threads between all loops of the program, and ends none of them.
void on_loop_helper(void (*begin)());

// The number of calls that a loop of the caller runs at the same time.
size_t loop_threads();

// Runs `work`. Its loops use `threads` threads; 0: one per core.
void with_loop_threads(int threads, const std::function<void()>& work);

}  // namespace shardscape
