#include "ui/shell/actions.h"

#include <QActionGroup>
#include <QMainWindow>
#include <QMenuBar>
#include <QUndoStack>

#include "ui/shell/recent_menu.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/theme_choice.h"

namespace shardscape::ui {

Actions makeActions(QMainWindow* window, QUndoStack* undo) {
  const auto make = [window](const QString& text, const QKeySequence& keys = {}, bool checkable = false) {
    auto* action = new QAction(text, window);
    action->setShortcut(keys);
    action->setCheckable(checkable);
    window->addAction(action);  // the shortcut works even if no menu shows the action
    return action;
  };
  const auto tr = [](const char* text) { return QMainWindow::tr(text); };
  Actions a{};
  a.new_design = make(tr("&New design"), QKeySequence::New);
  a.new_window = make(tr("New &window"), QKeySequence("Ctrl+Shift+N"));
  a.open = make(tr("&Open design..."), QKeySequence::Open);
  a.open_recent = (new RecentMenu(window))->menuAction();
  a.import_file = make(tr("&Import a model or launch..."), QKeySequence("Ctrl+I"));
  // Ctrl+V outside of fields pastes too (MainWindow::keyPressEvent()).
  a.paste_launch = make(tr("Import from the clip&board"), QKeySequence("Ctrl+Shift+V"));
  a.open_run = make(tr("Open a t&race or profile..."), QKeySequence("Ctrl+Shift+O"));
  a.open_run->setToolTip(tr("Chakra traces, a bundle, or profiles of the PyTorch profiler"));
  a.save = make(tr("&Save design"), QKeySequence::Save);
  a.save_as = make(tr("Save design &as..."), QKeySequence("Ctrl+Shift+S"));
  a.export_bundle = make(tr("&Export bundle..."),
                         QKeySequence("Ctrl+B"));  // Ctrl+E is "end of line" in fields on X11
  a.export_trace = make(tr("Export &timeline for Perfetto..."), QKeySequence("Ctrl+Shift+T"));
  a.save_picture = make(tr("Export view as &picture..."), QKeySequence("Ctrl+Shift+P"));
  a.report = make(tr("&Report..."), QKeySequence("Ctrl+R"));
  a.quit = make(tr("&Quit"), QKeySequence("Ctrl+Q"));
  a.quit->setMenuRole(QAction::QuitRole);

  a.undo = undo->createUndoAction(window, tr("&Undo"));
  a.undo->setShortcut(QKeySequence("Ctrl+Z"));
  a.redo = undo->createRedoAction(window, tr("&Redo"));
  a.redo->setShortcuts({QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")});
  window->addActions({a.undo, a.redo});
  setThemedIcon(a.undo, "undo");
  setThemedIcon(a.redo, "redo");
  // Without a shortcut: the focused widget handles Ctrl+C. The window gets the key only if that widget
  // ignores it.
  a.copy = make(tr("&Copy") + "\tCtrl+C");

  a.copy_command = make(tr("Copy as command &line"));
  a.copy_json = make(tr("Copy &design as JSON"));
  a.copy_launch = make(tr("Copy &as a launch..."), QKeySequence("Ctrl+Shift+X"));
  a.find_layout = make(tr("Find a &layout..."), QKeySequence("Ctrl+Shift+L"));

  a.pin = make(tr("Pin the &current design"), QKeySequence("Ctrl+D"));
  a.compare_file = make(tr("Compare with a &file..."), QKeySequence("Ctrl+Shift+D"));
  a.side_by_side = make(tr("&Side by side"), QKeySequence("Ctrl+Shift+C"));
  a.unpin = make(tr("&Unpin all"));

  for (int i = 0; i < viewNames().size(); ++i) {
    a.views << make(viewNames()[i], QKeySequence(QString("Ctrl+%1").arg(i + 1)), true);
  }
  a.light = make(tr("&Light"), {}, true);
  a.dark = make(tr("&Dark"), {}, true);
  a.system = make(tr("&System"), {}, true);
  a.light->setData(tr("Light theme"));
  a.dark->setData(tr("Dark theme"));
  a.system->setData(tr("System theme"));
  a.system->setToolTip(tr("Light or dark, as the desktop"));
  for (const QVector<QAction*>& choice : {a.views, QVector<QAction*>{a.light, a.dark, a.system}}) {
    auto* group = new QActionGroup(window);
    for (QAction* action : choice) group->addAction(action);
  }
  a.find = make(tr("&Find in the view"), QKeySequence::Find);
  a.filter = make(tr("F&ilter fields"), QKeySequence("Ctrl+L"));
  a.zoom_in = make(tr("Zoom &in"), QKeySequence("Ctrl++"));
  a.zoom_in->setShortcuts({QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")});
  a.zoom_out = make(tr("Zoom &out"), QKeySequence("Ctrl+-"));
  a.fit = make(tr("&Fit the view"), QKeySequence("Ctrl+0"));
  a.form = make(tr("&Configuration"), QKeySequence("Shift+F7"), true);
  a.next_pane = make(tr("Go to the &next pane"), QKeySequence("F6"));
  a.previous_pane = make(tr("Go to the pre&vious pane"), QKeySequence("Shift+F6"));
  a.inspector = make(tr("&Inspector"), QKeySequence("F7"), true);
  a.problems = make(tr("&Problems"), QKeySequence("F8"), true);
  a.machine = make(tr("&Machine and its sources..."), QKeySequence("F9"));
  a.reset_layout = make(tr("&Reset layout"));

  a.palette = make(tr("Find a &command"), QKeySequence("Ctrl+K"));
  a.documentation = make(tr("&Documentation"), QKeySequence("F1"));
  a.examples = make(tr("&Examples..."));
  a.tour = make(tr("&Tour of the window"));
  a.shortcuts = make(tr("&Keyboard shortcuts"), QKeySequence("Ctrl+F1"));
  a.about = make(tr("&About Shardscape"));
  a.about->setMenuRole(QAction::AboutRole);
  return a;
}

QVector<Actions::Group> Actions::groups() const {
  const auto tr = [](const char* text) { return QMainWindow::tr(text); };
  QVector<QAction*> view = views;
  view << light << dark << system << find << filter << zoom_in << zoom_out << fit << next_pane
       << previous_pane << form << inspector << problems << machine << reset_layout;
  return {{tr("File"),
           {new_design, new_window, open, open_recent, import_file, paste_launch, open_run, save, save_as,
            export_bundle, export_trace, save_picture, report, quit}},
          {tr("Edit"), {undo, redo, copy, copy_command, copy_json, copy_launch, find_layout}},
          {tr("View"), view},
          {tr("Compare"), {pin, compare_file, side_by_side, unpin}},
          {tr("Help"), {documentation, examples, tour, palette, shortcuts, about}}};
}

void fillMenuBar(QMenuBar* bar, const Actions& a) {
  const QVector<QAction*> gaps{a.export_bundle, a.quit,         a.copy,     a.find_layout, a.side_by_side,
                               a.light,         a.find,         a.zoom_in,  a.next_pane,   a.form,
                               a.machine,       a.reset_layout, a.examples, a.palette,     a.about};
  for (const Actions::Group& group : a.groups()) {
    QMenu* menu = bar->addMenu("&" + group.name);
    QMenu* theme = nullptr;
    for (QAction* action : group.actions) {
      if (gaps.contains(action)) menu->addSeparator();
      if (action == a.light) theme = menu->addMenu(QMainWindow::tr("&Theme"));
      const bool of_theme = action == a.light || action == a.dark || action == a.system;
      (of_theme ? theme : menu)->addAction(action);
    }
  }
}

void connectThemes(const Actions& a) {
  ThemeChooser& chooser = ThemeChooser::instance();
  for (const auto& [action, choice] : {std::pair{a.light, ThemeChoice::Light},
                                       {a.dark, ThemeChoice::Dark},
                                       {a.system, ThemeChoice::System}}) {
    QObject::connect(action, &QAction::triggered, &chooser, [choice = choice] {
      settings::setThemeChoice(choice);
      ThemeChooser::instance().choose(choice);
    });
    const auto follow = [action = action, choice = choice] {
      action->setChecked(ThemeChooser::instance().choice() == choice);
    };
    QObject::connect(&chooser, &ThemeChooser::changed, action, follow);
    follow();
  }
}

}  // namespace shardscape::ui
