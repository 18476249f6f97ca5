#include "bundle/match_rules.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/units.h"
#include "chakra/groups.h"

namespace shardscape {
namespace {

struct Member {
  int64_t rank;
  uint32_t slot;
};

std::string rank_name(int64_t rank) { return "rank " + std::to_string(rank); }

// Compares one rank's collectives of a group with those of the reference rank.
void compare_sequences(const BundleTraces& traces, int64_t group, const Member& reference,
                       const Member& member, Findings& findings) {
  const auto sequence = [&](const Member& m) -> const std::vector<uint32_t>& {
    return traces.analysis(m.rank).collectives[m.slot];
  };
  const auto node = [&](const Member& m, uint32_t comm) -> const ShapeNode& {
    return traces.shape(m.rank).nodes[traces.analysis(m.rank).comm[comm].node];
  };
  const auto& expected = sequence(reference);
  const auto& found = sequence(member);
  const std::string where = (group == 0 ? std::string("the world") : "group " + std::to_string(group)) + ": ";
  for (size_t k = 0; k < std::min(expected.size(), found.size()); ++k) {
    const ShapeNode &a = node(reference, expected[k]), &b = node(member, found[k]);
    if (a.collective == b.collective && a.size == b.size) continue;
    findings.error("COLLECTIVE_MISMATCH", member.rank, static_cast<int64_t>(b.id),
                   where + "collective " + std::to_string(k + 1) + " is " + collective_text(b) + ", on " +
                       rank_name(reference.rank) + " (node " + std::to_string(a.id) + ") " +
                       collective_text(a));
    return;
  }
  if (expected.size() != found.size())
    findings.error("COLLECTIVE_COUNT", member.rank, -1,
                   where + "issues " + std::to_string(found.size()) + " collectives, " +
                       rank_name(reference.rank) + " " + std::to_string(expected.size()));
}

bool same_transfers(const std::vector<Transfer>& a, const std::vector<Transfer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Transfer& x, const Transfer& y) { return x.tag == y.tag && x.size == y.size; });
}

// Reports transfers of `list` without a partner in `other`. Both are sorted by tag and size.
void report_unmatched(const char* code, const char* what, const char* wanted, int64_t rank, int64_t peer,
                      const std::vector<Transfer>& list, const std::vector<Transfer>& other,
                      Findings& findings) {
  const auto before = [](const Transfer& x, const Transfer& y) {
    return std::tie(x.tag, x.size) < std::tie(y.tag, y.size);
  };
  auto at = other.begin();
  for (const Transfer& t : list) {
    while (at != other.end() && before(*at, t)) ++at;
    if (at != other.end() && !before(t, *at)) {
      ++at;
      continue;
    }
    const auto after = std::upper_bound(other.begin(), other.end(), t.tag,
                                        [](auto tag, const Transfer& o) { return tag < o.tag; });
    const bool same_tag = after != other.begin() && (after - 1)->tag == t.tag && (after - 1)->size != t.size;
    const std::string hint = same_tag ? "; a transfer with this tag has " +
                                            std::to_string((after - 1)->size) + " bytes"
                                      : "";
    findings.error(code, rank, static_cast<int64_t>(t.id),
                   std::string(what) + rank_name(peer) + " with tag " + std::to_string(t.tag) + " and " +
                       std::to_string(t.size) + " bytes has no " + wanted + hint);
  }
}

}  // namespace

void check_collectives_match(const BundleTraces& traces, const BundleConfig& config, Findings& findings) {
  std::map<int64_t, std::vector<Member>> users;  // by group; ranks ascending
  for (int64_t rank = 0; rank < static_cast<int64_t>(traces.ranks.size()); ++rank) {
    const RankTrace& trace = traces.ranks[static_cast<size_t>(rank)];
    if (!trace.readable) continue;
    for (uint32_t slot = 0; slot < trace.groups.size(); ++slot)
      if (!traces.analysis(rank).collectives[slot].empty()) users[trace.groups[slot]].push_back({rank, slot});
  }
  for (const auto& [group, members] : users) {
    const Member& reference = members.front();
    const uint64_t hash = traces.analysis(reference.rank).collective_hash[reference.slot];
    for (const Member& m : members)
      if (traces.analysis(m.rank).collective_hash[m.slot] != hash)
        compare_sequences(traces, group, reference, m, findings);
    const auto missing = [&, group = group, &members = members](int64_t rank) {
      const auto it = std::lower_bound(members.begin(), members.end(), rank,
                                       [](const Member& m, int64_t r) { return m.rank < r; });
      if (it != members.end() && it->rank == rank) return;
      if (rank < 0 || rank >= static_cast<int64_t>(traces.ranks.size()) ||
          !traces.ranks[static_cast<size_t>(rank)].readable)
        return;
      findings.error("COLLECTIVE_COUNT", rank, -1,
                     (group == 0 ? std::string("the world") : "group " + std::to_string(group)) +
                         ": issues no collective, " + rank_name(reference.rank) + " " +
                         std::to_string(traces.analysis(reference.rank).collectives[reference.slot].size()));
    };
    if (group == 0) {
      for (int64_t rank = 0; rank < static_cast<int64_t>(traces.ranks.size()); ++rank) missing(rank);
    } else if (const auto it = config.groups.find(group); it != config.groups.end()) {
      for (const int64_t rank : it->second) missing(rank);
    }
  }
}

void check_transfers_match(const BundleTraces& traces, Findings& findings) {
  static const std::vector<Transfer> none;
  // The slot of `peer` on a rank; -1 if the rank sends and receives nothing there.
  const auto slot_of = [&](int64_t rank, int64_t peer) {
    const RankTrace& trace = traces.ranks[static_cast<size_t>(rank)];
    const auto it = trace.readable ? std::find(trace.peers.begin(), trace.peers.end(), peer)
                                   : trace.peers.end();
    return it == trace.peers.end() ? -1 : static_cast<int64_t>(it - trace.peers.begin());
  };
  for (int64_t rank = 0; rank < static_cast<int64_t>(traces.ranks.size()); ++rank) {
    const RankTrace& trace = traces.ranks[static_cast<size_t>(rank)];
    if (!trace.readable) continue;
    const ShapeAnalysis& own = traces.analysis(rank);
    for (uint32_t slot = 0; slot < trace.peers.size(); ++slot) {
      const int64_t peer = trace.peers[slot], back = slot_of(peer, rank);
      const bool known = back >= 0;
      const auto& received = known ? traces.analysis(peer).receives[static_cast<size_t>(back)] : none;
      const auto& sent = known ? traces.analysis(peer).sends[static_cast<size_t>(back)] : none;
      if (!same_transfers(own.sends[slot], received))
        report_unmatched("SEND_UNMATCHED", "the send to ", "receive", rank, peer, own.sends[slot], received,
                         findings);
      if (!same_transfers(own.receives[slot], sent))
        report_unmatched("RECEIVE_UNMATCHED", "the receive from ", "send", rank, peer, own.receives[slot],
                         sent, findings);
    }
  }
}

void check_group_ids(const BundleTraces& traces, Findings& findings) {
  for (int64_t rank = 0; rank < static_cast<int64_t>(traces.ranks.size()); ++rank) {
    std::vector<int64_t> groups = traces.ranks[static_cast<size_t>(rank)].groups;
    std::sort(groups.begin(), groups.end(),
              [](int64_t a, int64_t b) { return a % GroupTable::kIdModulus < b % GroupTable::kIdModulus; });
    for (size_t k = 1; k < groups.size(); ++k)
      if (groups[k] % GroupTable::kIdModulus == groups[k - 1] % GroupTable::kIdModulus)
        findings.warning("GROUP_COLLISION", rank, -1,
                         "groups " + std::to_string(groups[k - 1]) + " and " + std::to_string(groups[k]) +
                             " are equal modulo 500: the simulator gives them the same tags");
  }
}

}  // namespace shardscape
