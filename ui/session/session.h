// The design with its undo history, the cache, the jobs that compute it, and their newest results. Each edit
// starts a job in a worker. A stale result is recognized by its job number and dropped. Views listen to the
// session and never call each other.
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
struct Preset;
struct SearchResult;
struct UndoHistory;
}  // namespace shardscape

namespace shardscape::ui {

class MemoryAdvisor;
class Comparisons;

inline constexpr const char* kGpusField = "gpus";  // the field of the form that is no knob: it sets dp

class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  const Design& design() const { return design_; }
  const std::shared_ptr<PlanCache>& plans() const { return plans_; }
  // The last report that could be computed. While computing, or after an error, this is the previous report
  // (see current()).
  std::shared_ptr<const Report> report() const { return report_; }
  const std::vector<Problem>& problems() const { return problems_; }  // of the present design
  // All problems in the order of display: rejected texts, problems of the design, and the memory problem of a
  // design that does not fit.
  std::vector<Problem> allProblems() const;
  // A note: the tensors fit, but the design runs out of memory under a setting of PyTorch's allocator. The
  // note comes shortly after the estimate.
  std::optional<Problem> segmentsNote() const;
  bool current() const { return current_; }  // report() is of design()
  bool computing() const { return computing_; }
  // The simulated step. It arrives after its report; until then this is an earlier estimate (see
  // estimated()). After an error this becomes the estimate of report().
  std::shared_ptr<const Estimate> estimate() const { return estimate_; }
  // The simulation of a report: of the estimate, or of a pinned design; nullptr: none.
  const Simulation* simulationOf(const Report& report) const;
  // Whether estimate() is of report().
  bool estimated() const { return current_ && estimate_ && estimate_->report == report_; }
  MemoryAdvisor* advice() const { return advice_; }  // requested automatically if a design does not fit
  Comparisons* comparisons() const { return comparisons_; }  // the pinned designs
  QUndoStack* undoStack() { return &undo_; }
  UnitSystem units() const { return units_; }

  // Undoable. If the value is invalid, the design stays and the problem is returned.
  std::optional<Problem> setKnob(const QString& id, const QString& text);
  // As setKnob(), for typed text. A rejected text stays a problem until an accepted text replaces it or the
  // person reverts it.
  void typeKnob(const QString& id, const QString& text);
  // As typeKnob(), for a text that the field itself refuses: field is its id, for example kGpusField.
  void reject(const QString& field, const Problem& problem);
  // The first field with a rejected text; empty: none. The results are then of an earlier text.
  QString rejectedField() const;
  bool hasRejectedText() const { return !rejectedField().isEmpty(); }
  const Problem* rejected(const QString& id) const;  // the problem of the typed text; nullptr: no problem
  // The problem of the knob: of its typed text, else an error of the design, else a note; nullptr: none.
  const Problem* problemOf(const QString& id) const;
  void revertTyping(const QString& id);  // restores the value from before the typing
  void dropRejected(const QString& id);  // drops the rejected text; the value stays
  void applyFix(const Fix& fix);         // one undo step
  // One undo step. Knobs that do not fit the model are adapted (signal adapted()). A later model that they
  // fit restores them.
  // published_layout: a training design gets the preset's published layout, if there is one, in place of its
  // own parallelism and workload.
  void applyPreset(const QString& id, bool published_layout = false);
  void adoptModel(const ModelSpec& model, const QString& name, const QString& undo_text);
  // As adoptModel(); a model without a preset joins imported().
  void importModel(const ModelSpec& model, const QString& name);
  // dp follows the number of GPUs, with tp, cp and pp where these do not divide it. Settings that do not fit
  // the replicas are adapted (signal adapted()); a later number of GPUs that they fit restores them. Quick
  // successive numbers are one undo step.
  void setGpus(qint64 gpus);
  // The models without a preset that were imported or opened in this session, the newest first.
  struct Imported {
    QString name;
    ModelSpec model;
    friend bool operator==(const Imported&, const Imported&) = default;
  };
  const std::vector<Imported>& imported() const { return imported_; }
  void setDesign(const Design& design, const QString& undo_text);
  void endEdit();                     // the next edit of the same knob starts a new undo step
  void endTyping(const QString& id);  // as endEdit(), unless the text is rejected
  void reset(const Design& design);   // another document; clears the undo history
  // The undo steps, for a file (explore/recovery.h): the newest, and those that were undone.
  UndoHistory history() const;
  // Another document with its undo steps, which counts as modified. No search and no pinned designs.
  void restore(const UndoHistory& history);
  void setUnits(UnitSystem units);
  // Reads all model files again: own files have changed. Jobs that run finish with the library before.
  void reloadLibrary();
  // The last search over designs; null: none. The document stores it.
  std::shared_ptr<const SearchResult> search() const { return search_; }
  void setSearch(std::shared_ptr<const SearchResult> search);
  // Blocks until the report of the present design is made (for tests and headless pictures).
  void waitForReport();
  void waitForEstimate();  // also waits for the estimate
  // Asks the window to show the field of the knob with the keyboard.
  void requestField(const QString& id) { Q_EMIT fieldRequested(id); }

 Q_SIGNALS:
  void designChanged();
  void computingChanged();
  void documentReplaced();  // another document is loaded; the selection must be cleared
  // report() is new and no view shows it yet; reportChanged() follows. before: the replaced report.
  void reportArrived(const shardscape::Report* before);
  void reportChanged();    // report(), problems() or current() changed
  void estimateArrived();  // estimate() is new and no view shows it yet; estimateChanged() follows
  void estimateChanged();  // estimate() or estimated() changed
  void resultShown();      // every listener of reportChanged() or estimateChanged() has run
  void unitsChanged();
  void libraryChanged();   // ModelLibrary::instance() is another one; a report follows
  void rejectedChanged();  // some rejected() changed
  void searchChanged();
  void problemsChanged();  // allProblems() changed
  void fieldRequested(const QString& id);
  void lengthsDiffer(qint64 context, qint64 seq);  // the person chose decode, which uses the context length;
                                                   // it differs from the sequence length
  // to: the model or the GPUs, "128 GPUs". changes: the adapted knobs: "Expert parallel (ep) 64 → 8".
  // published: the published layout that the design now has, "256 H100, tp 2"; empty: the design kept its
  // own.
  void adapted(const QString& to, const QStringList& changes, const QString& published);

 private:
  friend class DesignCommand;
  void assign(const Design& design);
  // The design as the person set it. Adaptations to models tried in between are discarded.
  Design wantedDesign() const;
  static Design publishedDesign(const Preset& preset, const ClusterSpec& cluster);
  void adopt(const Design& wanted, const std::function<void(Design&)>& put_model, const QString& undo_text,
             const QString& published = {});
  void keepImported(const ModelSpec& model, const QString& name);
  void recompute();
  void deliver();
  void accept(std::shared_ptr<const Report> report);
  void acceptEstimate(std::shared_ptr<const Estimate> estimate);
  Design design_;
  std::shared_ptr<const Report> report_;
  std::vector<Problem> problems_;
  struct Typed {  // the state of a field that a person types into
    QString before;
    std::optional<Problem> problem;
  };
  std::map<QString, Typed> typed_;
  struct Adopted {  // the adapted design, and the design as the person had set it
    Design result, wanted;
  };
  std::optional<Adopted> adopted_;  // by adopt(); `wanted` has the model before
  std::optional<Adopted> on_gpus_;  // by setGpus(); `wanted` has the new number of GPUs
  std::vector<Imported> imported_;
  // The one cache of the window. All computations in all threads share it.
  const std::shared_ptr<PlanCache> plans_ = std::make_shared<PlanCache>();
  MemoryAdvisor* advice_;
  Comparisons* comparisons_;
  QUndoStack undo_;
  std::shared_ptr<const Estimate> estimate_;
  std::shared_ptr<const SearchResult> search_;
  bool current_ = false, computing_ = false, reverting_ = false,
       replaying_ = false;  // undo steps are read from a file: they start no jobs
  int edit_ = 0;
  UnitSystem units_ = UnitSystem::Binary;
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace shardscape::ui
