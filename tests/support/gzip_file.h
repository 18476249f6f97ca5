// Writes files compressed with gzip.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <string>

namespace shardscape::test {

// The file holds the text `times` times.
inline void write_gzip(const std::filesystem::path& path, const std::string& text, int times = 1) {
  gzFile file = gzopen(path.c_str(), "wb");
  for (int i = 0; i < times; ++i) gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

}  // namespace shardscape::test
