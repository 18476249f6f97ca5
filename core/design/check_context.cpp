// What context parallelism has to split evenly, and what it does not go with yet.
#include "base/units.h"
#include "design/checks.h"

namespace shardscape {

void check_context(Checks& checks) {
  const Design& d = checks.design;
  const int64_t cp = d.parallel.cp, tp = d.parallel.tp, seq = d.workload.seq;
  if (!checks.sound({"cp", "tp", "seq", "kv_heads"}) || cp == 1) return;
  const Fix off = set_to("cp", 1);
  // The stream is split over cp, and over tp inside it under sequence parallelism.
  const int64_t parts = cp * (d.parallel.sequence_parallel ? tp : 1);
  if (seq % parts != 0) {
    std::vector<Fix> fixes;
    offer(fixes, "seq", seq >= parts ? seq / parts * parts : parts);
    fixes.push_back(off);
    checks.error("seq", "context parallelism cannot split " + grouped(seq) + " tokens into " + grouped(parts) + " parts",
                 "a multiple of " + grouped(parts), std::move(fixes));
  }
  if (d.parallel.context == ContextMode::Ulysses && d.model.kv_heads % (tp * cp) != 0)
    checks.error("cp", "Ulysses cannot spread " + grouped(d.model.kv_heads) + " KV heads over tp x cp = " + grouped(tp * cp) + " ranks",
                 "tp x cp that divides the KV heads, or all-gather of K and V",
                 {set_to("context", std::string("all-gather")), off});
}

}  // namespace shardscape
