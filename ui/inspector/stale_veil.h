// Covers a panel with a translucent veil while its text belongs to an earlier design. The text stays readable
// and can be selected.
#pragma once

#include <QWidget>

namespace shardscape::ui {

class Session;
class Staleness;

class StaleVeil : public QWidget {
  Q_OBJECT
 public:
  StaleVeil(Session* session, QWidget* covered);  // follows its size

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void follow();
  Session* session_;
  Staleness* staleness_;
};

}  // namespace shardscape::ui
