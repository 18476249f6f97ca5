// Every action of the window. makeActions() creates them, the main window connects them; menus, top bar,
// palette and shortcut sheet show them.
#pragma once

#include <QAction>
#include <QStringList>
#include <QVector>
#include <iterator>

class QMainWindow;
class QMenuBar;
class QUndoStack;

namespace shardscape::ui {

// The views, in the order of their tabs.
inline constexpr const char* kViewNames[] = {"Graph",    "Memory",  "Compute",     "Communication",
                                             "Timeline", "Explore", "Architecture"};
inline const QStringList& viewNames() {
  static const QStringList names(std::begin(kViewNames), std::end(kViewNames));
  return names;
}

// The data of an action is its name outside of its menu, if that is another one.
struct Actions {
  QAction *new_design, *new_window, *open, *open_recent, *import_file, *paste_launch, *open_run, *save,
      *save_as, *export_bundle, *export_trace, *save_picture, *report, *quit;
  QAction *undo, *redo, *copy, *copy_command, *copy_json, *copy_launch, *find_layout;
  QAction *pin, *compare_file, *side_by_side, *unpin;
  QVector<QAction*> views;  // in the order of viewNames()
  QAction *light, *dark, *system, *find, *filter, *zoom_in, *zoom_out, *fit;
  QAction *next_pane, *previous_pane, *form, *inspector, *problems, *machine, *reset_layout;
  QAction *palette, *documentation, *examples, *tour, *shortcuts, *about;

  struct Group {
    QString name;  // "File"
    QVector<QAction*> actions;
  };
  QVector<Group> groups() const;  // in the order of the menus
};

Actions makeActions(QMainWindow* window, QUndoStack* undo);
void fillMenuBar(QMenuBar* bar, const Actions& actions);
void connectThemes(const Actions& actions);  // they choose the theme and remember the choice

}  // namespace shardscape::ui
