#include "chakra/trace_shape.h"

#include "base/units.h"

namespace shardscape {

std::string collective_text(const ShapeNode& node) {
  return std::string(chakra::collective_type_name(node.collective.value())) + " of " + grouped(node.size) +
         " bytes";
}

uint64_t shape_hash(const TraceShape& shape) {
  uint64_t hash = 0x9e3779b97f4a7c15ull;
  const auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  };
  for (const ShapeNode& n : shape.nodes) {
    mix(n.id);
    mix(static_cast<uint64_t>(n.size) ^ static_cast<uint64_t>(n.nanoseconds) << 20);
    mix(uint64_t{n.dep_count} << 32 | n.slot);
    mix(static_cast<uint64_t>(static_cast<uint32_t>(n.tag)) << 16 | static_cast<uint64_t>(n.type) << 8 |
        (n.collective ? static_cast<uint64_t>(*n.collective) : 0));
  }
  for (const uint64_t dep : shape.deps) mix(dep);
  return hash;
}

}  // namespace shardscape
