// Reads text files that may be compressed with gzip.
#pragma once

#include <filesystem>
#include <string>

#include "base/problem.h"

namespace shardscape {

// The text of a file. A file that starts with the two bytes of a gzip member (RFC 1952, section 2.3.1) is
// decompressed, whatever its name; its members follow each other. A Problem (FileUnreadable) if the file
// cannot be read, or if its compressed data is damaged or ends too early.
Result<std::string> read_text_or_gzip(const std::filesystem::path& file);

}  // namespace shardscape
