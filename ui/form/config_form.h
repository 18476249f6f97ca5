// The left panel: every knob of the table in groups, with a filter on top.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/design.h"

class QLabel;
class QLineEdit;
class QScrollArea;

namespace shardscape::ui {

class KnobGroupBox;
class KnobRow;
class Session;

class ConfigForm : public QWidget {
  Q_OBJECT
 public:
  explicit ConfigForm(Session* session, QWidget* parent = nullptr);
  void focusFilter();
  void focusKnob(const QString& id);  // shows it first where the filter hides it
  KnobRow* row(const QString& id) const;

 private:
  void applyFilter(const QString& text);
  void refresh();
  Session* session_;
  QLineEdit* filter_;
  QLabel* nothing_;
  QScrollArea* scroll_;
  QVector<KnobGroupBox*> groups_;
};

// What fields are compared with: the model as its preset has it, everything else as the program starts.
Design baselineDesign(const Design& design);

}  // namespace shardscape::ui
