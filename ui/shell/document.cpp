#include "ui/shell/document.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

#include "explore/recovery.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/shell/settings.h"

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

bool Document::openPath(const QString& path) { return load(path, true); }

bool Document::openExample(const QString& path) { return load(path, false); }

// owned: the file is the person's own.
bool Document::load(const QString& path, bool owned) {
  auto loaded = load_study(path.toStdString());  // read first: an unreadable file must not discard changes
  if (const auto* problem = std::get_if<Problem>(&loaded)) {
    Q_EMIT failed(tr("The design was not opened. %1").arg(QString::fromStdString(to_string(*problem))));
    return false;
  }
  if (!mayDiscard()) return false;
  const Study& study = std::get<Study>(loaded);
  const QFileInfo file(path);
  // "Save" must not overwrite the file of a search result, a report or an example.
  path_ = study.of_search || study.of_report || !owned ? QString() : file.absoluteFilePath();
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
    Q_EMIT failed(tr("The design was opened, but not everything else in the file. %1")
                      .arg(QString::fromStdString(to_string(*study.lost))));
  else
    Q_EMIT succeeded();
  return true;
}

void Document::restore(const Recovery& recovery) {
  path_ = QString::fromStdString(recovery.document);
  saved_search_.reset();
  saved_compared_.clear();
  saved_pages_ = {};
  session_->restore(recovery.history);
  session_->setSearch(recovery.study.search);
  session_->comparisons()->set(recovery.study.compared);
  pages_->set(recovery.study.pages);
  Q_EMIT changed();
  Q_EMIT succeeded();
}

bool Document::save() { return path_.isEmpty() ? saveAs() : savePath(path_); }

bool Document::saveAs() {
  const QString proposal = path_.isEmpty() ? settings::designFolder() + "/" + title() + ".json" : path_;
  QString path = QFileDialog::getSaveFileName(window_, tr("Save design"), proposal, filter());
  if (path.isEmpty()) return false;
  if (QFileInfo(path).suffix().isEmpty()) path += ".json";
  return savePath(path);
}

bool Document::savePath(const QString& path) {
  if (const std::optional<Problem> problem = save_study(study(), path.toStdString())) {
    Q_EMIT failed(tr("The design was not saved. %1").arg(QString::fromStdString(to_string(*problem))));
    return false;
  }
  path_ = QFileInfo(path).absoluteFilePath();
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
