// The examples as cards: at the first start, and from the Help menu.
#pragma once

#include <QDialog>
#include <QVector>

class QPushButton;

namespace shardscape::ui {

class ExamplesDialog : public QDialog {
  Q_OBJECT
 public:
  // welcomes: at the first start, with a sentence about the program.
  explicit ExamplesDialog(bool welcomes, QWidget* parent);
  const QVector<QPushButton*>& cards() const { return cards_; }

 Q_SIGNALS:
  void chosen(const QString& path);  // a document to open
  void failed(const QString& message);

 private:
  QVector<QPushButton*> cards_;
};

}  // namespace shardscape::ui
