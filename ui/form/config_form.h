// The left panel: what people say first (GPUs, accelerator, lengths, batch), then every other knob of the
// table in groups, with a filter on top.
#pragma once

#include <QTimer>
#include <QVector>
#include <QWidget>
#include <map>

#include "design/design.h"
#include "ui/form/knob_row.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;

namespace shardscape::ui {

class GpusRow;
class KnobGroupBox;
class DifferencesBox;
class Session;

class ConfigForm : public QWidget {
  Q_OBJECT
 public:
  explicit ConfigForm(Session* session, QWidget* parent = nullptr);
  void focusFilter();
  void focusKnob(const QString& id);  // or kGpusField; clears the filter if it hides the field
  void focusGpus();
  void setGpus(const QString& number);  // dp follows, or the field says what is wrong
  KnobRow* row(const QString& id) const;
  DifferencesBox* differences() const { return differences_; }
  GpusRow* gpus() const { return gpus_; }
  KnobGroupBox* groupOf(const QString& id) const;  // of a knob

 Q_SIGNALS:
  void architectureRequested();  // edit the layers of the model
  void machineRequested();       // show the sources of the cluster's values

 private:
  QWidget* makeContent();  // differences, groups of knobs
  KnobGroupBox* addGroup(const QString& name, const QVector<const Knob*>& knobs, bool headings,
                         QWidget* content);
  void addTableGroup(KnobGroup group, QWidget* content);
  void orderTabStops();
  void applyFilter(const QString& text);
  void refresh();
  QVector<KnobRow::Other> othersOf(const Knob& knob) const;
  Session* session_;
  QLineEdit* filter_;
  QPushButton* mentions_ = nullptr;  // shows fields whose help text alone matches the filter
  bool mentioned_shown_ = false;
  QTimer tab_stops_due_;
  QPushButton* edit_architecture_ = nullptr;  // for filters that mean the layers of the model
  QLabel* no_match_;
  QScrollArea* scroll_;
  GpusRow* gpus_ = nullptr;
  QVector<KnobGroupBox*> groups_;
  std::map<KnobGroup, KnobGroupBox*> of_table_;  // the groups of the knob table
  DifferencesBox* differences_;
};

// The values that need no mark in the form: the model of the preset, and defaults for all other knobs.
Design baselineDesign(const Design& design);

}  // namespace shardscape::ui
