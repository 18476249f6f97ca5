#include "ui/shell/preset_box.h"

#include <QKeyEvent>
#include <QLineEdit>

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

void PresetBox::keyPressEvent(QKeyEvent* event) {
  const QString typed = event->text();
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
    case Qt::Key_Home:
    case Qt::Key_End:
    case Qt::Key_F4:
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter: return showPopup();
    default: break;
  }
  if (typed.isEmpty() || !typed[0].isPrint() || event->modifiers() & (Qt::ControlModifier | Qt::AltModifier))
    return event->ignore();
  showPopup();
  popup_->line()->setText(typed);
}

void PresetBox::wheelEvent(QWheelEvent* event) { event->ignore(); }

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
  if (ModelLibrary::instance().preset(model.preset)) return;
  setPlaceholderText(QString::fromStdString(model.preset));
  setCurrentIndex(-1);
}

}  // namespace shardscape::ui
