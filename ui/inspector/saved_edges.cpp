#include "ui/inspector/saved_edges.h"

#include <algorithm>

namespace shardscape::ui {

std::vector<SavedEdge> saved_edges(const Segment& segment, OpId op) {
  std::vector<SavedEdge> edges;
  for (OpId reader = segment.backward_begin; reader < static_cast<OpId>(segment.ops.size()); ++reader)
    for (const TensorId tensor : segment.op(reader).inputs) {
      const OpId maker = segment.tensor(tensor).producer;
      if (maker < 0 || maker >= segment.backward_begin || (maker != op && reader != op)) continue;
      const bool known = std::any_of(edges.begin(), edges.end(),
                                     [&](const SavedEdge& e) { return e.from == maker && e.to == reader; });
      if (!known) edges.push_back({maker, reader, tensor});
    }
  return edges;
}

Expr saved_bytes(const Segment& segment, OpId op) {
  Expr bytes;
  for (const SavedStorage& saved : segment.saved)
    if (saved.saver == op) bytes += segment.storages[static_cast<size_t>(saved.storage)].bytes;
  return bytes;
}

}  // namespace shardscape::ui
