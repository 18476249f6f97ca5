// File > Open recent: the files of designs that were opened or saved last. Missing files are greyed.
#pragma once

#include <QMenu>

namespace shardscape::ui {

class RecentMenu : public QMenu {
  Q_OBJECT
 public:
  explicit RecentMenu(QWidget* parent);

 Q_SIGNALS:
  void fileRequested(const QString& path);

 private:
  void fill();
};

}  // namespace shardscape::ui
