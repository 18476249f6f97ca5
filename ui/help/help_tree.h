// The list next to a page: all pages with their sections, or the pages and lines where words were found.
#pragma once

#include <QTreeWidget>

#include "ui/help/help_library.h"

namespace shardscape::ui {

class HelpTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit HelpTree(HelpLibrary* library, QWidget* parent = nullptr);
  void showContents();
  void showMatches(const QVector<HelpMatch>& matches, const QStringList& words);
  void selectPage(int page);  // in the contents; also unfolds its sections
  void selectMatch(int match);

 Q_SIGNALS:
  void chosen(int page, int position);

 private:
  QTreeWidgetItem* addPage(int page, const QString& text);
  QTreeWidgetItem* addPlace(QTreeWidgetItem* page, const HelpPlace& place, const QString& text);
  void choose(QTreeWidgetItem* item);
  HelpLibrary* library_;
  QVector<QTreeWidgetItem*> matches_;
};

}  // namespace shardscape::ui
