// Searches and other long work run below the threads that a person waits for. Linux gives each thread a nice
// value of its own.
#pragma once

namespace shardscape::ui {

// Lowers the calling thread, for the rest of its life: an ordinary user may not raise it again. Threads that
// it starts inherit the value (clone(2)).
void lowerThisThread();

// Lowers the threads that help in parallel loops. All loops share them, so their priority would be that of
// the thread that first needed them: of a search, or of the figures of an edited design (ReportWorker). The
// thread of the figures keeps its own, and has its helpers wherever a core is idle.
void lowerLoopHelpers();

}  // namespace shardscape::ui
