// The line on top of the window: does the design fit, how long is a step, and how much of the step is lost.
#pragma once

#include <QVector>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace shardscape {
struct Report;
struct Simulation;
}  // namespace shardscape

namespace shardscape::ui {

class ElidedLabel;
class LayoutFinder;
class LayoutPopup;
class Session;
class Staleness;
class VerdictCell;

class VerdictStrip : public QWidget {
  Q_OBJECT
 public:
  explicit VerdictStrip(Session* session, QWidget* parent = nullptr);
  QString verdict() const;  // "Fits"
  QString text() const;     // all figures, for the clipboard
  void findLayout();        // opens the list of layouts
  LayoutFinder* finder() const { return finder_; }
  LayoutPopup* layouts() const { return layouts_; }
  QPushButton* layoutButton() const { return find_; }
  QPushButton* fieldButton() const { return field_; }  // visible while a field has a rejected text
  QString distance() const;                            // from the best layout found; empty if unknown

 Q_SIGNALS:
  void problemsRequested();
  void fieldRequested(const QString& id);  // the field with the rejected text

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  QWidget* makeLayoutPart();
  void showRejected(bool shown);
  void showDistance();
  void showMemory();
  void showTime();
  void showInference(const Report& report, const Simulation& simulation);
  void showCost(const Report& report, const Simulation& simulation);
  QString costSources(const Report& report) const;
  void fitFigures();  // hides the last figures where the others have no room next to them
  void showVerdict(const QString& icon, const QColor& color, const QString& text);
  Session* session_;
  QLabel* icon_;
  ElidedLabel* verdict_;
  VerdictCell *memory_, *step_, *mfu_, *tokens_, *bubble_, *exposed_, *cost_;
  QWidget* figures_;
  LayoutFinder* finder_;
  QPushButton *field_, *find_;
  ElidedLabel* distance_;
  LayoutPopup* layouts_;
  Staleness* staleness_;
};

}  // namespace shardscape::ui
