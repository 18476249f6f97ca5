// A table of the contents that a cache holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardscape {

// From contents (BlockContents) to blocks. Pages exist only where a content is cached, so the memory follows
// the size of the cache and not the length of the run.
class ContentTable {
 public:
  explicit ContentTable(int32_t contents = 0);
  int32_t find(int32_t content) const {  // -1: none
    const int32_t page = page_of_[static_cast<size_t>(content >> kBits)];
    return page < 0 ? -1 : pages_[static_cast<size_t>(page)][static_cast<size_t>(content & kMask)];
  }
  void set(int32_t content, int32_t block);  // -1 removes

 private:
  static constexpr int32_t kBits = 7, kMask = (1 << kBits) - 1;
  std::vector<int32_t> page_of_;
  std::vector<std::array<int32_t, 1 << kBits>> pages_;
  std::vector<int32_t> used_;  // contents of each page
  std::vector<int32_t> free_pages_;
};

}  // namespace shardscape
