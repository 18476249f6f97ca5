#include "fuzz/reader.h"
#include "launch/launch_import.h"

namespace shardscape::fuzz {

// The first character chooses the framework. A blank: the text decides.
std::string launch(std::string_view input) {
  if (input.empty()) return "the input is empty";
  const auto& frameworks = launch_frameworks();
  const auto kind = static_cast<unsigned char>(input.front() - ' ') % (frameworks.size() + 1);
  LaunchRequest request{.text = std::string(input.substr(1)), .where = kInputName};
  if (kind > 0) request.framework = frameworks[kind - 1].id;
  return reason(import_launch(request).problems);
}

}  // namespace shardscape::fuzz
