#include "profile/layer_ranges.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace shardscape {
namespace {

constexpr size_t kMostLayers = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "LlamaDecoderLayer_3" without the number and the sign in front of it; empty: no range of a layer.
std::string_view layer_base(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  const size_t digits = name.size() - end;
  if (digits == 0 || digits > 6 || end == 0) return {};
  const char sign = name[end - 1];
  if (sign == '_' || sign == '.' || sign == ' ' || sign == '-') --end;
  const std::string_view base = name.substr(0, end);
  const auto has = [&](std::string_view a, std::string_view b) {
    return base.find(a) != std::string_view::npos || base.find(b) != std::string_view::npos;
  };
  return has("layer", "Layer") || has("block", "Block") ? (has("norm", "Norm") ? std::string_view() : base)
                                                        : std::string_view();
}
int64_t layer_number(std::string_view name) {
  int64_t number = 0;
  for (const char c : name.substr(name.find_last_not_of("0123456789") + 1)) number = 10 * number + (c - '0');
  return number;
}

struct Candidate {
  int64_t duration = 0;
  std::set<int64_t> numbers;
};
using CandidateKey = std::pair<HostWork, std::string>;

std::optional<CandidateKey> chosen_ranges(const Profile& profile) {
  std::map<CandidateKey, Candidate> candidates;
  for (const HostSpan& span : profile.host) {
    if (span.work != HostWork::Module && span.work != HostWork::Annotation) continue;
    const std::string_view base = layer_base(profile.name(span));
    if (base.empty()) continue;
    Candidate& candidate = candidates[{span.work, std::string(base)}];
    candidate.duration += span.end - span.begin;
    if (candidate.numbers.size() < kMostLayers) candidate.numbers.insert(layer_number(profile.name(span)));
  }
  std::optional<CandidateKey> best;
  int64_t longest = -1;
  for (const auto& [key, candidate] : candidates) {
    if (candidate.numbers.size() < 2 || candidate.duration <= longest) continue;
    longest = candidate.duration;
    best = key;
  }
  return best;
}

}  // namespace

LayerTimes layer_times(const Profile& profile, const Launches& launches,
                       const std::vector<TimedSpan>& spans) {
  LayerTimes out;
  const auto chosen = chosen_ranges(profile);
  if (!chosen) return out;
  out.ranges = (chosen->first == HostWork::Module ? "nn.Module " : "annotation ") + chosen->second;
  const auto ranges = launches.by_thread([&](const HostSpan& span) {
    return span.work == chosen->first && layer_base(profile.name(span)) == chosen->second;
  });
  const auto backwards = launches.by_thread(
      [](const HostSpan& span) { return span.work == HostWork::Op && span.backward && span.sequence >= 0; });
  std::unordered_map<int64_t, const HostSpan*> layer_of_sequence;
  for (const HostSpan& span : profile.host) {
    if (span.work != HostWork::Op || span.backward || span.sequence < 0) continue;
    if (const HostSpan* layer = Launches::around(ranges, span))
      layer_of_sequence.emplace(span.sequence, layer);
  }
  std::map<int64_t, ProfiledLayer> layers;
  for (const TimedSpan& timed : spans) {
    const HostSpan* call = launches.launch(*timed.span);
    if (!call) continue;
    const HostSpan* layer = Launches::around(ranges, *call);
    const HostSpan* backward = Launches::around(backwards, *call);
    if (!layer && backward) {
      const auto at = layer_of_sequence.find(backward->sequence);
      if (at != layer_of_sequence.end()) layer = at->second;
    }
    if (!layer) continue;
    const int64_t number = layer_number(profile.name(*layer));
    if (layers.size() >= kMostLayers && !layers.contains(number)) continue;
    ProfiledLayer& into = layers[number];
    into.number = number;
    into.name = profile.name(*layer);
    (backward ? into.backward : into.forward) += static_cast<double>(timed.own);
  }
  for (auto& [number, layer] : layers) out.layers.push_back(std::move(layer));
  return out;
}

}  // namespace shardscape
