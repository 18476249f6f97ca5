// The design with its undo history, the cache, the jobs that compute it, and their newest results.
// Edits recompute in a worker; a stale result is dropped by its job number. Views listen, and never talk to
// each other.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QUndoStack>
#include <QVector>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/units.h"
#include "plan/report.h"
#include "ui/session/estimate.h"

namespace shardscape {
struct SearchResult;
}

namespace shardscape::ui {

class MemoryAdvisor;
class Comparisons;

class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  const Design& design() const { return design_; }
  const std::shared_ptr<PlanCache>& plans() const { return plans_; }
  // The last report that could be computed; while computing, or after an error, the previous one (see
  // current()).
  std::shared_ptr<const Report> report() const { return report_; }
  const std::vector<Problem>& problems() const { return problems_; }  // of the present design
  // And before them those of texts that the design did not take; last, that a design that can be built does
  // not fit.
  std::vector<Problem> allProblems() const;
  // That a design which fits by its tensors runs out of memory under a setting of PyTorch's allocator. Known
  // a moment after the estimate.
  std::optional<Problem> segmentsNote() const;
  bool current() const { return current_; }  // report() is of design()
  bool computing() const { return computing_; }
  // What the step of a report costs. Comes after its report; until then that of an earlier one (see
  // estimated()). After an error it comes to be of report(), as everything else that is shown.
  std::shared_ptr<const Estimate> estimate() const { return estimate_; }
  bool estimated() const {
    return current_ && estimate_ && estimate_->report == report_;
  }                                                  // estimate() is of report()
  MemoryAdvisor* advice() const { return advice_; }  // asked for by itself where a design does not fit
  Comparisons* comparisons() const {
    return comparisons_;
  }  // designs that are pinned for comparison with the present one
  QUndoStack* undoStack() { return &undo_; }
  UnitSystem units() const { return units_; }

  // Undoable. On a Problem nothing changes; it is returned for the field to show.
  std::optional<Problem> setKnob(const QString& id, const QString& text);
  // The same for what a person types. A text that is not taken stays a problem until another is, or it is
  // taken back.
  void typeKnob(const QString& id, const QString& text);
  bool rejectsAny() const;                           // what is shown is of an earlier text than the form's
  const Problem* rejected(const QString& id) const;  // what is wrong with the typed text; nullptr: nothing
  void takeBack(const QString& id);      // the value is again what it was before the person began to type
  void dropRejected(const QString& id);  // forgets the text; the value stays
  void applyFix(const Fix& fix);         // one undo step
  // One undo step. What the model cannot be built with gives way (adapted() says what), and comes back with a
  // model that it fits.
  void applyPreset(const QString& id);
  void adoptModel(const ModelSpec& model, const QString& name, const QString& undo_text);
  void setDesign(const Design& design, const QString& undo_text);
  void endEdit();                     // the next edit of the same knob is a step of its own
  void endTyping(const QString& id);  // endEdit(), unless the text is still to be mended
  void reset(const Design& design);   // another document: no way back
  void setUnits(UnitSystem units);
  // The last search over designs; null: there was none. Belongs to the document.
  std::shared_ptr<const SearchResult> search() const { return search_; }
  void setSearch(std::shared_ptr<const SearchResult> search);
  // Blocks until the report of the present design is there (tests, headless pictures).
  void waitForReport();
  void waitForEstimate();  // likewise, and until what its step costs is there

 Q_SIGNALS:
  void designChanged();
  void computingChanged();
  void documentReplaced();  // another document comes: nothing of the present one is selected any more
  // report() is a new one and no view shows it yet; reportChanged() follows. Before: the report that it
  // replaces.
  void reportArrived(const shardscape::Report* before);
  void reportChanged();    // report(), problems() or current() changed
  void estimateArrived();  // estimate() is a new one and no view shows it yet; estimateChanged() follows
  void estimateChanged();  // estimate() or estimated() changed
  void resultShown();      // all that listen to reportChanged() or estimateChanged() have been told
  void unitsChanged();
  void rejectedChanged();  // some rejected() changed
  void searchChanged();
  void problemsChanged();                          // allProblems() changed
  void lengthsDiffer(qint64 context, qint64 seq);  // decode was chosen: it counts the context length, which
                                                   // is not the sequence length so far
  void adapted(const QString& model,
               const QStringList& changes);  // what gave way: "Expert parallel (ep) 64 → 8"

 private:
  friend class DesignCommand;
  void assign(const Design& design);
  void adopt(const std::function<void(Design&)>& put_model, const QString& undo_text);
  void recompute();
  void deliver();
  void accept(std::shared_ptr<const Report> report);
  void acceptEstimate(std::shared_ptr<const Estimate> estimate);
  Design design_;
  std::shared_ptr<const Report> report_;
  std::vector<Problem> problems_;
  struct Typed {  // since a person began to type into a field
    QString before;
    std::optional<Problem> problem;
  };
  std::map<QString, Typed> typed_;
  struct Adopted {  // the design with another model, and what the person had set before
    Design result, wanted;
  };
  std::optional<Adopted> adopted_;
  // The one cache of this window; whatever it computes, in whichever thread, shares it.
  const std::shared_ptr<PlanCache> plans_ = std::make_shared<PlanCache>();
  MemoryAdvisor* advice_;
  Comparisons* comparisons_;
  QUndoStack undo_;
  std::shared_ptr<const Estimate> estimate_;
  std::shared_ptr<const SearchResult> search_;
  bool current_ = false, computing_ = false, taking_back_ = false;
  int edit_ = 0;
  UnitSystem units_ = UnitSystem::Binary;
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace shardscape::ui
