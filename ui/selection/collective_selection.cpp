#include "ui/selection/collective_selection.h"

namespace shardscape::ui {

Selection selectionOfCollective(const StageReport& stage, const CollectiveValue& row) {
  Selection selection;
  selection.kind = SelectionKind::Collective;
  selection.stage = stage.stage;
  selection.phase = row.phase;
  selection.collective = row.op;
  selection.group = row.group;
  selection.dtype = row.dtype;
  return selection;
}

}  // namespace shardscape::ui
