// Searches and other long work run below the threads that a person waits for. Linux gives each thread a nice
// value of its own.
#pragma once

#include <memory>

namespace shardscape::ui {

// Lowers the calling thread, for the rest of its life: an ordinary user may not raise it again.
void lowerThisThread();

// While this exists, every worker thread of TBB is lowered when it takes up work, and stays so. The window
// runs nothing in TBB that a person waits for: reports and steps have a thread of their own.
class LowTbbWorkers {
 public:
  LowTbbWorkers();
  ~LowTbbWorkers();

 private:
  struct Observer;
  std::unique_ptr<Observer> observer_;
};

}  // namespace shardscape::ui
