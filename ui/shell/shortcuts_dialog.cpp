#include "ui/shell/shortcuts_dialog.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>

#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

using Rows = QVector<QPair<QString, QString>>;  // keys, what they do

QWidget* section(const QString& title, const Rows& rows, QWidget* parent) {
  auto* box = new QWidget(parent);
  box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
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

// The actions of a group that have keys.
Rows rows_of(const Actions& actions, const Actions::Group& group) {
  Rows rows;
  for (const QAction* action : group.actions) {
    const QString keys = action == actions.copy ? QStringLiteral("Ctrl+C")
                                                : action->shortcut().toString(QKeySequence::NativeText);
    QString name = action->text().section('\t', 0, 0).remove('&').remove("...");
    if (action == actions.undo || action == actions.redo)
      name = name.section(' ', 0, 0);  // without the name of the undo step
    if (!keys.isEmpty()) rows.push_back({keys, name});
  }
  return rows;
}

Rows request_rows() {
  const auto tr = [](const char* text) { return ShortcutsDialog::tr(text); };
  return {{tr("Up, Down"), tr("Other requests")},
          {tr("Left, Right"), tr("Move the view, or to another step")},
          {"W  S  +  -", tr("Zoom in, out")},
          {tr("Enter, Space"), tr("Zoom to the request, open the step")},
          {"T", tr("The first step of the request")},
          {tr("F, 0"), tr("All requests")},
          {tr("Escape"), tr("Select nothing")}};
}

}  // namespace

ShortcutsDialog::ShortcutsDialog(const Actions& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keyboard shortcuts"));
  auto* columns = new QHBoxLayout((new ScrolledContent(this))->widget());
  columns->setContentsMargins(24, 20, 24, 24);
  columns->setSpacing(40);
  QVBoxLayout* column[3];
  for (QVBoxLayout*& one : column) {
    one = new QVBoxLayout;
    one->setSpacing(24);
    columns->addLayout(one, 1);
  }
  for (const Actions::Group& group : actions.groups())
    column[group.actions.contains(actions.find)]->addWidget(
        section(group.name, rows_of(actions, group), this));
  column[0]->addWidget(section(tr("In a field"),
                               {{tr("Up, Down"), tr("Step by one")},
                                {tr("Page Up, Page Down"), tr("Step by ten")},
                                {tr("Ctrl+Up, Ctrl+Down"), tr("Double, halve")},
                                {tr("Escape"), tr("Revert the typed text")}},
                               this));
  column[2]->addWidget(section(tr("In the graph"),
                               {{tr("Arrows"), tr("Go to a neighbour")},
                                {tr("Enter, Space"), tr("Unfold or fold")},
                                {"*", tr("Unfold everything inside")},
                                {"+  -", tr("Zoom")},
                                {tr("F, Home"), tr("Fit, start")},
                                {tr("N, Shift+N"), tr("Next, previous difference")},
                                {tr("Escape"), tr("Select nothing")}},
                               this));
  column[1]->addWidget(section(
      tr("In a chart"),
      {{tr("Left, Right"), tr("Previous, next stage")}, {tr("Up, Down"), tr("Part of the bar")}}, this));
  column[0]->addWidget(section(tr("Among designs"),
                               {{tr("Arrows"), tr("Next point in this direction")},
                                {tr("Home"), tr("The best design")},
                                {tr("Enter"), tr("Make it the current design")},
                                {"C", tr("Compare the selected designs")},
                                {tr("Ctrl+click"), tr("One more, or one less")},
                                {tr("Shift+drag"), tr("Select an area of points")},
                                {"+  -  0", tr("Zoom in, out, fit")},
                                {tr("Space, Shift+Arrows"), tr("In a filter: one value, several")},
                                {tr("Ctrl+Enter"), tr("Search, cancel")}},
                               this));
  column[2]->addWidget(section(tr("In the memory curve"),
                               {{tr("Left, Right"), tr("Previous, next action")},
                                {"M", tr("Peak of the memory")},
                                {tr("Enter"), tr("Show it in the timeline")},
                                {tr("Escape"), tr("Select nothing")}},
                               this));
  column[2]->addWidget(section(tr("In the timeline"),
                               {{tr("Left, Right"), tr("Along the stream, or its ops")},
                                {tr("Up, Down"), tr("Other stages")},
                                {tr("Page Up, Page Down"), tr("The same in another design")},
                                {tr("Shift+Up, Shift+Down"), tr("Other streams")},
                                {"W  S  +  -", tr("Zoom in, out")},
                                {"A  D", tr("Move the view")},
                                {tr("Enter, Space"), tr("Zoom to the box")},
                                {tr("F, 0"), tr("The whole step")},
                                {"R", tr("Totals of the box, or of what is visible")},
                                {tr("B; N, Shift+N"), tr("Set a bookmark; next, previous one")},
                                {tr("C, Shift+C"), tr("Fold the row, all rows")},
                                {tr("Alt+Up, Alt+Down"), tr("Move the row")},
                                {tr("Escape"), tr("Select nothing")}},
                               this));
  column[1]->addWidget(section(tr("In requests over time"), request_rows(), this));
  column[1]->addWidget(section(tr("In a sweep of serving"),
                               {{tr("Left, Right"), tr("Other batches")},
                                {tr("Up, Down"), tr("Other contexts")},
                                {tr("Enter"), tr("Make it the current design")}},
                               this));
  column[1]->addWidget(section(
      tr("In a search field"),
      {{tr("Enter, Shift+Enter"), tr("Next, previous match")}, {tr("Escape"), tr("Clear and leave")}}, this));
  column[1]->addWidget(section(tr("In the documentation"),
                               {{tr("Ctrl+F"), tr("Search all pages")},
                                {tr("F3, Shift+F3"), tr("Next, previous match on the page")},
                                {tr("Alt+Left, Alt+Right"), tr("Back, forward")},
                                {tr("Escape"), tr("End the search, close")}},
                               this));
  for (QVBoxLayout* one : column) one->addStretch();
}

}  // namespace shardscape::ui
