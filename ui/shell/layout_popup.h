// The list that "Find a layout" opens: the layouts found for the present design, or what would make it fit.
// Up and Down go through the list, Enter applies, Escape closes.
#pragma once

#include <QFrame>
#include <QVector>

class QLabel;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace shardscape {
struct Design;
}

namespace shardscape::ui {

class LayoutFinder;
class Session;

class LayoutPopup : public QFrame {
  Q_OBJECT
 public:
  LayoutPopup(Session* session, LayoutFinder* finder, QWidget* owner);
  void open();  // below the owner, and starts the search
  const QVector<QPushButton*>& applyButtons() const { return apply_; }
  QString text() const;  // heading and summary

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Row {
    QString name, figures, reason, badge;
    bool fits = true;
    const Design* design = nullptr;
    QString undo_text;
  };
  void refresh();
  QString heading() const;
  QString summary() const;
  void addFound();
  void addHelp();
  void addSection(const QString& title);
  void addRow(const Row& row);
  void apply(const Design& design, const QString& undo_text);
  void move(int rows);
  void place();
  Session* session_;
  LayoutFinder* finder_;
  QWidget* owner_;
  QLabel *heading_, *summary_;
  QScrollArea* scroll_;
  QWidget* content_ = nullptr;
  QVBoxLayout* rows_ = nullptr;
  QVector<QPushButton*> apply_;
};

}  // namespace shardscape::ui
