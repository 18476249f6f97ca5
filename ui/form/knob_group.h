// A named group of knob rows with its total.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/knobs/knobs.h"

class QHBoxLayout;
class QLabel;

namespace shardscape::ui {

class KnobRow;
class KnobSection;
class Session;

class KnobGroupBox : public QWidget {
  Q_OBJECT
 public:
  KnobGroupBox(KnobGroup group, Session* session, QWidget* parent);
  KnobGroup group() const { return group_; }
  const QVector<KnobRow*>& rows() const { return rows_; }
  void setTotal(const QString& total);
  // A link after the title. name: of the button.
  void addLink(const QString& name, const QString& text, const QString& tip);
  int filter(const QString& text,
             bool helps);     // returns the number of shown rows; helps: also search help texts
  void refresh();             // after the rows are refreshed
  void reveal(KnobRow* row);  // unfolds its section
  const QVector<KnobSection*>& sections() const { return sections_; }

 Q_SIGNALS:
  void linkActivated();

 private:
  KnobGroup group_;
  QHBoxLayout* header_;
  QLabel* total_;
  QVector<KnobRow*> rows_;
  QVector<KnobSection*> sections_;  // in the order in which the table first names them
};

}  // namespace shardscape::ui
