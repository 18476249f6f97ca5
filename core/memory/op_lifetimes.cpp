#include "memory/op_lifetimes.h"

namespace shardscape {

// An op allocates its storages, then its workspace, and frees storages after its workspace. A workspace whose
// bytes are the op's number plus one thus tells the op of all events around it.
OpLifetimes op_lifetimes(const SegmentLifetimes& lifetimes, int segment, CheckpointPolicy checkpoint_policy,
                         const SegmentSizes& sizes, SegmentLifetimes::Part part) {
  const auto at = static_cast<size_t>(segment);
  SegmentSizes marked;
  marked.storages = sizes.storages;
  marked.workspaces.resize(sizes.workspaces.size());
  marked.gradients.resize(sizes.gradients.size());
  marked.workspaces[at].resize(sizes.workspaces[at].size());
  marked.gradients[at].resize(sizes.gradients[at].size());
  for (size_t op = 0; op < marked.workspaces[at].size(); ++op)
    marked.workspaces[at][op] = static_cast<int64_t>(op) + 1;
  const SegmentEvents events = lifetimes.events(segment, checkpoint_policy, marked, part);
  OpLifetimes out{{}, {}, {}, events.takes, events.gives};
  OpId running = -1;
  size_t known = 0;  // entries of `allocated` whose op is known
  for (size_t i = 0; i < events.events.size(); ++i) {
    const auto& [storage, bytes] = events.events[i];
    if (i < events.begin) {
      out.begin.push_back(storage);
    } else if (storage >= 0) {
      (bytes > 0 ? out.allocated : out.freed).push_back({running, storage});
    } else if (bytes > 0) {
      running = static_cast<OpId>(bytes - 1);
      for (; known < out.allocated.size(); ++known) out.allocated[known].op = running;
    }
  }
  return out;
}

}  // namespace shardscape
