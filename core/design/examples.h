// Designs that come with the program: resources/examples. Each is a document of its own that fits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct Example {
  std::string id;       // "llama3-70b-64": the name of the file
  std::string title;    // "Llama 3 70B on 64 GPUs"
  std::string summary;  // one sentence
  std::string source;   // of the layout
  std::filesystem::path path;
};

// In the order of resources/examples/examples.json. A Problem if that file is missing or broken.
Result<std::vector<Example>> examples();
// Ignores case. A Problem of the flag --example if there is no such example.
Result<Example> find_example(const std::string& id);

}  // namespace shardscape
