#include "fuzz/input_file.h"
#include "fuzz/reader.h"
#include "profile/profile_step.h"

namespace shardscape::fuzz {

std::string torch_profile(std::string_view input) {
  const auto read = read_profile(input_file(input, "profile.json").string());
  const auto* profile = std::get_if<Profile>(&read);
  return profile ? reason(profiled_step(*profile)) : reason(read);
}

}  // namespace shardscape::fuzz
