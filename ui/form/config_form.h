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
  void focusKnob(const QString& id);  // clears the filter if it hides the knob
  KnobRow* row(const QString& id) const;
  DifferencesBox* differences() const { return differences_; }

 Q_SIGNALS:
  void architectureRequested();  // edit the layers of the model
  void machineRequested();       // show the sources of the cluster's values

 private:
  QWidget* makeContent();  // differences, groups of knobs
  void applyFilter(const QString& text);
  void refresh();
  QVector<KnobRow::Other> othersOf(const Knob& knob) const;
  Session* session_;
  QLineEdit* filter_;
  QPushButton* mentions_ = nullptr;  // shows fields whose help text alone matches the filter
  bool mentioned_shown_ = false;
  QLabel* no_match_;
  QScrollArea* scroll_;
  QVector<KnobGroupBox*> groups_;
  DifferencesBox* differences_;
};

// The values that need no mark in the form: the model of the preset, and defaults for all other knobs.
Design baselineDesign(const Design& design);

}  // namespace shardscape::ui
