#include "ui/shell/settings.h"

#include <QDir>
#include <QSettings>
#include <algorithm>

#include "ui/toolkit/page_splitter.h"

namespace shardscape::ui::settings {
namespace {

QSettings store() {
  return QSettings(QSettings::IniFormat, QSettings::UserScope, "shardscape", "shardscape");
}

QVariant read(const char* key, const QVariant& otherwise = {}) {
  return store().value(QLatin1String(key), otherwise);
}

void write(const char* key, const QVariant& value) { store().setValue(QLatin1String(key), value); }

QString folder(const char* key) {
  const QString path = read(key).toString();
  return !path.isEmpty() && QDir(path).exists() ? path : QDir::homePath();
}

constexpr char kGeometry[] = "window/geometry", kSplitter[] = "window/splitter", kForm[] = "window/form",
               kInspector[] = "window/inspector", kHelp[] = "help/geometry",
               kHelpSplitter[] = "help/splitter", kPages[] = "pages", kRecent[] = "files/recent";
constexpr int kMostRecent = 10;

QString pageKey(const PageSplitter& page) {
  return QLatin1String(kPages) + QLatin1Char('/') + page.objectName();
}

}  // namespace

ThemeChoice themeChoice() {
  const QString name = read("theme").toString();
  return name == "dark" ? ThemeChoice::Dark : name == "light" ? ThemeChoice::Light : ThemeChoice::System;
}
void setThemeChoice(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::Light: return write("theme", "light");
    case ThemeChoice::Dark: return write("theme", "dark");
    case ThemeChoice::System: return write("theme", "system");
  }
}

UnitSystem units() {
  return read("units").toString() == "decimal" ? UnitSystem::Decimal : UnitSystem::Binary;
}
void setUnits(UnitSystem units) { write("units", units == UnitSystem::Decimal ? "decimal" : "binary"); }

QString designFolder() { return folder("folders/designs"); }
void setDesignFolder(const QString& path) { write("folders/designs", path); }
QString exportFolder() { return folder("folders/bundles"); }
void setExportFolder(const QString& path) { write("folders/bundles", path); }
bool exportTensors() { return read("export/tensors", false).toBool(); }
void setExportTensors(bool on) { write("export/tensors", on); }
bool exportDurations() { return read("export/durations", false).toBool(); }
void setExportDurations(bool on) { write("export/durations", on); }
bool exportFlatNetwork() { return read("export/flat_network", false).toBool(); }
void setExportFlatNetwork(bool on) { write("export/flat_network", on); }
bool publishedLayouts() { return read("models/published_layouts", true).toBool(); }
void setPublishedLayouts(bool on) { write("models/published_layouts", on); }

QStringList recentFiles() { return read(kRecent).toStringList(); }
void addRecentFile(const QString& path) {
  QStringList files = recentFiles();
  files.removeAll(path);
  files.prepend(path);
  write(kRecent, files.mid(0, kMostRecent));
}
void clearRecentFiles() { write(kRecent, QStringList()); }
bool reopensLast() { return read("files/reopen_last", true).toBool(); }
void setReopensLast(bool on) { write("files/reopen_last", on); }
QString lastDocument() { return read("files/last").toString(); }
void setLastDocument(const QString& path) { write("files/last", path); }
QString openingDocument() { return read("files/opening").toString(); }
void setOpeningDocument(const QString& path) { write("files/opening", path); }
QString lastView() { return read("window/view").toString(); }
void setLastView(const QString& name) { write("window/view", name); }

int graphFlow() { return std::clamp(read("graph/flow", 0).toInt(), 0, 2); }
void setGraphFlow(int choice) { write("graph/flow", choice); }

bool welcomed() { return read("welcomed", false).toBool(); }
void setWelcomed(bool on) { write("welcomed", on); }

QByteArray windowGeometry() { return read(kGeometry).toByteArray(); }
void setWindowGeometry(const QByteArray& geometry) { write(kGeometry, geometry); }
QByteArray splitterState() { return read(kSplitter).toByteArray(); }
void setSplitterState(const QByteArray& state) { write(kSplitter, state); }
bool formVisible() { return read(kForm, true).toBool(); }
void setFormVisible(bool visible) { write(kForm, visible); }
bool inspectorVisible() { return read(kInspector, true).toBool(); }
void setInspectorVisible(bool visible) { write(kInspector, visible); }

QByteArray helpGeometry() { return read(kHelp).toByteArray(); }
void setHelpGeometry(const QByteArray& geometry) { write(kHelp, geometry); }
QByteArray helpSplitterState() { return read(kHelpSplitter).toByteArray(); }
void setHelpSplitterState(const QByteArray& state) { write(kHelpSplitter, state); }

void rememberPages(const QWidget* window) {
  for (const PageSplitter* page : window->findChildren<PageSplitter*>())
    store().setValue(pageKey(*page), page->remembered());
}
void restorePages(const QWidget* window) {
  for (PageSplitter* page : window->findChildren<PageSplitter*>())
    page->restore(store().value(pageKey(*page)).toByteArray());
}

void forgetLayout(const QWidget* window) {
  QSettings settings = store();
  settings.remove(QLatin1String(kPages));
  for (const char* key : {kGeometry, kSplitter, kForm, kInspector, kHelp, kHelpSplitter})
    settings.remove(QLatin1String(key));
  if (window) restorePages(window);
}

}  // namespace shardscape::ui::settings
