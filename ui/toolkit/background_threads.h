// Searches and other long work run below the threads that a person waits for. Linux gives each thread a nice
// value of its own.
#pragma once

namespace shardscape::ui {

// Lowers the calling thread, for the rest of its life: an ordinary user may not raise it again. Threads that
// it starts inherit the value (clone(2)). So do TBB's workers: in the window only lowered threads use TBB.
void lowerThisThread();

}  // namespace shardscape::ui
