#include "base/documentation.h"

#include <algorithm>
#include <fstream>

#include "base/data_dir.h"

namespace shardscape {
namespace {

constexpr const char* kNames[] = {"guide",
                                  "concepts",
                                  "models/memory",
                                  "models/kernels",
                                  "models/collectives",
                                  "models/graph",
                                  "models/schedules",
                                  "models/gradient-sync",
                                  "models/inference",
                                  "models/requests",
                                  "models/campaign",
                                  "models/search",
                                  "cluster",
                                  "models/traces",
                                  "accuracy",
                                  "accuracy-serving",
                                  "limits",
                                  "command-line",
                                  "json",
                                  "json-results",
                                  "problems",
                                  "architecture",
                                  "../CONTRIBUTING"};

}  // namespace

std::vector<DocumentationPage> documentation_pages() {
  std::vector<DocumentationPage> pages;
  const std::filesystem::path folder = data_dir() / "docs";
  for (const char* name : kNames) {
    const std::filesystem::path path = (folder / (std::string(name) + ".md")).lexically_normal();
    std::ifstream file(path);
    std::string title;
    if (!std::getline(file, title)) continue;
    pages.push_back({name, title.substr(std::min(title.size(), title.find_first_not_of("# "))), path});
  }
  return pages;
}

}  // namespace shardscape
