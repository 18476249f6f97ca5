// The line on top of the window: does the design fit, how long is a step, and how much of the step is lost.
#pragma once

#include <QVector>
#include <QWidget>

class QHBoxLayout;
class QLabel;

namespace shardscape {
struct Report;
struct Simulation;
}  // namespace shardscape

namespace shardscape::ui {

class ElidedLabel;
class Session;
class Staleness;
class VerdictCell;

class VerdictStrip : public QWidget {
  Q_OBJECT
 public:
  explicit VerdictStrip(Session* session, QWidget* parent = nullptr);
  QString verdict() const;  // "Fits"
  QString text() const;     // all figures, for the clipboard

 Q_SIGNALS:
  void problemsRequested();

 protected:
  void mousePressEvent(QMouseEvent* event) override;

 private:
  void refresh();
  void showMemory();
  void showTime();
  void showInference(const Report& report, const Simulation& simulation);
  void addCosts(const Report& report, const Simulation& simulation);
  void showVerdict(const QString& icon, const QColor& color, const QString& text);
  Session* session_;
  QLabel* icon_;
  ElidedLabel* verdict_;
  VerdictCell *memory_, *step_, *mfu_, *tokens_, *bubble_, *exposed_;
  QWidget* figures_;
  Staleness* staleness_;
};

}  // namespace shardscape::ui
