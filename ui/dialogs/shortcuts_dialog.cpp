#include "ui/dialogs/shortcuts_dialog.h"

#include <QGridLayout>
#include <QLabel>

#include "ui/theme/theme.h"

namespace shardscape::ui {
namespace {

using Rows = QVector<QPair<QString, QString>>;  // keys, what they do

QWidget* section(const QString& title, const Rows& rows, QWidget* parent) {
  auto* box = new QWidget(parent);
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(20);
  grid->setVerticalSpacing(6);
  auto* heading = new QLabel(title, box);
  heading->setProperty("role", "heading");
  grid->addWidget(heading, 0, 0, 1, 2);
  int line = 1;
  for (const auto& [keys, text] : rows) {
    auto* what = new QLabel(text, box);
    auto* which = new QLabel(keys, box);
    which->setFont(Theme::instance().monoFont(12));
    which->setProperty("role", "secondary");
    grid->addWidget(what, line, 0);
    grid->addWidget(which, line++, 1, Qt::AlignRight);
  }
  grid->setColumnStretch(0, 1);
  grid->setRowStretch(line, 1);
  return box;
}

}  // namespace

ShortcutsDialog::ShortcutsDialog(const Actions& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keyboard shortcuts"));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(24, 20, 24, 24);
  grid->setHorizontalSpacing(48);
  grid->setVerticalSpacing(24);
  int cell = 0;
  const auto add = [&](const QString& title, const Rows& rows) {
    grid->addWidget(section(title, rows, this), cell / 2, cell % 2, Qt::AlignTop);
    ++cell;
  };
  for (const Actions::Group& group : actions.groups()) {
    Rows rows;
    for (const QAction* action : group.actions) {
      const QString keys = action == actions.copy ? QStringLiteral("Ctrl+C")
                                                  : action->shortcut().toString(QKeySequence::NativeText);
      if (!keys.isEmpty()) rows.push_back({keys, action->text().section('\t', 0, 0).remove('&').remove("...")});
    }
    add(group.name, rows);
  }
  add(tr("In a field"), {{tr("Up, Down"), tr("Step by one")},
                         {tr("Page Up, Page Down"), tr("Step by ten")},
                         {tr("Ctrl+Up, Ctrl+Down"), tr("Double, halve")},
                         {tr("Escape"), tr("Take back what was typed")},
                         {tr("Tab, Shift+Tab"), tr("Next field, field before")}});
}

}  // namespace shardscape::ui
