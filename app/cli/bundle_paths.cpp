#include "app/cli/bundle_paths.h"

namespace shardscape {

std::vector<Flag> bundle_path_flags() {
  return {
      {"--groups", 0, FlagKind::Value, "FILE",
       "Read communicator groups from this file; default: comm_groups.json of the folder, if it exists.", ""},
      {"--system", 0, FlagKind::Value, "FILE", "Read this system file; default: system.json of the folder.",
       ""},
      {"--network", 0, FlagKind::Value, "FILE", "Read this network file; default: network.yml of the folder.",
       ""},
      {"--memory", 0, FlagKind::Value, "FILE",
       "Read this file of remote memory; default: memory.json of the folder; without it, there is no remote "
       "memory.",
       ""}};
}

BundlePaths bundle_paths(const Arguments& arguments, const std::filesystem::path& folder) {
  BundlePaths paths{.folder = folder};
  const auto read = [&](const char* flag, std::filesystem::path& to) {
    if (const std::string* value = arguments.value(flag)) to = *value;
  };
  read("--groups", paths.groups);
  read("--system", paths.system);
  read("--network", paths.network);
  read("--memory", paths.memory);
  return paths;
}

}  // namespace shardscape
