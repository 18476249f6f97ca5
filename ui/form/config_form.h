// The left panel: every knob of the table in groups, with a filter on top.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/design.h"
#include "ui/form/knob_row.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;

namespace shardscape::ui {

class KnobGroupBox;
class DifferencesBox;
class Session;

class ConfigForm : public QWidget {
  Q_OBJECT
 public:
  explicit ConfigForm(Session* session, QWidget* parent = nullptr);
  void focusFilter();
  void focusKnob(const QString& id);  // shows it first where the filter hides it
  KnobRow* row(const QString& id) const;
  DifferencesBox* differences() const { return differences_; }

 Q_SIGNALS:
  void machineRequested();  // where the values of the cluster come from

 private:
  QWidget* makeContent();  // differences, groups of knobs
  void applyFilter(const QString& text);
  void refresh();
  QVector<KnobRow::Other> othersOf(const Knob& knob) const;
  Session* session_;
  QLineEdit* filter_;
  QPushButton* mentions_ = nullptr;  // fields that the filter finds in their help texts only
  bool mentioned_shown_ = false;
  QLabel* nothing_;
  QScrollArea* scroll_;
  QVector<KnobGroupBox*> groups_;
  DifferencesBox* differences_;
};

// What fields are compared with: the model as its preset has it, everything else as the program starts.
Design baselineDesign(const Design& design);

}  // namespace shardscape::ui
