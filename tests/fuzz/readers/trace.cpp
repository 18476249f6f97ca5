#include "fuzz/reader.h"
#include "trace/trace_file.h"

namespace shardscape::fuzz {

std::string trace(std::string_view input) {
  const bool json = JsonTrace::is_json(input);
  return reason(visit_nodes(kInputName, input,
                            [&](const RawNode&, std::string_view bytes) { node_name(bytes, !json); }));
}

}  // namespace shardscape::fuzz
