#include "trace/trace_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/compressed_file.h"
#include "base/file_limits.h"
#include "base/json_text.h"
#include "bundle/trace_folder.h"
#include "bundle/trace_name.h"
#include "chakra/wire_reader.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAccepted =
    "a Chakra trace: binary (.et), or the JSON of Chakra's jsonizer or feeder, of STAGE, or of PyTorch's "
    "ExecutionTraceObserver; also compressed with gzip";

Problem unusable(const fs::path& path, const std::string& what) {
  return {ProblemCode::TraceFormat, path.string(), what, kAccepted};
}

Result<TraceFamily> in_folder(const fs::path& folder, std::string_view suffix) {
  std::error_code error;
  auto by_name = trace_families(folder, suffix, error);
  if (error) return Problem{ProblemCode::FileUnreadable, folder.string(), error.message()};
  if (by_name.empty()) return TraceFamily{};
  if (by_name.size() == 1) return std::move(by_name.begin()->second);
  constexpr size_t kListed = 4;
  std::string names;
  size_t listed = 0;
  for (const auto& [name, traces] : by_name)
    if (++listed <= kListed) names += (names.empty() ? "" : ", ") + name;
  return Problem{ProblemCode::TraceFormat, folder.string(),
                 "the folder has traces with " + std::to_string(by_name.size()) + " names: " + names +
                     (by_name.size() > kListed ? ", ..." : ""),
                 "a folder with traces of one name, or a single file"};
}

}  // namespace

Result<TraceFamily> find_traces(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return Problem{
        ProblemCode::FileUnreadable, path.string(),
        status.type() == fs::file_type::not_found ? "there is no such file or folder" : error.message()};
  if (!fs::is_directory(status)) {
    const std::string file = path.filename().string();
    for (const char* suffix : {".et", ".json"})
      if (const auto name = split_trace_name(without_gz(file), suffix))
        return TraceFamily{{name->rank, path}};
    return TraceFamily{{0, path}};
  }
  for (const char* suffix : {".et", ".json"}) {
    auto found = in_folder(path, suffix);
    if (std::holds_alternative<Problem>(found) || !std::get<TraceFamily>(found).empty()) return found;
  }
  return Problem{ProblemCode::TraceFormat, path.string(), "the folder has no trace",
                 "files NAME.<rank>.et or NAME.<rank>.json"};
}

Result<std::string> load_trace(const fs::path& file, const std::stop_token& stop) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::is_regular_file(status))
    return Problem{ProblemCode::FileUnreadable, file.string(),
                   fs::is_directory(status) ? "this is a folder" : "this is no regular file"};
  if (const auto size = fs::file_size(file, error); !error && !fits_in_memory(size))
    return Problem{ProblemCode::FileUnreadable, file.string(),
                   "the file has " + std::to_string(size) + " bytes, more than the memory of this machine"};
  return read_text_or_gzip(file, stop);
}

std::string node_name(std::string_view bytes, bool binary) {
  constexpr uint32_t kName = 2;  // in all schemas
  if (binary) {
    wire::Fields fields(bytes);
    for (wire::Field f; fields.next(f);)
      if (f.number == kName && f.type == wire::kBytes) return std::string(f.bytes);
    return {};
  }
  nlohmann::json j;
  if (parse_json(bytes, j)) return {};
  for (const char* key : {"name", "Name"})
    if (j.is_object() && j.contains(key) && j[key].is_string()) return j[key];
  return {};
}

Result<TraceHeader> visit_nodes(const fs::path& file, std::string_view content, const NodeVisit& visit,
                                const std::stop_token& stop) {
  if (content.empty()) return unusable(file, "the file is empty");
  if (constexpr size_t kTarMark = 257; content.substr(std::min(kTarMark, content.size()), 5) == "ustar")
    return unusable(file, "the file is a tar archive; tar -xf " + file.string() + " unpacks it");
  TraceReader reader(content);
  TraceHeader header{reader.form(), {}, reader.is_simulated(), !reader.json_version()};
  // Some writers leave the metadata out. The first message is then a node, or the file is no trace.
  reader.read_metadata(header.version);
  RawNode node;
  bool any = false;
  for (;;) {
    const TraceReader::Step step = reader.next(node);
    if (step == TraceReader::Step::Bad) return unusable(file, reader.problem());
    if (step == TraceReader::Step::End) break;
    any = true;
    if (stop.stop_requested()) break;
    visit(node, reader.node_bytes());
  }
  header.form = reader.form();  // of JSON: known after the first node
  if (reader.json_version()) header.version = *reader.json_version();
  if (any) return header;
  const bool profile = content.substr(0, 4096).find("\"traceEvents\"") != std::string_view::npos;
  return unusable(file, profile ? "the file is a profile (\"traceEvents\"), not an execution trace"
                                : "the file has no node");
}

}  // namespace shardscape
