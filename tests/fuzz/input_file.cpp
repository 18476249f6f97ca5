#include "fuzz/input_file.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace shardscape::fuzz {
namespace fs = std::filesystem;

InputFolder::InputFolder() {
  const fs::path memory = "/dev/shm";
  std::string name = ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
                      "shardscape-fuzz-XXXXXX")
                         .string();
  if (!mkdtemp(name.data())) throw std::runtime_error(name + ": the folder cannot be made");
  path_ = name;
}

InputFolder::~InputFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path InputFolder::write(const std::string& name, std::string_view content) const {
  fs::path file = path_ / name;
  std::FILE* out = std::fopen(file.c_str(), "wb");
  if (!out) throw std::runtime_error(file.string() + ": the file cannot be written");
  const size_t written = std::fwrite(content.data(), 1, content.size(), out);
  if (std::fclose(out) != 0 || written != content.size())
    throw std::runtime_error(file.string() + ": the file is not complete");
  return file;
}

void InputFolder::clear() const {
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
}

fs::path input_file(std::string_view input, const char* name) {
  static const InputFolder folder;
  return folder.write(name, input);
}

}  // namespace shardscape::fuzz
