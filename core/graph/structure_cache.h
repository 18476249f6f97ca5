// What is built of a structure, kept for the structures that were used last. Thread safe.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "graph/graph.h"

namespace shardscape {

// How many structures all caches keep: as many as a person goes through, or as a search does while one lives.
class ManyStructures {
 public:
  ManyStructures() { ++searches(); }
  ~ManyStructures() { --searches(); }
  ManyStructures(const ManyStructures&) = delete;
  ManyStructures& operator=(const ManyStructures&) = delete;
  static size_t kept() { return searches() > 0 ? kOfSearch : kOfPerson; }

 private:
  static constexpr size_t kOfPerson = 64, kOfSearch = 1024;
  static std::atomic<int>& searches() {
    static std::atomic<int> count{0};
    return count;
  }
};

template <typename Built>
class StructureCache {
 public:
  std::shared_ptr<const Built> find(const Structure& structure) {
    const std::scoped_lock lock(mutex_);
    const auto it = places_.find(structure);
    if (it == places_.end()) return nullptr;
    latest_first_.splice(latest_first_.begin(), latest_first_, it->second);
    return it->second->built;
  }

  // A few at a time make room: what is left behind is large, and an edit waits while it is freed.
  void keep(const Structure& structure, std::shared_ptr<const Built> built) {
    constexpr int kDroppedAtOnce = 2;
    std::list<Entry> added, dropped;
    added.push_back({structure, std::move(built)});
    const std::scoped_lock lock(mutex_);
    if (const auto it = places_.find(structure); it != places_.end()) {
      dropped.splice(dropped.begin(), latest_first_, it->second);
      places_.erase(it);
    }
    latest_first_.splice(latest_first_.begin(), added);
    places_.emplace(structure, latest_first_.begin());
    for (int i = 0; i < kDroppedAtOnce && latest_first_.size() > ManyStructures::kept(); ++i) {
      places_.erase(latest_first_.back().structure);
      dropped.splice(dropped.begin(), latest_first_, std::prev(latest_first_.end()));
    }
  }

 private:
  struct Entry {
    Structure structure;
    std::shared_ptr<const Built> built;
  };
  std::mutex mutex_;
  std::list<Entry> latest_first_;
  std::map<Structure, typename std::list<Entry>::iterator> places_;
};

}  // namespace shardscape
