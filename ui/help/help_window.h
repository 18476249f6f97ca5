// The documentation in a window of its own: pages, sections, search, links, back and forward.
#pragma once

#include <QStringList>
#include <QWidget>

#include "ui/help/help_library.h"

class QLabel;
class QSplitter;
class QToolButton;

namespace shardscape::ui {

class HelpBrowser;
class HelpTree;
class SearchField;

class HelpWindow : public QWidget {
  Q_OBJECT
 public:
  explicit HelpWindow(QWidget* parent = nullptr);
  ~HelpWindow() override;
  // link: "models/memory.md#advice". Empty: the current page, or the guide on the first call.
  void open(const QString& link = {});
  QString shown() const;  // "models/memory"
  HelpBrowser* browser() const { return browser_; }
  HelpTree* tree() const { return tree_; }
  SearchField* searchField() const { return search_; }
  QToolButton* backButton() const { return back_; }
  QToolButton* forwardButton() const { return forward_; }
  QByteArray splitterState() const;
  void restoreSplitter(const QByteArray& state);

 Q_SIGNALS:
  void closed();

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  QWidget* makeSide();
  void addShortcuts();
  void follow(const QUrl& link);
  void visit(const HelpPlace& place);   // also stores the previous place for Back
  void lookAt(const HelpPlace& place);  // as visit(), but does nothing if the page is already shown
  void show(const HelpPlace& place);
  void step(int by);  // through the visited places
  void search();
  void restyle();
  HelpLibrary library_;
  HelpBrowser* browser_;
  HelpTree* tree_;
  SearchField* search_;
  QToolButton *back_, *forward_;
  QLabel* target_;  // shows the target of the link under the pointer
  QSplitter* columns_;
  QVector<HelpPlace> visited_;
  int at_ = -1;  // in visited_
  QVector<HelpMatch> matches_;
};

}  // namespace shardscape::ui
