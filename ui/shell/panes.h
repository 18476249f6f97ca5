// The panes of the window, in the order of F6. Each remembers which of its widgets had the keyboard last.
#pragma once

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QVector>

class QWidget;

namespace shardscape::ui {

class Panes : public QObject {
  Q_OBJECT
 public:
  Panes(const QVector<QWidget*>& panes, QObject* parent);
  // Gives the keyboard to the visible pane after, or before, the one that has it.
  void next(bool forward);
  // Gives the keyboard to the widget of `pane` that had it last, else to its content: the first widget that
  // takes keys and is no button or field, else the first that takes keys. pane: a pane or a part of one.
  void focus(QWidget* pane);

 private:
  QVector<QWidget*> panes_;
  QVector<QPointer<QWidget>> last_;  // widgets that had the keyboard, newest last
};

}  // namespace shardscape::ui
