#include "ui/shell/document.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include "explore/recovery.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/save_file_dialog.h"

namespace shardscape::ui {
namespace {

QString filter() { return Document::tr("Shardscape designs (*.json);;All files (*)"); }

}  // namespace

Document::Document(Session* session, PageSettings* pages, QWidget* window)
    : QObject(window), session_(session), pages_(pages), window_(window) {}

QString Document::title() const {
  return path_.isEmpty() ? QString::fromStdString(session_->design().name)
                         : QFileInfo(path_).completeBaseName();
}

bool Document::modified() const {
  return !session_->undoStack()->isClean() || session_->search() != saved_search_ ||
         session_->comparisons()->named() != saved_compared_ || pages_->pages() != saved_pages_;
}

Study Document::study() const {
  Study out;
  out.design = session_->design();
  out.search = session_->search();
  out.compared = session_->comparisons()->named();
  out.pages = pages_->pages();
  return out;
}

bool Document::mayDiscard() {
  if (!modified()) return true;
  QMessageBox box(QMessageBox::NoIcon, tr("Unsaved changes"), tr("Save the changes to \"%1\"?").arg(title()),
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, window_);
  box.setInformativeText(
      session_->undoStack()->isClean()
          ? tr("The search result, the list of pinned designs, the limits of Serving or the bookmarks of the "
               "timeline have changes that are not saved.")
          : tr("The design has changes that are not saved."));
  box.setDefaultButton(QMessageBox::Save);
  switch (box.exec()) {
    case QMessageBox::Save: return save();
    case QMessageBox::Discard: return true;
    default: return false;
  }
}

void Document::newDesign() {
  if (!mayDiscard()) return;
  path_.clear();
  saved_search_.reset();
  saved_compared_.clear();
  saved_pages_ = {};
  session_->reset(default_design());
  pages_->set({});
  Q_EMIT changed();
  Q_EMIT succeeded();
}

QString Document::chooseFile() {
  return QFileDialog::getOpenFileName(window_, tr("Open design"), settings::designFolder(), filter());
}

Document::FileContent Document::read(const QString& path) {
  FileState state = stateOf(path);  // of before the reading, so that no later change is missed
  return {path, std::move(state), load_study(path.toStdString())};
}

// owned: the file is the person's own.
bool Document::show(FileContent content, bool owned) {
  const QString path = content.path;
  const auto unreadable = [&] {
    const auto* problem = std::get_if<Problem>(&content.study);
    if (problem)
      Q_EMIT failed(tr("The design was not opened. %1").arg(QString::fromStdString(to_string(*problem))));
    return problem != nullptr;
  };
  if (unreadable() || (modified() && !mayDiscard())) return false;
  if (stateOf(path) != content.state) {  // the person may have saved to this file
    content = read(path);
    if (unreadable()) return false;
  }
  Study& study = std::get<Study>(content.study);
  if (!study.lost && study.compared.size() > size_t{Comparisons::kMaxPinned})
    study.lost = Problem{ProblemCode::DataValue, path.toStdString() + " (compare)",
                         std::to_string(study.compared.size()) + " designs are pinned",
                         "at most " + std::to_string(Comparisons::kMaxPinned) + " pinned designs"};
  const QFileInfo file(path);
  // "Save" must not overwrite the file of a search result, a report or an example, nor the parts of a file
  // that could not be read.
  const bool keeps = study.of_search || study.of_report || study.lost || !owned;
  path_ = keeps ? QString() : file.absoluteFilePath();
  state_ = keeps ? FileState() : content.state;
  if (owned) {
    settings::setDesignFolder(file.absolutePath());
    settings::addRecentFile(file.absoluteFilePath());
  }
  if (!path_.isEmpty()) settings::setLastDocument(path_);
  saved_search_ = study.search;
  session_->reset(study.design);
  session_->setSearch(study.search);
  session_->comparisons()->set(study.compared);
  pages_->set(study.pages);
  saved_compared_ = session_->comparisons()->named();
  saved_pages_ = study.pages;
  Q_EMIT changed();
  if (study.lost)
    Q_EMIT failed(
        tr("The design was opened, but not everything else in the file. Save asks for another file. %1")
            .arg(QString::fromStdString(to_string(*study.lost))));
  else
    Q_EMIT succeeded();
  return true;
}

void Document::restore(const Recovery& recovery) {
  const auto& lost = recovery.study.lost;
  path_ = lost ? QString() : QString::fromStdString(recovery.document);
  state_ = stateOf(path_);
  if (state_.written > QDateTime::fromSecsSinceEpoch(recovery.saved_at + 1)) state_ = {};  // "Save" asks
  saved_search_.reset();
  saved_compared_.clear();
  saved_pages_ = {};
  session_->restore(recovery.history);
  session_->setSearch(recovery.study.search);
  session_->comparisons()->set(recovery.study.compared);
  pages_->set(recovery.study.pages);
  Q_EMIT changed();
  if (lost)
    Q_EMIT failed(tr("The unsaved design was restored, but not everything with it. %1")
                      .arg(QString::fromStdString(to_string(*lost))));
  else
    Q_EMIT succeeded();
}

Document::FileState Document::stateOf(const QString& path) {
  const QFileInfo file(path);
  if (path.isEmpty() || !file.exists()) return {};
  return {file.size(), file.lastModified()};
}

// A file that is gone is written again.
bool Document::mayReplace() {
  if (const FileState now = stateOf(path_); now == state_ || now.bytes < 0) return true;
  QMessageBox box(
      QMessageBox::NoIcon, tr("The file has changed"),
      tr("\"%1\" was written by another program or window after it was opened here.").arg(title()),
      QMessageBox::Save | QMessageBox::Cancel, window_);
  box.setInformativeText(tr("Saving replaces what is in the file now. \"Save as\" keeps both."));
  box.button(QMessageBox::Save)->setText(tr("Replace"));
  box.setDefaultButton(QMessageBox::Cancel);
  return box.exec() == QMessageBox::Save;
}

bool Document::save() {
  if (path_.isEmpty()) return saveAs();
  return mayReplace() && savePath(path_);
}

bool Document::saveAs() {
  const QString proposal = path_.isEmpty() ? settings::designFolder() + "/" + title() + ".json" : path_;
  const QString path = askWhereToSave(window_, tr("Save design"), proposal, filter(), QStringLiteral("json"));
  return !path.isEmpty() && savePath(path);
}

bool Document::savePath(const QString& path) {
  if (const std::optional<Problem> problem = save_study(study(), path.toStdString())) {
    Q_EMIT failed(tr("The design was not saved. %1").arg(QString::fromStdString(to_string(*problem))));
    return false;
  }
  path_ = QFileInfo(path).absoluteFilePath();
  state_ = stateOf(path_);
  settings::setDesignFolder(QFileInfo(path_).absolutePath());
  settings::addRecentFile(path_);
  settings::setLastDocument(path_);
  saved_search_ = session_->search();
  saved_compared_ = session_->comparisons()->named();
  saved_pages_ = pages_->pages();
  session_->undoStack()->setClean();
  Q_EMIT changed();
  Q_EMIT succeeded();
  return true;
}

}  // namespace shardscape::ui
