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
  connect(popup_, &PresetPopup::importedChosen, this, [this](int index) {
    const Session::Imported model = session_->imported()[static_cast<size_t>(index)];
    session_->adoptModel(model.model, model.name, tr("model %1").arg(model.name));
  });
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

void PresetBox::showPopup() {
  const Design& design = session_->design();
  QStringList imported;
  for (const Session::Imported& model : session_->imported()) imported << model.name;
  const qsizetype own = design.model.preset.empty() ? imported.indexOf(QString::fromStdString(design.name))
                                                    : -1;
  popup_->open(currentData().toString(), imported, static_cast<int>(own));
}

void PresetBox::refresh() {
  const Design& design = session_->design();
  const ModelSpec& model = design.model;
  int index = 0;  // items are in the order of the library
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    const bool here = preset.id == model.preset;
    const QString name = QString::fromStdString(preset.name);
    const QString shown = here && preset.model != model ? tr("%1, edited").arg(name) : name;
    if (itemText(index) != shown) setItemText(index, shown);
    if (here) setCurrentIndex(index);
    ++index;
  }
  // The item after those of the library is the model without a preset.
  if (ModelLibrary::instance().preset(model.preset)) {
    if (count() > index) removeItem(index);
    return;
  }
  const QString shown = model.preset.empty() ? tr("%1, imported").arg(QString::fromStdString(design.name))
                                             : QString::fromStdString(model.preset);
  if (count() == index) addItem(shown);
  if (itemText(index) != shown) setItemText(index, shown);
  setCurrentIndex(index);
}

}  // namespace shardscape::ui
