#include "base/write_files.h"

#include "base/atomic_write.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

// What was not there before. It is removed again unless it is kept.
class NewPaths {
 public:
  ~NewPaths() {
    std::error_code ignored;
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) fs::remove(*path, ignored);
  }
  // Call it before the path is made.
  void note(const fs::path& path) {
    std::error_code ignored;
    if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) paths_.push_back(path);
  }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

}  // namespace

std::optional<Problem> write_files(const fs::path& folder, const std::vector<NamedText>& files) {
  NewPaths made;
  fs::path above;
  for (const fs::path& part : folder) made.note(above /= part);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return Problem{ProblemCode::FolderNotWritable, folder.string(),
                   "the folder cannot be made: " + error.message(), "a writable folder"};
  for (const NamedText& file : files) {
    made.note(folder / file.name);
    if (auto problem = atomic_write(folder / file.name, file.text)) return problem;
  }
  made.keep();
  return std::nullopt;
}

}  // namespace shardscape
