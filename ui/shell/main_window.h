// The window: creates the parts and connects the actions. The parts implement their own behaviour.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>

#include "ui/selection/selection_state.h"
#include "ui/session/session.h"
#include "ui/shell/actions.h"

class QSplitter;
class QStackedWidget;
class QTabWidget;

namespace shardscape {
struct Recovery;
}

namespace shardscape::ui {

class ArchitectureView;
class Autosave;
class CommandPalette;
class ConfigForm;
class Document;
class PageSettings;
class ExploreView;
class ExportDialog;
class MachineDialog;
class ExportJob;
class FrameClock;
class GraphView;
class HelpWindow;
class Importer;
class InspectorPanel;
class MemoryView;
class MessageBar;
class PanelRoom;
class Panes;
class ProblemsPanel;
class RecoveryBar;
class ReportJob;
class StudyFile;
class StatusBar;
class TimelineView;
class TopBar;
class VerdictStrip;
class WindowHelp;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(Session* session, QWidget* parent = nullptr);
  ~MainWindow() override;
  Session* session() const { return session_; }
  const Actions& actions() const { return actions_; }
  SelectionState* selection() const { return state_; }
  ConfigForm* form() const { return form_; }
  InspectorPanel* inspector() const { return inspector_; }
  VerdictStrip* verdictStrip() const { return verdict_; }
  CommandPalette* palette() const { return palette_; }
  Document* document() const { return document_; }
  FrameClock* frameClock() const { return frame_clock_; }
  ExportDialog* exportDialog();
  ExportJob* exportJob() const { return job_; }
  ReportJob* reportJob() const { return report_; }
  ExploreView* explore() const { return explore_; }
  ArchitectureView* architecture() const { return architecture_; }
  QTabWidget* tabs() const { return tabs_; }
  MessageBar* messageBar() const { return message_; }
  ProblemsPanel* problemsPanel() const { return problems_; }
  HelpWindow* help() const;  // null until help is first opened
  WindowHelp* helper() const { return help_; }
  void openFile(const QString& path);  // Importer::openFile
  void showView(int index);            // and gives it the keyboard
  void showView(const QString& name);  // nothing for an unknown name
  // Opens another window of the program; without it the window has no "New window".
  void setWindowMaker(std::function<MainWindow*()> make);
  // Keeps the unsaved study in a file of the folder (Autosave).
  void keepUnsaved(const QString& folder);
  void offerUnsaved(const QString& folder);  // of windows that crashed
  void reopenLast();                         // the last document, if its file is there
  RecoveryBar* recoveryBar() const { return recovery_; }
  Autosave* autosave() const { return autosave_; }  // null without keepUnsaved()
  void writeReport(const QString& path);            // one page (report_job.h)
  void find();                                      // Ctrl+F: searches the view
  void restoreLayout();                             // restores the layout of the last run
  void resetLayout();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build();
  void wireFile();
  void wireView();
  void wireCompare();
  void placeSide();
  ArchitectureView* makeArchitecture();
  void wireHelp();
  void copy();
  void noteAdapted(const QString& model, const QStringList& changes, const QString& published);
  void wireImport();
  void compareFile();
  void saveView();
  void exportTrace();
  void askForReport();
  void showProblems(bool visible);
  void restoreStudy(const Recovery& recovery, const std::shared_ptr<StudyFile>& file);
  void updateTitle();
  void rememberLayout();
  Session* session_;
  SelectionState* state_;
  ExportJob* job_;
  ReportJob* report_;
  PageSettings* pages_;
  Document* document_;
  Actions actions_;
  TopBar* top_;
  MessageBar* message_;
  RecoveryBar* recovery_;
  Autosave* autosave_ = nullptr;
  std::function<MainWindow*()> make_window_;
  VerdictStrip* verdict_;
  ConfigForm* form_;
  InspectorPanel* inspector_;
  ProblemsPanel* problems_;
  FrameClock* frame_clock_;
  StatusBar* status_;
  QSplitter *columns_, *centre_;
  QTabWidget* tabs_;
  GraphView* graph_ = nullptr;
  MemoryView* memory_ = nullptr;
  TimelineView* timeline_ = nullptr;
  ExploreView* explore_ = nullptr;
  ArchitectureView* architecture_ = nullptr;
  Panes* panes_;
  PanelRoom* panel_room_;
  QStackedWidget* side_;  // the inspector, or the search setup
  CommandPalette* palette_;
  ExportDialog* export_ = nullptr;
  MachineDialog* machine_ = nullptr;
  WindowHelp* help_;
  Importer* importer_ = nullptr;
};

}  // namespace shardscape::ui
