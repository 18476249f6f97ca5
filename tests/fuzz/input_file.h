// Inputs as files, for readers that take paths. The files are in memory where the system has a folder for
// that.
#pragma once

#include <filesystem>
#include <string_view>

namespace shardscape::fuzz {

// A folder of this process, empty at first and removed at the end.
class InputFolder {
 public:
  InputFolder();
  ~InputFolder();
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file into the folder and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const;
  void clear() const;

 private:
  std::filesystem::path path_;
};

// The input as a file that the next call replaces.
std::filesystem::path input_file(std::string_view input, const char* name);

}  // namespace shardscape::fuzz
