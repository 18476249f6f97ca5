#include "app/cli/profile_output.h"

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

Result<RankProfile> profiled_rank(const std::string& file, int64_t steps) {
  auto read = read_profile(file);
  if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
  const Profile& profile = std::get<Profile>(read);
  auto step = profiled_step(profile, steps);
  if (auto* problem = std::get_if<Problem>(&step)) return std::move(*problem);
  RankProfile out;
  out.file = profile.file;
  out.device = profile.device;
  out.rank = profile.rank;
  out.ranks = profile.ranks;
  out.events = profile.events;
  out.skipped = profile.skipped;
  out.step = std::get<ProfiledStep>(std::move(step));
  return out;
}

}  // namespace shardscape
