// The answers of a fleet search and of the effects of settings as tables: a row per entry.
#pragma once

#include "serving/service/fleet_search.h"
#include "serving/service/setting_effects.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

QString accelerator_text(const FleetEntry& entry);  // "H100"
// Why an entry is not sized: "unfit: the weights need 140 GB".
QString end_words(const FleetEntry& entry);

class FleetModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setFleet(const FleetSearch& fleet);  // all candidates, the sized ones first
};

class EffectsModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setEffects(const SettingEffects& effects);  // figures over a limit are alarms
};

}  // namespace shardscape::ui
