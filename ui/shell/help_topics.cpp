#include "ui/shell/help_topics.h"

#include "design/knobs/knobs.h"
#include "ui/help/help_library.h"

namespace shardscape::ui {

QString helpLink(HelpTopic topic) {
  switch (topic) {
    case HelpTopic::Graph: return QStringLiteral("models/graph.md");
    case HelpTopic::Memory: return QStringLiteral("models/memory.md");
    case HelpTopic::Flops: return QStringLiteral("models/kernels.md#flops-mfu-and-hfu");
    case HelpTopic::Roofline: return QStringLiteral("models/kernels.md#time-of-a-layer");
    case HelpTopic::Collectives: return QStringLiteral("models/collectives.md");
    case HelpTopic::Mesh: return QStringLiteral("concepts.md#mesh-axes-and-placement");
    case HelpTopic::Timeline: return QStringLiteral("models/schedules.md#step-simulation");
    case HelpTopic::Designs: return QStringLiteral("models/search.md");
    case HelpTopic::Compare: return QStringLiteral("models/search.md#comparison");
    case HelpTopic::Sensitivity: return QStringLiteral("models/search.md#sensitivity");
    case HelpTopic::Scaling: return QStringLiteral("guide.md#see-which-settings-matter");
    case HelpTopic::Serving: return QStringLiteral("models/inference.md");
    case HelpTopic::Requests: return QStringLiteral("models/requests.md");
    case HelpTopic::Layers: return QStringLiteral("guide.md#design-an-architecture");
    case HelpTopic::Text: return QStringLiteral("models/graph.md#blocks");
    case HelpTopic::Form: return QStringLiteral("json.md");
    case HelpTopic::Gpus: return QStringLiteral("guide.md#describe-a-design");
    case HelpTopic::Verdict: return QStringLiteral("guide.md#make-a-design-fit");
    case HelpTopic::Problems: return QStringLiteral("problems.md");
    case HelpTopic::Import: return QStringLiteral("guide.md#import-a-configjson");
    case HelpTopic::Traces: return QStringLiteral("guide.md#look-into-traces-of-any-program");
    case HelpTopic::Profiles: return QStringLiteral("guide.md#compare-with-a-profiled-run");
    case HelpTopic::Export: return QStringLiteral("guide.md#export-a-bundle-and-run-it-in-astra-sim");
    case HelpTopic::Machine: return QStringLiteral("guide.md#use-your-own-accelerators-networks-and-models");
    case HelpTopic::Shortcuts: return QStringLiteral("guide.md#the-window");
    case HelpTopic::Examples: return QStringLiteral("guide.md#start-from-an-example");
  }
  return {};
}

QString knobHelpLink(const Knob& knob) {
  return QStringLiteral("json.md#") + kRowOf + QString::fromStdString(knob.id);
}

}  // namespace shardscape::ui
