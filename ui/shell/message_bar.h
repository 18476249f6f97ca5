// A message for errors outside the form (an unreadable file) and for automatic changes of the design. The
// next success or edit hides it, or its button does. It lies over the lower end of its parent, so that
// nothing moves when it appears.
#pragma once

#include <QFrame>
#include <QList>

class QAction;
class QLabel;
class QPushButton;

namespace shardscape::ui {

class MessageBar : public QFrame {
  Q_OBJECT
 public:
  explicit MessageBar(QWidget* parent);
  void show(const QString& text);
  void note(const QString& text, QAction* action,
            const QString& words = tr("Undo"));  // shown until the next edit; words: the button's text
  void endNote();
  // Shows why a job of one of these objects, or of a part of them, ended without a result.
  void followJobs(const QList<const QObject*>& owners);
  QString text() const;
  QPushButton* button() const { return button_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();
  QLabel* text_;
  QPushButton* button_;
  QAction* action_ = nullptr;
};

}  // namespace shardscape::ui
