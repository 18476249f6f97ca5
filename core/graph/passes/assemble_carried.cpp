// Tensors that one layer makes and later layers read (Architecture::carries).
#include <algorithm>

#include "graph/passes/assembler.h"

namespace shardscape {

void Assembler::read_carried(const SectionTemplate& section, TensorNames& names) {
  const CarriedUse& use = b_.structure().carried;
  for (size_t i = 0; i < carries_.size(); ++i) {
    const CarriedTensor& carried = carries_[i];
    const auto line = std::find_if(section.lines.begin(), section.lines.end(), [&](const OpLine& of) {
      return std::find(of.args.begin(), of.args.end(), carried.name) != of.args.end();
    });
    if (line == section.lines.end()) continue;
    std::optional<Axis> tokens;
    if (const BlockTemplate* block = block_of(*line); block && carried.cached && b_.structure().reads_cache())
      tokens = cached_tokens(*block);
    Carried entry{static_cast<int>(i)};
    entry.in = names[carried.name] = b_.carried_input(carried, tokens);
    if (!(use.last >> i & 1)) entry.out = entry.in;
    entry.held = use.held >> i & 1;
    b_.segment().carried.push_back(entry);
  }
}

void Assembler::hand_on(const SectionTemplate& section, const TensorNames& names) {
  for (size_t i = 0; i < carries_.size(); ++i) {
    const CarriedTensor& carried = carries_[i];
    if (!(b_.structure().carried.made >> i & 1) || !makes(section, carried)) continue;
    const auto inside = made_inside_.find(carried.name);
    if (!carried.result.empty() && inside == made_inside_.end())
      fail(ProblemCode::UnknownResult, section.lines.back(),
           "\"" + carried.name + "\" is to come from \"" + carried.result + "\" of \"" + carried.line +
               "\", which has no result of this name",
           "the name before '=' of one of the ops of the block");
    Carried entry{static_cast<int>(i)};
    entry.out = b_.handed_on(carried.result.empty() ? names.at(carried.line) : inside->second, carried);
    b_.segment().carried.push_back(entry);
  }
}

}  // namespace shardscape
