// Maps parts of the window to pages of the documentation. This is the only such map.
#pragma once

#include <QString>

namespace shardscape::ui {

enum class HelpTopic {
  Graph,
  Memory,
  Flops,
  Roofline,
  Collectives,
  Mesh,
  Timeline,  // views
  Designs,
  Compare,
  Sensitivity,
  Scaling,
  Serving,  // pages of Explore
  Layers,
  Text,  // pages of Architecture
  Form,
  Problems
};
inline constexpr int kHelpTopicCount = static_cast<int>(HelpTopic::Problems) + 1;

QString helpLink(HelpTopic topic);  // below docs/: "models/memory.md#advice"

}  // namespace shardscape::ui
