#include "ui/toolkit/background_threads.h"

#include <sys/resource.h>
#include <unistd.h>

#include "model/parallel_loop.h"

namespace shardscape::ui {
namespace {

constexpr int kNice = 15;  // of 19: a thread of the usual priority gets about 30 times as much of a busy core

}  // namespace

// On Linux, PRIO_PROCESS with the number of a thread sets that thread alone (setpriority(2)). A refusal
// leaves the thread as it is: slower for the person, but not wrong.
void lowerThisThread() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice); }

void lowerLoopHelpers() { on_loop_helper(&lowerThisThread); }

}  // namespace shardscape::ui
