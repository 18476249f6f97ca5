#include "serving/requests/content_table.h"

namespace shardscape {

ContentTable::ContentTable(int32_t contents) : page_of_(static_cast<size_t>((contents >> kBits) + 1), -1) {}

void ContentTable::set(int32_t content, int32_t block) {
  int32_t& page = page_of_[static_cast<size_t>(content >> kBits)];
  if (page < 0) {
    if (free_pages_.empty()) {
      free_pages_.push_back(static_cast<int32_t>(pages_.size()));
      pages_.emplace_back().fill(-1);
      used_.push_back(0);
    }
    page = free_pages_.back();
    free_pages_.pop_back();
  }
  const auto number = static_cast<size_t>(page);
  int32_t& entry = pages_[number][static_cast<size_t>(content & kMask)];
  used_[number] += (block >= 0) - (entry >= 0);
  entry = block;
  if (used_[number] == 0) {
    free_pages_.push_back(page);
    page = -1;
  }
}

}  // namespace shardscape
