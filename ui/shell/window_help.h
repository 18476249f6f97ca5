// Help of a window: the documentation of what has the focus, the examples, and the tour.
#pragma once

#include <QObject>
#include <QPointer>
#include <memory>

#include "ui/shell/help_topics.h"

class QTabWidget;
class QWidget;

namespace shardscape::ui {

class ExamplesDialog;
class HelpWindow;
class MainWindow;
class Tour;

class WindowHelp : public QObject {
  Q_OBJECT
 public:
  explicit WindowHelp(MainWindow* window);
  ~WindowHelp() override;
  HelpWindow* documentation() const { return help_.get(); }  // null until it is first opened
  ExamplesDialog* examples() const;                          // null while it is closed
  Tour* tour() const;                                        // null unless it runs
  void openFocused();                                        // F1
  void openView();                                           // the page of the current view
  void openLink(const QString& link);
  void openExamples(bool welcomes = false);
  void startTour();
  // The first start: the examples, then the tour. Nothing on later starts.
  void welcome();
  void addTo(QWidget* dialog, HelpTopic topic);  // F1 in the dialog
  void addButton(QTabWidget* tabs);              // at the right end of the tabs
  void close();                                  // the window closes

 private:
  HelpTopic shownTopic() const;
  QString focusedLink() const;
  MainWindow* window_;
  std::unique_ptr<HelpWindow> help_;  // not a child, so that the main window can be in front of it
  QPointer<ExamplesDialog> examples_;
  QPointer<Tour> tour_;
};

}  // namespace shardscape::ui
