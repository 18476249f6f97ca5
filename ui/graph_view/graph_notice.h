// Says why the graph is not that of the present design, and offers the ways out.
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;

namespace shardscape::ui {

class Session;

class GraphNotice : public QFrame {
  Q_OBJECT
 public:
  GraphNotice(Session* session, QWidget* parent = nullptr);

 private:
  void refresh();
  Session* session_;
  QLabel* text_;
  QHBoxLayout* row_;
};

}  // namespace shardscape::ui
