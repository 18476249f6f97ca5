// Gives every block call with options a block of its own.
#pragma once

#include <vector>

#include "model/block.h"

namespace shardscape {

// Blocks, towers and architectures as the files state them.
struct Templates {
  std::vector<BlockTemplate> blocks;
  std::vector<TowerTemplate> towers;
  std::vector<Architecture> architectures;
};

// Options per architecture: each choice of them becomes an architecture.
inline constexpr size_t kMaxArchitectureOptions = 6;

// The same without conditional lines: every choice of options that an architecture offers or a line calls is
// a template of its own, with the text of the call as id. A template that calls an unknown option is left
// out; its Problem is added.
Templates resolve_options(const Templates& stated, std::vector<Problem>& problems);

// Points the lines at blocks with the options of the calls, and returns these blocks. A line that calls an
// unknown option stays; its Problem is added.
std::vector<BlockTemplate> resolve_calls(const Templates& stated, const std::vector<OpLine*>& lines,
                                         std::vector<Problem>& problems);

}  // namespace shardscape
