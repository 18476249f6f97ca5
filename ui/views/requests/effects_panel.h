// What one step of each setting of the engine changes: the effects of the page Requests.
#pragma once

#include <memory>

#include "serving/service/setting_effects.h"
#include "ui/views/requests/answer_panel.h"

namespace shardscape::ui {

class EffectsModel;

class EffectsPanel : public AnswerPanel {
  Q_OBJECT
 public:
  EffectsPanel(Session* session, PageSettings* pages, QWidget* parent);
  std::shared_ptr<const SettingEffects> effects() const { return effects_; }
  Picture picture() const override;

 protected:
  Compute question() override;
  bool any() const override { return effects_ != nullptr; }
  QString summary() const override;
  std::optional<Applied> applied(int row) const override;

 private:
  void show(std::shared_ptr<const SettingEffects> effects);
  EffectsModel* model_;
  std::shared_ptr<const SettingEffects> effects_;
};

}  // namespace shardscape::ui
