// Places in data files, as messages name them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardscape {

// Lines and columns count from 1. A column counts characters, not bytes; 0: the whole line.
struct SourcePlace {
  std::string file;  // relative to the models/ folder: "blocks/mlp.json"; the path of a person's own file
  int line = 0;
  int column = 0;
  // The place some characters further on the line.
  SourcePlace further(int characters) const { return {file, line, column > 0 ? column + characters : 0}; }
};

// "blocks/mlp.json:12:7", or "blocks/mlp.json:12" without a column. Problem::where has this form.
std::string place_text(const SourcePlace& place);
// Reads this form; nullopt if the text names no line.
std::optional<SourcePlace> parse_place(std::string_view text);

}  // namespace shardscape
