// Proof by execution: the architecture of every preset leaves after prefill and decode, sharded, what the
// forward of training makes of the longer sequence.
#include <QtTest>

#include "support/equivalence.h"
#include "support/preset_rows.h"

using namespace shardscape;
using namespace shardscape::test;

class PresetDecodeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void dense_data() {
    add_preset_rows(PresetKind::Dense,
                    {"context_length=9 mode=decode batch=2 pp=2",
                     "context_length=9 mode=decode tp=2 batch=4 microbatch=2",
                     "context_length=9 mode=decode tp=4 sp batch=8 microbatch=4",
                     "context_length=9 mode=decode tp=4 batch=4 microbatch=2 kv_cache_dtype=fp8"});
  }
  void dense() { decode(); }

  void experts_data() {
    add_preset_rows(
        PresetKind::Experts,
        {"context_length=9 mode=decode batch=8 microbatch=4 pp=2",
         "context_length=9 mode=decode tp=2 batch=8 microbatch=4",
         "context_length=9 mode=decode dp=2 ep=2 batch=16 microbatch=4 kv_cache_dtype=fp8",
         "context_length=9 mode=decode tp=2 sp dp=2 ep=4 etp=1 batch=32 microbatch=8",
         "context_length=9 mode=decode tp=2 dp=2 ep=2 dispatcher=allgather batch=16 microbatch=4"});
  }
  void experts() { decode(); }

  // A prompt that ranks of cp read together.
  void splitPrompt_data() {
    add_preset_rows(PresetKind::All, {"mode=prefill cp=2 context=all-gather batch=8 microbatch=4"});
  }
  void splitPrompt() { decode(); }

 private:
  void decode() {
    Design d = fetched_preset();
    d.workload.mode = Mode::Train;
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }
};

QTEST_APPLESS_MAIN(PresetDecodeTest)
#include "preset_decode_test.moc"
