#include "chakra/tracked_memory.h"

#include <algorithm>
#include <unordered_map>

#include "chakra/node_tensors.h"

namespace shardscape {

TrackedMemory track_memory(const RankProgram& program) {
  struct Life {
    int64_t bytes = 0;
    size_t begin = 0, end = 0;  // nodes [begin, end]
    bool written = false, read = false;
  };
  TrackedMemory out;
  std::unordered_map<std::string, Life> lives;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const NodeTensors tensors = node_tensors(program, i);
    // The first node that names a tensor decides on its bytes. 0 bytes are ignored.
    for (const NamedTensor& t : tensors.inputs) {
      if (t.bytes == 0) continue;
      Life& life = lives.try_emplace(t.name, Life{t.bytes, 0}).first->second;
      life.end = i;
      life.read = true;
    }
    for (const NamedTensor& t : tensors.outputs) {
      if (t.bytes == 0) continue;
      if (!lives.try_emplace(t.name, Life{t.bytes, i, i, true}).second) out.written_twice.push_back(t.name);
    }
  }
  std::vector<int64_t> change(program.nodes.size() + 1);
  for (const auto& [name, life] : lives) {
    change[life.begin] += life.bytes;
    if (life.read) change[life.end + 1] -= life.bytes;
    if (!life.read) out.unread.push_back(name);
    if (!life.written) out.at_start += life.bytes;
  }
  int64_t now = 0;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    now += change[i];
    if (now <= out.peak) continue;
    out.peak = now;
    out.at = static_cast<uint32_t>(i + 1);
  }
  std::sort(out.unread.begin(), out.unread.end());
  std::sort(out.written_twice.begin(), out.written_twice.end());
  return out;
}

}  // namespace shardscape
