// Maps parts of the window to pages of the documentation. This is the only such map.
#pragma once

#include <QString>

namespace shardscape {
struct Knob;
}

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
  Serving,
  Requests,  // pages of Explore
  Layers,
  Text,  // pages of Architecture
  Form,
  Gpus,
  Verdict,
  Problems,
  Import,
  Traces,
  Profiles,
  Export,
  Machine,
  Shortcuts,
  Examples  // dialogs
};
inline constexpr int kHelpTopicCount = static_cast<int>(HelpTopic::Examples) + 1;

QString helpLink(HelpTopic topic);       // below docs/: "models/memory.md#advice"
QString knobHelpLink(const Knob& knob);  // its row in the table of knobs

}  // namespace shardscape::ui
