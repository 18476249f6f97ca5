#include "ui/shell/autosave.h"

#include <QCoreApplication>
#include <QDateTime>

#include "explore/recovery.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/shell/document.h"

namespace shardscape::ui {

struct Autosave::Target {
  QString folder;
  std::shared_ptr<StudyFile> file;  // made by the first save

  std::optional<Problem> write(const std::string& text) {
    if (!file) {
      auto made = StudyFile::create(folder);
      if (auto* problem = std::get_if<Problem>(&made)) return std::move(*problem);
      file = std::move(std::get<0>(made));
    }
    return file->write(text);
  }
};

Autosave::Autosave(Session* session, Document* document, const QString& folder, QObject* parent)
    : QObject(parent),
      session_(session),
      document_(document),
      view_([] { return QString(); }),
      target_(std::make_shared<Target>()),
      job_(std::make_unique<NewestJob>(this)) {
  target_->folder = folder;
  timer_.setSingleShot(true);
  timer_.setInterval(kPause);
  connect(&timer_, &QTimer::timeout, this, &Autosave::save);
  for (const auto signal : {&Session::designChanged, &Session::searchChanged})
    connect(session, signal, this, &Autosave::follow);
  connect(session->comparisons(), &Comparisons::changed, this, &Autosave::follow);
  connect(document, &Document::changed, this, &Autosave::follow);
  connect(document->pages(), &PageSettings::changed, this, &Autosave::follow);
  connect(qApp, &QCoreApplication::aboutToQuit, this, &Autosave::saveLast);
  follow();
}

Autosave::~Autosave() = default;

// The first change starts the pause, and further changes do not prolong it.
void Autosave::follow() {
  if (!timer_.isActive() && !finished_) timer_.start();
}

Recovery Autosave::snapshot() const {
  Recovery recovery;
  recovery.study = document_->study();
  recovery.history = session_->history();
  recovery.document = document_->path().toStdString();
  recovery.view = view_().toStdString();
  recovery.saved_at = QDateTime::currentSecsSinceEpoch();
  return recovery;
}

void Autosave::save() {
  if (!document_->modified()) {  // nothing would be lost
    job_->start([target = target_](const NewestJob::Post&, std::stop_token) {
      if (target->file) target->file->clear();
    });
    return;
  }
  job_->start([this, target = target_, study = snapshot()](const NewestJob::Post& post, std::stop_token) {
    const auto problem = target->write(to_json(study));
    post([this, problem] {
      const bool told = std::exchange(failed_, problem.has_value());
      if (!problem) return Q_EMIT written();
      follow();  // tries again
      if (told) return;
      Q_EMIT failed(tr("Unsaved work is not protected against a crash. %1")
                        .arg(QString::fromStdString(to_string(*problem))));
    });
  });
}

// A signal ends the program without a question: the last seconds are kept, too.
void Autosave::saveLast() {
  if (finished_) return;
  timer_.stop();
  job_.reset();  // waits for a save
  if (document_->modified()) target_->write(to_json(snapshot()));
  job_ = std::make_unique<NewestJob>(this);
}

void Autosave::adopt(std::shared_ptr<StudyFile> file) {
  job_.reset();  // waits for a save
  job_ = std::make_unique<NewestJob>(this);
  if (target_->file) target_->file->remove();
  target_->file = std::move(file);
  follow();
}

void Autosave::finish() {
  finished_ = true;
  timer_.stop();
  job_.reset();  // waits for a save
  if (target_->file) target_->file->remove();
  target_->file.reset();
}

}  // namespace shardscape::ui
