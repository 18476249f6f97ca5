#include "astra_sim/implementation_use.h"

#include <algorithm>
#include <bit>
#include <bitset>

namespace shardscape {
namespace {

using chakra::CollectiveType;

constexpr const char* kTree = "doubleBinaryTree";
constexpr const char* kHalving = "halvingDoubling";
constexpr const char* kHalvingOfJob = "oneHalvingDoubling";

bool needs_power_of_two(const std::string& name) {
  return name == kTree || name == kHalving || name == kHalvingOfJob;
}
bool is_power_of_two(int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); }

std::string uneven(const std::string& name, const std::string& who, int64_t ranks) {
  return name + " needs powers of two, but " + who + " has " + std::to_string(ranks) + " ranks";
}

// Defects of one list of algorithms: one entry per dimension, or one for a network as a whole.
class ListOfAlgorithms {
 public:
  ListOfAlgorithms(const BundleConfig& config, size_t index, std::vector<std::string>& out)
      : config_(config), names_(config.implementations[index]), out_(out) {
    all_reduces_ = index == implementation_index(CollectiveType::AllReduce);
    key_ = std::string(kImplementationKeys[index]) + ": ";
  }

  void check(int64_t ranks, int64_t group) {
    if (names_.empty()) return;
    if (ranks == config_.ranks) return check_job();
    if (names_.size() > 1) return;
    const std::string who = "group " + std::to_string(group);
    if (names_.front() == kTree)
      out_.push_back(key_ + kTree + " runs over the whole job, but " + who + " has " + std::to_string(ranks) +
                     " of " + std::to_string(config_.ranks) + " ranks");
    else if (needs_power_of_two(names_.front()) && !is_power_of_two(ranks))
      out_.push_back(key_ + uneven(names_.front(), who, ranks));
  }

 private:
  void check_job() {
    if (names_.front() == kHalvingOfJob && !is_power_of_two(config_.ranks))
      return out_.push_back(key_ + uneven(kHalvingOfJob, "the job", config_.ranks));
    for (size_t d = 0; d < std::min(names_.size(), config_.dimensions.size()); ++d) {
      const int64_t ranks = config_.dimensions[d].ranks;
      if (names_[d] == kTree && !all_reduces_)
        out_.push_back(key_ + kTree + " works for all-reduces only");
      else if (needs_power_of_two(names_[d]) && !(d == 0 && names_[d] == kHalvingOfJob) &&
               !is_power_of_two(ranks))
        out_.push_back(key_ + uneven(names_[d], "dimension " + std::to_string(d), ranks));
    }
  }

  const BundleConfig& config_;
  const std::vector<std::string>& names_;
  std::vector<std::string>& out_;
  bool all_reduces_ = false;
  std::string key_;
};

// By implementation_index.
using TypesInUse = std::bitset<kImplementationCount>;

std::vector<TypesInUse> types_by_slot(const TraceShape& shape, const ShapeAnalysis& analysis) {
  std::vector<TypesInUse> out(shape.group_slots);
  for (size_t slot = 0; slot < std::min(out.size(), analysis.collectives.size()); ++slot)
    for (const uint32_t comm : analysis.collectives[slot]) {
      const auto type = shape.nodes[analysis.comm[comm].node].collective;
      if (const auto index = type ? implementation_index(*type) : std::nullopt) out[slot].set(*index);
    }
  return out;
}

}  // namespace

CollectiveUse collective_use(const BundleTraces& traces, const BundleConfig& config) {
  std::vector<std::vector<TypesInUse>> types;  // by shape, then group slot
  types.reserve(traces.shapes.size());
  for (size_t s = 0; s < traces.shapes.size(); ++s)
    types.push_back(types_by_slot(traces.shapes[s], traces.analyses[s]));
  CollectiveUse out;
  for (const RankTrace& trace : traces.ranks) {
    if (!trace.readable) continue;
    for (size_t slot = 0; slot < trace.groups.size(); ++slot) {
      const int64_t group = trace.groups[slot];
      const auto members = config.groups.find(group);
      if (group != 0 && members == config.groups.end()) continue;  // a finding of its own
      const auto ranks = static_cast<int64_t>(group == 0 ? traces.ranks.size() : members->second.size());
      for (size_t index = 0; index < kImplementationCount; ++index)
        if (types[trace.shape][slot].test(index)) out[index].try_emplace(ranks, group);
    }
  }
  return out;
}

std::vector<std::string> implementation_defects(const BundleConfig& config, const CollectiveUse& use) {
  std::vector<std::string> out;
  if (config.ranks == 0) return out;  // a finding of its own
  for (size_t index = 0; index < use.size(); ++index) {
    ListOfAlgorithms list(config, index, out);
    for (const auto& [ranks, group] : use[index]) list.check(ranks, group);
  }
  return out;
}

}  // namespace shardscape
