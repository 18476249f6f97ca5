// The pages of the documentation. The window's help and `shardscape-cli reference` show them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardscape {

struct DocumentationPage {
  std::string name;   // path below docs/ without ".md": "models/memory"
  std::string title;  // its first heading
  std::filesystem::path path;
};

// In the order in which a new user reads. A page whose file is missing is left out.
std::vector<DocumentationPage> documentation_pages();

}  // namespace shardscape
