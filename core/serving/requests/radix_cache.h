// The prefixes in a KV cache with pages of one token, as SGLang keeps them (python/sglang/srt/mem_cache/
// radix_cache.py): a tree whose nodes hold runs of tokens.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "serving/requests/block_contents.h"
#include "serving/requests/kv_tiers.h"

namespace shardscape {

// The number of a content (BlockContents with blocks of one token) tells all tokens before it. So a node is a
// range of numbers, and a table of the first numbers replaces the search from the root. An operation takes
// time per node, not per token. Nodes on the path of a lock stay. Others are evicted from the leaves up, the
// least recently used first.
//
// Lower tiers (kv_tiers.h): an evicted node moves to host memory, and from there to the disk
// (mem_cache/hiradix_cache.py). No node is in a higher tier than the one before it, so each tier has the
// start of a prefix longest.
class RadixCache {
 public:
  static constexpr int32_t kRoot = -1;
  // contents: outlives the object. Without contents nothing is cached.
  // tiers: sizes in tokens.
  explicit RadixCache(const BlockContents& contents, const CacheTierSettings& tiers = {});

  struct Match {
    int32_t tokens = 0;                              // on all tiers
    int32_t node = kRoot;                            // that ends with the last of them
    int32_t device_node = kRoot;                     // that ends with the last of them on the device
    std::array<int32_t, kCacheTiers> tier_tokens{};  // of the tokens
    int32_t loaded() const { return tier_tokens[0] + tier_tokens[1]; }
  };
  // The cached prefix of a request, at most `most` tokens. Its nodes count as used.
  Match match(int32_t request, int32_t most);
  // The same without an effect on the cache.
  int32_t cached(int32_t request, int32_t most) const;
  // Adds the first tokens of a request to the device. The match: those that were there before, and the node
  // of the last.
  Match insert(int32_t request, int32_t tokens);

  void load(int32_t node);  // brings it to the device, with all nodes before it
  void lock(int32_t node);  // with all nodes before it; they are on the device
  void unlock(int32_t node);
  // Evicts whole leaves of the device until `tokens` are free or nothing is left to evict.
  void evict(int64_t tokens);
  void clear();

  bool enabled() const { return contents_->contents() > 0; }
  int64_t tokens() const { return tokens_[0]; }  // on the device
  int64_t tokens(CacheTier tier) const { return tokens_[static_cast<size_t>(tier) + 1]; }
  int64_t evictable() const { return evictable_; }

 private:
  static constexpr size_t kLevels = 1 + kCacheTiers;
  struct Node {
    int32_t content = 0, length = 0;
    int32_t parent = kRoot;
    int32_t locks = 0;
    int64_t used = 0;
    uint8_t level = 0;                        // 0: the device; then the tiers
    std::array<int32_t, kLevels> children{};  // by their level
  };
  Node& at(int32_t node) { return nodes_[static_cast<size_t>(node)]; }
  const Node& at(int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  int32_t find(int32_t content) const;  // the node with a content; kRoot: none
  // Calls visit(content, length) for the runs of the first tokens of a request, until it returns false.
  template <class Visit>
  void runs(int32_t request, int32_t tokens, const Visit& visit) const;
  int32_t add(int32_t content, int32_t length, int32_t parent);
  void use(int32_t node);
  void split(int32_t node, int32_t length);  // the node keeps its end
  bool is_victim(const Node& node) const { return node.children[node.level] == 0 && node.locks == 0; }
  void put(int32_t node, size_t level);  // into a level; with its place among the victims
  void take_out(int32_t node);           // of its level
  void evict_node(int32_t node);         // to the next tier with room; otherwise its tokens are lost
  void remove(int32_t node);

  const BlockContents* contents_;
  std::vector<Node> nodes_;
  std::vector<int32_t> free_;
  std::map<int32_t, int32_t> by_content_;  // first content of each node
  CacheTierSettings tiers_;
  std::array<std::set<std::pair<int64_t, int32_t>>, kLevels> victims_;  // leaves without locks, by use
  std::array<int64_t, kLevels> tokens_{};
  int64_t evictable_ = 0, clock_ = 0;
};

}  // namespace shardscape
