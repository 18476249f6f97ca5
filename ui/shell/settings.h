// Everything the program remembers between runs: the only place that reads or writes settings.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QWidget>

#include "base/units.h"
#include "ui/toolkit/theme_choice.h"

namespace shardscape::ui::settings {

ThemeChoice themeChoice();  // at first as the desktop
void setThemeChoice(ThemeChoice choice);

UnitSystem units();
void setUnits(UnitSystem units);

// Folders that file dialogs open in; the home folder at first.
QString designFolder();
void setDesignFolder(const QString& folder);
QString exportFolder();
void setExportFolder(const QString& folder);
bool exportTensors();
void setExportTensors(bool on);
bool exportDurations();
void setExportDurations(bool on);
bool exportFlatNetwork();
void setExportFlatNetwork(bool on);
// Whether a model that is picked brings its published layout.
bool publishedLayouts();
void setPublishedLayouts(bool on);

// Files of designs, the last opened or saved first, at most ten.
QStringList recentFiles();
void addRecentFile(const QString& path);
void clearRecentFiles();
// Whether a start without --design opens the document of the last window.
bool reopensLast();
void setReopensLast(bool on);
QString lastDocument();  // empty: the last window showed a design that was never saved
void setLastDocument(const QString& path);
// The document that a start opens. It stays where the program ends meanwhile, for want of memory for example.
QString openingDocument();
void setOpeningDocument(const QString& path);
QString lastView();  // its name; empty before the first run
void setLastView(const QString& name);

int graphFlow();  // how stages follow each other in the graph: a FlowChoice
void setGraphFlow(int choice);

// Whether the examples were shown at a first start.
bool welcomed();
void setWelcomed(bool on);

// Window geometry and splitter positions, empty before the first run.
QByteArray windowGeometry();
void setWindowGeometry(const QByteArray& geometry);
QByteArray splitterState();
void setSplitterState(const QByteArray& state);
bool formVisible();
void setFormVisible(bool visible);
bool inspectorVisible();
void setInspectorVisible(bool visible);
QByteArray helpGeometry();  // of the documentation's window
void setHelpGeometry(const QByteArray& geometry);
QByteArray helpSplitterState();
void setHelpSplitterState(const QByteArray& state);
// The dividers of pages (PageSplitter) inside this widget, each by its name.
void rememberPages(const QWidget* window);
void restorePages(const QWidget* window);  // those without a memory go to their defaults
// Geometry, splitters and panels go back to their defaults.
void forgetLayout(const QWidget* window = nullptr);

}  // namespace shardscape::ui::settings
