// One amber line under a field: the problem, the accepted values, and a button that applies the fix.
#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QPushButton;

namespace shardscape::ui {

class IssueLine : public QFrame {
  Q_OBJECT
 public:
  explicit IssueLine(QWidget* parent);
  // An empty label means no button.
  void show(const QString& what, const QString& accepted, const QString& fix_label,
            std::function<void()> fix);
  QString text() const;
  QPushButton* fixButton() const { return fix_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitFix();
  QLabel* text_;
  QPushButton* fix_;
  QString fix_label_;
  std::function<void()> apply_fix_;
};

}  // namespace shardscape::ui
