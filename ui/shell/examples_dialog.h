// Ways to start: a model on a number of GPUs, or an example as a card. Opens at the first start, and from the
// Help menu.
#pragma once

#include <QDialog>
#include <QVector>

class QPushButton;

namespace shardscape::ui {

class Session;
class StartRow;

class ExamplesDialog : public QDialog {
  Q_OBJECT
 public:
  // welcomes: at the first start, with a sentence about the program.
  ExamplesDialog(Session* session, bool welcomes, QWidget* parent);
  StartRow* startRow() const { return start_; }
  const QVector<QPushButton*>& cards() const { return cards_; }

 Q_SIGNALS:
  void chosen(const QString& path);  // a document to open
  void layoutAsked();                // for the design of the session

 private:
  StartRow* start_;
  QVector<QPushButton*> cards_;
};

}  // namespace shardscape::ui
