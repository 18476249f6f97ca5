#include "profile/rank_profile.h"

#include <algorithm>

namespace shardscape {

double RankProfile::compute() const {
  double out = 0;
  for (const auto category :
       {ProfileCategory::MatrixProducts, ProfileCategory::Attention, ProfileCategory::Optimizer,
        ProfileCategory::MemoryBound, ProfileCategory::Unknown})
    out += step.categories[static_cast<size_t>(category)];
  return out;
}
double RankProfile::exposed() const {
  return step.categories[static_cast<size_t>(ProfileCategory::Collectives)] +
         step.categories[static_cast<size_t>(ProfileCategory::Messages)];
}

Result<RankProfile> profiled_rank(const std::string& file, int64_t steps, const std::stop_token& stop) {
  auto read = read_profile(file, stop);
  if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
  const Profile& profile = std::get<Profile>(read);
  RankProfile out;
  out.file = profile.file;
  out.device = profile.device;
  out.rank = profile.rank;
  out.ranks = profile.ranks;
  out.events = profile.events;
  out.skipped = profile.skipped;
  if (stop.stop_requested()) return out;
  auto step = profiled_step(profile, steps);
  if (auto* problem = std::get_if<Problem>(&step)) return std::move(*problem);
  out.step = std::get<ProfiledStep>(std::move(step));
  return out;
}

Result<std::vector<RankProfile>> profiled_ranks(const std::vector<std::string>& paths, int64_t steps,
                                                const std::function<void(double)>& progress,
                                                std::stop_token stop) {
  const auto files = profile_files(paths);
  if (const auto* problem = std::get_if<Problem>(&files)) return *problem;
  std::vector<RankProfile> out;
  const auto& all = std::get<std::vector<std::string>>(files);
  for (const std::string& file : all) {
    auto read = profiled_rank(file, steps, stop);
    if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
    if (stop.stop_requested()) break;
    out.push_back(std::get<RankProfile>(std::move(read)));
    if (progress) progress(static_cast<double>(out.size()) / static_cast<double>(all.size()));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const RankProfile& a, const RankProfile& b) { return a.rank < b.rank; });
  return out;
}

size_t longest_computing(const std::vector<RankProfile>& ranks) {
  return static_cast<size_t>(
      std::max_element(ranks.begin(), ranks.end(),
                       [](const RankProfile& a, const RankProfile& b) { return a.compute() < b.compute(); }) -
      ranks.begin());
}

}  // namespace shardscape
