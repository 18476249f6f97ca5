// The prefixes in a KV cache as SGLang keeps them (python/sglang/srt/mem_cache/radix_cache.py and
// mamba_radix_cache.py): a tree whose nodes hold runs of pages.
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

// The number of a content (BlockContents with blocks of one page) tells all pages before it. So a node is a
// range of numbers, and a table of the first numbers replaces the search from the root. An operation takes
// time per node, not per page. Nodes on the path of a lock stay. Others are evicted from the leaves up, the
// least recently used first.
//
// Lower tiers (kv_tiers.h): an evicted node moves to host memory, and from there to the disk
// (mem_cache/hiradix_cache.py). No node is in a higher tier than the one before it, so each tier has the
// start of a prefix longest.
//
// Models whose mixers have states (MambaRadixCache): a prefix is found up to the end of the last node that
// has the states after its tokens. Such nodes are those that insert() ended with; a node that is split keeps
// its states at its end. The states of the tree and of the running sequences share a pool. The least recently
// used states are lost first; a leaf goes with its states, and with the nodes before it that then have
// neither states nor children (_iteratively_delete_tombstone_leaf).
class RadixCache {
 public:
  static constexpr int32_t kRoot = -1;
  // contents: of pages; outlives the object. Without contents nothing is cached. tiers: sizes in pages.
  // states: size of the pool; 0: the model has none.
  explicit RadixCache(const BlockContents& contents, const CacheTierSettings& tiers = {}, int64_t states = 0);

  struct Match {
    int32_t pages = 0;                              // on all tiers
    int32_t node = kRoot;                           // that ends with the last of them
    int32_t device_node = kRoot;                    // that ends with the last of them on the device
    std::array<int32_t, kCacheTiers> tier_pages{};  // of the pages
    int32_t stored = 0;                             // pages, also those after the last states
    int32_t loaded() const { return tier_pages[0] + tier_pages[1]; }
  };
  // The cached prefix of a request, at most `most` pages. Its nodes count as used.
  Match match(int32_t request, int32_t most);
  // The same without an effect on the cache.
  int32_t cached(int32_t request, int32_t most) const;
  // Adds the first pages of a request to the device, with the states after them if the model has states. The
  // match: those that were there before, and the node of the last.
  Match insert(int32_t request, int32_t pages);
  // A running sequence takes the place of its states, or gives it back.
  void take_states();
  void give_states() { --running_states_; }

  void load(int32_t node);  // brings it to the device, with all nodes before it
  void lock(int32_t node);  // with all nodes before it; they are on the device
  void unlock(int32_t node);
  // Evicts whole leaves of the device until so many pages are free or nothing is left to evict.
  void evict(int64_t pages);
  void clear();

  bool enabled() const { return contents_->contents() > 0; }
  int64_t pages() const { return pages_[0]; }  // on the device
  int64_t pages(CacheTier tier) const { return pages_[static_cast<size_t>(tier) + 1]; }
  int64_t evictable() const { return evictable_; }
  int64_t states() const { return states_; }  // of the tree

 private:
  static constexpr size_t kLevels = 1 + kCacheTiers;
  struct Node {
    int32_t content = 0, length = 0;
    int32_t parent = kRoot;
    int32_t locks = 0;
    int64_t used = 0;
    uint8_t level = 0;                        // 0: the device; then the tiers
    std::array<int32_t, kLevels> children{};  // by their level
    bool states = false;                      // the node has the states after its last page
    int32_t state_locks = 0;
  };
  Node& at(int32_t node) { return nodes_[static_cast<size_t>(node)]; }
  const Node& at(int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  int32_t find(int32_t content) const;  // the node with a content; kRoot: none
  // Calls visit(content, length) for the runs of the first pages of a request, until it returns 0.
  template <class Visit>
  void runs(int32_t request, int32_t pages, const Visit& visit) const;
  // The nodes of the first pages of a request that all are stored.
  std::vector<int32_t> whole_nodes(int32_t request, int32_t most, int32_t& stored) const;
  void drop_without_states(std::vector<int32_t>& nodes) const;
  Match match_pages(int32_t request, int32_t most);
  void extend(Match& match, int32_t node, int32_t pages) const;
  int32_t add(int32_t content, int32_t length, int32_t parent);
  void use(int32_t node);
  void split(int32_t node, int32_t length);  // the node keeps its end
  bool is_victim(const Node& node) const { return node.children[node.level] == 0 && node.locks == 0; }
  void put(int32_t node, size_t level);  // into a level; with its place among the victims
  void take_out(int32_t node);           // of its level
  void evict_node(int32_t node);         // to the next tier with room; otherwise its tokens are lost
  void remove(int32_t node);
  int64_t evict_leaf(int32_t node);  // returns the pages that are free then
  void make_state_room();
  void set_states(int32_t node);
  bool states_are_victim(const Node& node) const {
    return node.states && node.level == 0 && node.state_locks == 0;
  }

  const BlockContents* contents_;
  std::vector<Node> nodes_;
  std::vector<int32_t> free_;
  std::map<int32_t, int32_t> by_content_;  // first content of each node
  CacheTierSettings tiers_;
  std::array<std::set<std::pair<int64_t, int32_t>>, kLevels> victims_;  // leaves without locks, by use
  std::array<int64_t, kLevels> pages_{};
  int64_t evictable_ = 0, clock_ = 0;
  int64_t state_pool_ = 0, states_ = 0, running_states_ = 0;
  std::set<std::pair<int64_t, int32_t>> state_victims_;  // nodes with states that no sequence uses, by use
};

}  // namespace shardscape
