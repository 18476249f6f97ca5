// Looks at every visible control of a window as a person would: it lies in the window, its text is whole or a
// tip has it, it has a name, and the text stands out from its background.
#pragma once

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QStringList>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QWidget>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/elided_label.h"

namespace shardscape::ui {

class ControlsWalk {
 public:
  explicit ControlsWalk(QWidget* window) : window_(window) {
    for (QWidget* widget : window->findChildren<QWidget*>()) {
      if (!widget->isVisible() || widget->window() != window || !isControl(widget)) continue;
      checkPlace(widget);
      checkText(widget);
      checkName(widget);
      controls_ << widget;
    }
  }

  // In a picture with many points per pixel, where strokes have their full colour.
  void checkContrast() {
    constexpr int kScale = 3;
    QImage picture(window_->size() * kScale, QImage::Format_RGB32);
    picture.setDevicePixelRatio(kScale);
    window_->render(&picture);
    for (QWidget* widget : controls_) {
      if (!widget->isEnabled() || textOf(widget).isEmpty() || qobject_cast<QAbstractItemView*>(widget))
        continue;
      const QRect seen = visiblePart(widget);
      if (seen.isEmpty()) continue;
      const double found = strongest(picture.copy(QRect(seen.topLeft() * kScale, seen.size() * kScale)));
      if (found < 4.5) complain(widget, QStringLiteral("has a contrast of %1").arg(found));
    }
  }

  const QStringList& complaints() const { return complaints_; }
  qsizetype count() const { return controls_.size(); }

 private:
  static bool isControl(const QWidget* widget) {
    if (qobject_cast<const QScrollBar*>(widget) || widget->inherits("QTableCornerButton")) return false;
    if (widget->inherits("QTabBar") || widget->inherits("ScrollButton")) return false;
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QLabel*>(widget) ||
           qobject_cast<const ElidedLabel*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
           qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
           qobject_cast<const QAbstractItemView*>(widget);
  }

  static bool takesInput(const QWidget* widget) {
    return !qobject_cast<const QLabel*>(widget) && !qobject_cast<const ElidedLabel*>(widget);
  }

  static QString textOf(const QWidget* widget) {
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) return button->text();
    if (const auto* label = qobject_cast<const QLabel*>(widget)) return label->text();
    if (const auto* label = qobject_cast<const ElidedLabel*>(widget)) return label->text();
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) return box->currentText();
    if (const auto* line = qobject_cast<const QLineEdit*>(widget)) return line->text();
    return {};
  }

  // Scrolling brings a widget into view whose ancestors end in the content of a scroll area.
  static bool scrolls(const QWidget* parent, const QWidget* child) {
    const auto* area = qobject_cast<const QScrollArea*>(parent->parentWidget());
    return area && area->viewport() == parent && area->widget() == child;
  }

  void checkPlace(const QWidget* widget) {
    const QWidget* child = widget;
    for (QWidget* parent = child->parentWidget(); parent; child = parent, parent = parent->parentWidget()) {
      if (child == window_) return;
      if (scrolls(parent, child)) {
        if (parent->width() < 24 || parent->height() < 24)
          complain(widget, "is in a scroll area without room");
        child = parent->parentWidget();
        parent = child->parentWidget();
        if (child == window_ || !parent) return;
      }
      if (!parent->rect().contains(child->geometry())) {
        complain(widget, QStringLiteral("is cut off by %1").arg(nameOf(parent)));
        return;
      }
    }
  }

  void checkText(const QWidget* widget) {
    if (!widget->toolTip().isEmpty() || textOf(widget).isEmpty()) return;
    if (qobject_cast<const QLineEdit*>(widget) || qobject_cast<const ElidedLabel*>(widget)) return;
    const auto* label = qobject_cast<const QLabel*>(widget);
    const bool wraps = label && label->wordWrap();
    const QSize needed = wraps ? QSize(0, label->heightForWidth(label->width())) : widget->sizeHint();
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
      QStyleOptionComboBox option;
      option.initFrom(box);
      const int room = box->style()
                           ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box)
                           .width();
      if (box->fontMetrics().horizontalAdvance(box->currentText()) > room + 1)
        complain(widget, "cuts its text");
      return;
    }
    if (needed.width() > widget->width() + 1 || needed.height() > widget->height() + 1)
      complain(widget, QStringLiteral("cuts its text: needs %1x%2, has %3x%4")
                           .arg(needed.width())
                           .arg(needed.height())
                           .arg(widget->width())
                           .arg(widget->height()));
  }

  void checkName(QWidget* widget) {
    if (!takesInput(widget) || widget->focusProxy()) return;
    if (qobject_cast<QLineEdit*>(widget) && qobject_cast<QAbstractSpinBox*>(widget->parentWidget())) return;
    const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(widget);
    if (!accessible || accessible->text(QAccessible::Name).trimmed().isEmpty())
      complain(widget, "has no name");
  }

  QRect visiblePart(const QWidget* widget) const {
    QRect rect = widget->rect();
    for (const QWidget* at = widget; at != window_; at = at->parentWidget())
      rect = rect.translated(at->pos()) & at->parentWidget()->rect();
    return rect;
  }

  // The contrast of the most different colour with some area against the most frequent one.
  static double strongest(const QImage& image) {
    QMap<QRgb, int> counts;
    for (int y = 0; y < image.height(); ++y) {
      const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
      for (int x = 0; x < image.width(); ++x) ++counts[line[x]];
    }
    QRgb ground = 0;
    int most = 0;
    for (auto it = counts.begin(); it != counts.end(); ++it)
      if (it.value() > most) {
        most = it.value();
        ground = it.key();
      }
    double best = 0;
    for (auto it = counts.begin(); it != counts.end(); ++it)
      if (it.value() >= 9) best = std::max(best, contrast(QColor(it.key()), QColor(ground)));
    return best;
  }

  static QString nameOf(const QWidget* widget) {
    return QStringLiteral("%1 %2").arg(QLatin1String(widget->metaObject()->className()),
                                       widget->objectName());
  }

  void complain(const QWidget* widget, const QString& what) {
    complaints_ << QStringLiteral("%1 \"%2\" in %3 %4")
                       .arg(nameOf(widget), textOf(widget).left(40),
                            widget->parentWidget() ? nameOf(widget->parentWidget()) : QString(), what);
  }

  QWidget* window_;
  QVector<QWidget*> controls_;
  QStringList complaints_;
};

}  // namespace shardscape::ui
