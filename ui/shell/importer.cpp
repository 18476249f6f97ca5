#include "ui/shell/importer.h"

#include <QClipboard>
#include <QDialog>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMimeData>
#include <QUrl>
#include <optional>
#include <utility>

#include "base/data_dir.h"
#include "design/embedded_document.h"
#include "launch/launch_files.h"
#include "launch/launch_import.h"
#include "profile/run_file.h"
#include "ui/session/session.h"
#include "ui/shell/document.h"
#include "ui/shell/import_dialog.h"
#include "ui/shell/launch_dialog.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/settings.h"
#include "ui/shell/window_help.h"
#include "ui/views/profile/profile_window.h"
#include "ui/views/trace/trace_window.h"

namespace shardscape::ui {
namespace {

// The local files and folders that are dragged over the window; empty for other drags.
QStringList dragged_files(const QMimeData* data) {
  QStringList out;
  for (const QUrl& url : data->urls())
    if (url.isLocalFile()) out << url.toLocalFile();
  return out;
}

constexpr int kWaitMessage = 300;  // ms

}  // namespace

struct Importer::Content {
  enum Kind { Run, Config, Launch, Design, Unknown } kind;
  std::string text = {};  // of a launch
  std::optional<Document::FileContent> document = {};
};

Importer::Content Importer::contentOf(const QString& path) {
  if (kind_of_run_file(path.toStdString()) != RunFile::None) return {Content::Run};
  auto read = read_text(path.toStdString());
  auto* text = std::get_if<std::string>(&read);
  if (text && looks_like_hf_file(*text)) return {Content::Config};
  if (text && looks_like_launch(*text)) return {Content::Launch, std::move(*text)};
  // What cannot be read, and JSON with a mistake, has a message of its own.
  const size_t first = text ? text->find_first_not_of(" \t\r\n") : std::string::npos;
  const bool document = first == std::string::npos || (*text)[first] == '{' || is_report_document(*text);
  return {document ? Content::Design : Content::Unknown};
}

Importer::Importer(Session* session, Document* document, MessageBar* message, WindowHelp* help,
                   QWidget* window)
    : QObject(window),
      session_(session),
      document_(document),
      message_(message),
      help_(help),
      window_(window) {
  slow_.setSingleShot(true);
  slow_.setInterval(kWaitMessage);
  connect(&slow_, &QTimer::timeout, this, [this] { message_->show(wait_message_); });
  connect(&job_, &NewestJob::failed, this, &Importer::endWait);
  connect(session_, &Session::documentReplaced, this, &Importer::stopOpening);
}

void Importer::choose() {
  const QString path = QFileDialog::getOpenFileName(
      window_, tr("Import a model or a launch"), settings::designFolder(),
      tr("Models and launches (*.json *.sh *.yaml *.yml *.toml *.py *.log *.txt *.out *.slurm *.sbatch);;"
         "All files (*)"));
  if (!path.isEmpty()) openFile(path);
}

void Importer::chooseRun() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      window_, tr("Open a trace or profile"), settings::designFolder(),
      tr("Traces and profiles (*.et *.et.gz *.json *.json.gz);;All files (*)"));
  if (paths.isEmpty() || openRun(paths)) return;
  message_->show(
      tr("%1 is no trace and no profile. Chakra traces (NAME.et), their JSON form, execution traces of "
         "PyTorch and JSON of the PyTorch profiler are accepted, also compressed with gzip.")
          .arg(QFileInfo(paths.front()).fileName()));
}

bool Importer::openRun(const QStringList& paths) {
  switch (kind_of_run_file(paths.front().toStdString())) {
    case RunFile::None: return false;
    case RunFile::Trace: {
      auto* window = new TraceWindow(session_, window_);
      help_->addTo(window, HelpTopic::Traces);
      window->open(paths.front());
      window->show();
      return true;
    }
    case RunFile::Profile: {
      auto* window = new ProfileWindow(session_, window_);
      help_->addTo(window, HelpTopic::Profiles);
      window->open(paths);
      window->show();
      return true;
    }
  }
  return false;
}

bool Importer::accepts(const QMimeData* data) {
  return !dragged_files(data).isEmpty() || (data->hasText() && !data->hasUrls());
}

void Importer::open(const QMimeData* data) {
  const QStringList paths = dragged_files(data);
  if (paths.isEmpty()) return openText(data->text(), tr("dropped text"));
  openFiles(paths);
}

void Importer::paste() { openText(QGuiApplication::clipboard()->text(), tr("pasted text")); }

void Importer::openText(const QString& text, const QString& name) {
  const std::string utf8 = text.toStdString();
  if (looks_like_launch(utf8)) return previewLaunch(utf8, name, {});
  message_->show(text.trimmed().isEmpty()
                     ? tr("The clipboard has no text. Copy a launch script, a command line or a log first.")
                     : tr("The %1 is no launch of a known framework. A script, a command line, a file of "
                          "settings or a log is accepted.")
                           .arg(name));
}

bool Importer::isDocument(const QString& path) { return contentOf(path).kind == Content::Design; }

void Importer::openFile(const QString& path) { openFiles({path}); }

void Importer::openFiles(const QStringList& paths) {
  stopOpening();
  opening_ = true;
  wait_message_ = tr("Opening %1").arg(QFileInfo(paths.front()).fileName());
  slow_.start();
  job_.start([this, paths](const NewestJob::Post& post, const std::stop_token& stop) {
    Content content = contentOf(paths.front());
    if (stop.stop_requested()) return;
    if (content.kind == Content::Design) content.document = Document::read(paths.front());
    post([this, paths, content = std::move(content)] { show(paths, content); });
  });
}

void Importer::stopOpening() {
  job_.stop();
  endWait();
}

void Importer::endWait() {
  opening_ = false;
  slow_.stop();
  if (message_->text() == wait_message_) message_->hide();
}

void Importer::show(const QStringList& paths, const Content& content) {
  endWait();
  const QString& path = paths.front();
  switch (content.kind) {
    case Content::Run: return void(openRun(paths));
    case Content::Config: return previewConfig(path);
    case Content::Launch:
      return previewLaunch(content.text, QFileInfo(path).fileName(), QFileInfo(path).absolutePath());
    case Content::Design: return void(document_->open(*content.document));
    case Content::Unknown: break;
  }
  message_->show(
      tr("%1 is no design, no model and no launch of a known framework. A script, a command line, a file "
         "of settings or a log is accepted.")
          .arg(QFileInfo(path).fileName()));
}

void Importer::previewConfig(const QString& path) {
  auto files = read_hf_files(path.toStdString());
  if (const auto* problem = std::get_if<Problem>(&files))
    return message_->show(
        tr("The file was not imported. %1").arg(QString::fromStdString(to_string(*problem))));
  HfFiles& read = std::get<HfFiles>(files);
  for (HfFile* file : {&read.config, read.quantization ? &*read.quantization : nullptr})
    if (file) file->name = QFileInfo(QString::fromStdString(file->name)).fileName().toStdString();
  auto* dialog = new ImportDialog(session_, std::move(read), path, window_);
  connect(dialog, &ImportDialog::architectureRequested, this, &Importer::architectureRequested);
  preview(dialog);
}

void Importer::previewLaunch(const std::string& text, const QString& name, const QString& folder) {
  LaunchRequest request;
  request.text = text;
  request.where = name.toStdString();
  if (!folder.isEmpty()) request.shell.source = files_below(folder.toStdString());
  preview(new LaunchDialog(session_, std::move(request), window_));
}

void Importer::preview(QDialog* dialog) {
  stopOpening();
  message_->hide();
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  help_->addTo(dialog, HelpTopic::Import);
  dialog->open();
}

}  // namespace shardscape::ui
