#include "serving/requests/kv_tiers.h"

namespace shardscape {

KvTiers::KvTiers(const CacheTierSettings& settings, int32_t contents) : settings_(settings) {
  for (size_t tier = 0; tier < kCacheTiers; ++tier)
    if (settings.blocks[tier] > 0) levels_[tier].places = ContentTable(contents);
}

int KvTiers::find(int32_t content) const {
  for (size_t tier = 0; tier < kCacheTiers; ++tier)
    if (settings_.blocks[tier] > 0 && levels_[tier].places.find(content) >= 0) return static_cast<int>(tier);
  return -1;
}

void KvTiers::erase(Level& level, int32_t entry) {
  Entry& e = level.entries[static_cast<size_t>(entry)];
  level.entries[static_cast<size_t>(e.before)].after = e.after;
  level.entries[static_cast<size_t>(e.after)].before = e.before;
  if (e.content >= 0) level.places.set(e.content, -1);
  level.used -= e.blocks;
  level.spare.push_back(entry);
}

void KvTiers::remove(int32_t content) {
  for (size_t tier = 0; tier < kCacheTiers; ++tier) {
    if (settings_.blocks[tier] == 0) continue;
    if (const int32_t entry = levels_[tier].places.find(content); entry >= 0) erase(levels_[tier], entry);
  }
}

void KvTiers::insert(int32_t content, int32_t blocks) {
  if (content >= 0) remove(content);
  std::vector<Entry> moving{{content, blocks, 0, 0}};  // to the next tier
  for (size_t tier = 0; tier < kCacheTiers && !moving.empty(); ++tier) {
    Level& level = levels_[tier];
    std::vector<Entry> evicted;
    for (const Entry& entry : moving) {
      if (entry.blocks > settings_.blocks[tier]) {
        evicted.push_back(entry);
        continue;
      }
      while (level.used + entry.blocks > settings_.blocks[tier]) {
        const int32_t oldest = level.entries[0].after;
        evicted.push_back(level.entries[static_cast<size_t>(oldest)]);
        erase(level, oldest);
      }
      if (level.spare.empty()) {
        level.spare.push_back(static_cast<int32_t>(level.entries.size()));
        level.entries.emplace_back();
      }
      const int32_t place = level.spare.back(), newest = level.entries[0].before;
      level.spare.pop_back();
      level.entries[static_cast<size_t>(place)] = {entry.content, entry.blocks, newest, 0};
      level.entries[static_cast<size_t>(newest)].after = place;
      level.entries[0].before = place;
      level.used += entry.blocks;
      if (entry.content >= 0) level.places.set(entry.content, place);
    }
    moving = std::move(evicted);
  }
}

}  // namespace shardscape
