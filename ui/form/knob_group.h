// A named group of knob rows with its total. Rows without effect fold into one line at the end.
#pragma once

#include <QVector>
#include <QWidget>

#include "design/knobs/knobs.h"

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace shardscape::ui {

class KnobRow;
class KnobSection;
class Session;

class KnobGroupBox : public QWidget {
  Q_OBJECT
 public:
  // name: "Model". knobs: in the order of the form. headings: the sections of the table have headings.
  KnobGroupBox(const QString& name, const QVector<const Knob*>& knobs, bool headings, Session* session,
               QWidget* parent);
  // The group folds to its heading while all its rows have the values of the preset.
  void setFoldable();
  bool folded() const { return folded_; }
  void insertOnTop(QWidget* widget);  // before the rows
  void hideIdleLine();                // rows without effect are hidden without a line
  QPushButton* idleLine() const { return idle_; }
  QPushButton* foldButton() const { return title_; }  // of a foldable group
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
  void showAll();
  Session* session_;
  QHBoxLayout* header_;
  QPushButton *title_, *idle_;
  QLabel *name_, *total_;
  QWidget* body_;
  QVBoxLayout* lines_;
  QVector<KnobRow*> rows_;
  QVector<KnobSection*> sections_;  // in the order in which the table first names them
  bool foldable_ = false, fold_ = false, folded_ = false, idle_line_ = true, idle_shown_ = false;
  bool filtered_ = false;
};

}  // namespace shardscape::ui
