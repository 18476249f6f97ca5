#include "ui/shell/panes.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr qsizetype kRemembered = 64;

bool takes_keys(const QWidget* widget) {
  return widget->isVisible() && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus) == Qt::TabFocus;
}

bool is_control(const QWidget* widget) {
  return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget) ||
         qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget);
}

}  // namespace

Panes::Panes(const QVector<QWidget*>& panes, QObject* parent) : QObject(parent), panes_(panes) {
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (!now) return;
    last_.removeAll(now);
    last_.removeAll(nullptr);
    last_.push_back(now);
    if (last_.size() > kRemembered) last_.removeFirst();
  });
}

void Panes::next(bool forward) {
  const QWidget* now = QApplication::focusWidget();
  const qsizetype count = panes_.size(), step = forward ? 1 : count - 1;
  qsizetype at = forward ? count - 1 : 0;
  for (qsizetype i = 0; i < count; ++i)
    if (now && (panes_[i] == now || panes_[i]->isAncestorOf(now))) at = i;
  for (qsizetype i = 0; i < count; ++i) {
    at = (at + step) % count;
    if (panes_[at]->isVisible()) return focus(panes_[at]);
  }
}

void Panes::focus(QWidget* pane) {
  for (auto it = last_.rbegin(); it != last_.rend(); ++it)
    if (QWidget* widget = *it; widget && pane->isAncestorOf(widget) && takes_keys(widget))
      return widget->setFocus(Qt::ShortcutFocusReason);
  const QList<QWidget*> all = pane->findChildren<QWidget*>();
  const auto content = [](const QWidget* widget) { return takes_keys(widget) && !is_control(widget); };
  auto found = std::find_if(all.begin(), all.end(), content);
  if (found == all.end()) found = std::find_if(all.begin(), all.end(), takes_keys);
  if (found != all.end()) (*found)->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace shardscape::ui
