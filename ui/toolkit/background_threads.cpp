#include "ui/toolkit/background_threads.h"

#include <sys/resource.h>
#include <unistd.h>

// A header of TBB has a member "emit", which is a macro of Qt.
#ifdef emit
#undef emit
#endif
#include <tbb/task_scheduler_observer.h>

namespace shardscape::ui {
namespace {

constexpr int kNice = 15;  // of 19: a thread of the usual priority gets about 30 times as much of a busy core

}  // namespace

struct LowTbbWorkers::Observer : tbb::task_scheduler_observer {
  Observer() { observe(true); }
  ~Observer() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    if (is_worker) lowerThisThread();
  }
};

// On Linux, PRIO_PROCESS with the number of a thread sets that thread alone (setpriority(2)). A refusal
// leaves the thread as it is: slower for the person, but not wrong.
void lowerThisThread() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice); }

LowTbbWorkers::LowTbbWorkers() : observer_(std::make_unique<Observer>()) {}
LowTbbWorkers::~LowTbbWorkers() = default;

}  // namespace shardscape::ui
