// What is built of a structure, kept for the structures that were used last. Thread safe.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>

#include "graph/graph.h"

namespace shardscape {

template <typename Built>
class StructureCache {
 public:
  std::shared_ptr<const Built> find(const Structure& structure) {
    const std::scoped_lock lock(mutex_);
    const auto it = std::find_if(latest_first_.begin(), latest_first_.end(), [&](const Entry& entry) { return entry.structure == structure; });
    if (it == latest_first_.end()) return nullptr;
    latest_first_.splice(latest_first_.begin(), latest_first_, it);
    return it->built;
  }

  // One at a time makes room: what is left behind is large, and an edit waits while it is freed.
  void keep(const Structure& structure, std::shared_ptr<const Built> built) {
    std::list<Entry> added, dropped;
    added.push_back({structure, std::move(built)});
    const std::scoped_lock lock(mutex_);
    latest_first_.splice(latest_first_.begin(), added);
    if (latest_first_.size() > kKept) dropped.splice(dropped.begin(), latest_first_, std::prev(latest_first_.end()));
  }

 private:
  static constexpr size_t kKept = 64;
  struct Entry {
    Structure structure;
    std::shared_ptr<const Built> built;
  };
  std::mutex mutex_;
  std::list<Entry> latest_first_;
};

}  // namespace shardscape
