// The answers of a fleet search and of the effects of settings as tables: a row per entry.
#pragma once

#include "serving/service/fleet_search.h"
#include "serving/service/setting_effects.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

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
