#include "ui/shell/preset_box.h"

#include "base/units.h"
#include "model/library.h"
#include "ui/session/session.h"
#include "ui/shell/preset_popup.h"

namespace shardscape::ui {

PresetBox::PresetBox(Session* session, QWidget* parent)
    : QComboBox(parent), session_(session), popup_(new PresetPopup(this)) {
  setObjectName("preset_box");
  setProperty("preset", true);
  setAccessibleName(tr("Model preset"));
  setToolTip(tr("Model preset. Parallelism, workload and cluster stay if they fit the model."));
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  setMinimumContentsLength(22);
  fill();
  connect(this, &QComboBox::activated, this,
          [this](int index) { session_->applyPreset(itemData(index).toString()); });
  connect(popup_, &PresetPopup::chosen, session_, &Session::applyPreset);
  connect(session, &Session::designChanged, this, &PresetBox::refresh);
  connect(session, &Session::libraryChanged, this, [this] {
    clear();
    fill();
    refresh();
  });
  refresh();
}

void PresetBox::fill() {
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    addItem(QString::fromStdString(preset.name), QString::fromStdString(preset.id));
    setItemData(count() - 1,
                tr("%1 parameters, %2")
                    .arg(QString::fromStdString(format_count(preset.published_parameters)),
                         QString::fromStdString(preset.source)),
                Qt::ToolTipRole);
  }
}

void PresetBox::showPopup() { popup_->open(currentData().toString()); }

void PresetBox::refresh() {
  const ModelSpec& model = session_->design().model;
  int index = 0;  // items are in the order of the library
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    const bool here = preset.id == model.preset;
    const QString name = QString::fromStdString(preset.name);
    const QString shown = here && preset.model != model ? tr("%1, edited").arg(name) : name;
    if (itemText(index) != shown) setItemText(index, shown);
    if (here) setCurrentIndex(index);
    ++index;
  }
  if (!ModelLibrary::instance().preset(model.preset)) setCurrentIndex(-1);
}

}  // namespace shardscape::ui
