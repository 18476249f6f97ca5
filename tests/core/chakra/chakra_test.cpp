// Wire format, file images, the reader and digests, against bytes written down by hand.
#include <google/protobuf/io/coded_stream.h>

#include <QTest>
#include <random>

#include "chakra/digest.h"
#include "chakra/image.h"
#include "chakra/trace_reader.h"
#include "chakra/wire.h"

using namespace shardscape;
using chakra::CollectiveType;
using chakra::NodeType;

namespace {

std::string from_hex(const char* hex) {
  const QByteArray bytes = QByteArray::fromHex(hex);
  return {bytes.constData(), static_cast<size_t>(bytes.size())};
}

QByteArray to_hex(std::string_view bytes) {
  return QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).toHex(' ');
}

// One role; a compute node, an all-reduce that depends on it, a send to the next stage and a receive.
RankProgram small_program() {
  RankProgram p;
  p.roles = 1;
  p.ops = {{.name = "c", .num_ops = 300, .tensor_size = 5},
           {.name = "a",
            .type = NodeType::Coll,
            .collective = CollectiveType::AllReduce,
            .role = 0,
            .comm_size = 256},
           {.name = "s", .type = NodeType::Send, .comm_size = 16, .peer = Peer::NextStage},
           {.name = "r", .type = NodeType::Recv, .comm_size = 16, .peer = Peer::NextStage, .backward = true}};
  p.nodes = {{.op = 0, .microbatch = 2, .layer = 5, .deps = 0},
             {.op = 1, .microbatch = 2, .layer = 5, .deps = 0, .data_count = 1},
             {.op = 2, .microbatch = 2, .deps = 1, .ctrl_count = 1, .data_count = 1},
             {.op = 3, .microbatch = 2, .deps = 3, .ctrl_count = 1}};
  p.deps = {1, 2, 1, 3};
  return p;
}

SlotTexts texts(int64_t group, int64_t own, int64_t previous, int64_t next) {
  return slot_texts({{group, own, previous, next}}, 1);
}

}  // namespace

class ChakraTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void varints() {
    for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128}, uint64_t{300},
                                 uint64_t{1} << 32, ~uint64_t{0}}) {
      std::string out;
      wire::Writer(out).varint(value);
      QCOMPARE(out.size(), wire::varint_size(value));
      uint64_t back = 1;
      google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(out.data()),
                                                static_cast<int>(out.size()));
      QVERIFY(in.ReadVarint64(&back));
      QCOMPARE(in.CurrentPosition(), static_cast<int>(out.size()));
      QCOMPARE(back, value);
    }
    std::string out;
    wire::Writer(out).varint(300);
    QCOMPARE(to_hex(out), to_hex(from_hex("ac02")));
  }

  // A message that is not a Node is named by its place in the file, after the metadata.
  void damaged_fields_are_refused() {
    for (const char* hex :
         {"08", "08ff", "0a05616263", "00", "0b", "0d0102", "09010203", "08ffffffffffffffffffff01",
          "0a0161",      // id: a string
          "1203c328a0",  // name: no UTF-8
          "520a0a01612205ff"}) {
      const std::string message = from_hex(hex);
      const std::string file = from_hex("050a03312e30") + static_cast<char>(message.size()) + message;
      TraceReader reader(file);
      std::string version;
      QVERIFY(reader.read_metadata(version));
      RawNode node;
      QVERIFY2(reader.next(node) == TraceReader::Step::Bad, hex);
      QCOMPARE(reader.problem(), std::string("the message at byte 6 is not a Node"));
    }
  }

  void damaged_lengths_are_refused() {
    const std::string metadata = from_hex("050a03312e30");
    for (const auto& [hex, problem] : std::vector<std::pair<const char*, std::string>>{
             {"ff", "the length at byte 6 is cut off"},
             {"ffffffffff01", "the length at byte 6 takes more than 32 bits"},
             {"ffffffffffffffffffffff", "the length at byte 6 takes more than 32 bits"},
             {"090801", "the message at byte 6 has a length of 9 bytes, but only 2 are left"},
             {"00", "the message at byte 6 is empty"}}) {
      const std::string file = metadata + from_hex(hex);
      TraceReader reader(file);
      std::string version;
      RawNode node;
      QVERIFY(reader.read_metadata(version));
      QVERIFY2(reader.next(node) == TraceReader::Step::Bad, hex);
      QCOMPARE(reader.problem(), problem);
    }
    std::string version;
    const std::string node = from_hex("020801");
    TraceReader reader(node);
    QVERIFY(!reader.read_metadata(version));
    QCOMPARE(reader.problem(), std::string("the first message is not a GlobalMetadata"));
  }

  // A field that the schema lacks is skipped, as newer writers may have more fields.
  void unknown_fields_are_skipped() {
    const std::string file = from_hex(
        "050a03312e30"
        "070807"
        "a20602"
        "0102");
    TraceReader reader(file);
    std::string version;
    RawNode node;
    QVERIFY(reader.read_metadata(version));
    QVERIFY(reader.next(node) == TraceReader::Step::Node);
    QCOMPARE(node.id, uint64_t{7});
    QVERIFY(reader.next(node) == TraceReader::Step::End);
  }

  // Worked out by hand from the encoding rules.
  void collective_node_bytes() {
    const RankProgram p = small_program();
    const std::string expected = from_hex(
        "54"  // 84 bytes
        "0802"
        "120c"
        "6d62322e6c61796572352e61"
        "1807"  // id 2, "mb2.layer5.a", COMM_COLL_NODE
        "2a01"
        "01"  // data_deps: 1
        "520e"
        "0a09"
        "69735f6370755f6f70"
        "d80100"  // is_cpu_op: bool_val false
        "520d"
        "0a09"
        "636f6d6d5f74797065"
        "4800"  // comm_type: int64_val ALL_REDUCE
        "520e"
        "0a09"
        "636f6d6d5f73697a65"
        "488002"  // comm_size: int64_val 256
        "520e"
        "0a07"
        "70675f6e616d65"
        "ea01023137");  // pg_name: string_val "17"
    const TraceImage image(p, texts(17, 0, 0, 1));
    QVERIFY2(image.bytes().find(expected) != std::string_view::npos, to_hex(image.bytes()).constData());
  }

  void compute_node_bytes() {
    RankProgram p = small_program();
    p.nodes.resize(1);
    const TraceImage image(p, texts(1, 0, 0, 1));
    const std::string expected = from_hex(
        "05"
        "0a03"
        "312e30"  // metadata: version "1.0"
        "41"      // 65 bytes
        "0801"
        "120c"
        "6d62322e6c61796572352e63"
        "1804"  // id 1, "mb2.layer5.c", COMP_NODE
        "520e"
        "0a09"
        "69735f6370755f6f70"
        "d80100"  // is_cpu_op: bool_val false
        "520c"
        "0a07"
        "6e756d5f6f7073"
        "48ac02"  // num_ops: int64_val 300
        "520f"
        "0a0b"
        "74656e736f725f73697a65"
        "6805");  // tensor_size: uint64_val 5
    QCOMPARE(to_hex(image.bytes()), to_hex(expected));
  }

  void images_read_back() {
    const TraceImage image(small_program(), texts(17, 300, 44, 556));
    TraceReader reader(image.bytes());
    std::string version;
    QVERIFY(reader.read_metadata(version));
    QCOMPARE(version, std::string("1.0"));
    RawNode node;
    std::vector<RawNode> nodes;
    std::vector<std::string> names, groups;
    while (reader.next(node) == TraceReader::Step::Node) {
      nodes.push_back(node);
      names.emplace_back(node.name);
      groups.emplace_back(node.attr(Attr::PgName).text);
    }
    QVERIFY2(reader.problem().empty(), reader.problem().c_str());
    QCOMPARE(nodes.size(), size_t{4});
    QCOMPARE(names[0], std::string("mb2.layer5.c"));
    QCOMPARE(nodes[0].attr(Attr::NumOps).integer, 300);
    QCOMPARE(nodes[0].attr(Attr::IsCpuOp).kind, chakra::attr_field::kBool);
    QCOMPARE(groups[1], std::string("17"));
    QCOMPARE(groups[0], std::string());
    QCOMPARE(nodes[1].attr(Attr::CommSize).integer, 256);
    QCOMPARE(nodes[1].data_deps, std::vector<uint64_t>{1});
    QCOMPARE(nodes[2].type, int64_t(NodeType::Send));
    QCOMPARE(nodes[2].attr(Attr::CommSrc).integer, 300);
    QCOMPARE(nodes[2].attr(Attr::CommDst).integer, 556);
    QCOMPARE(nodes[2].attr(Attr::CommTag).integer, 4);
    QCOMPARE(nodes[2].ctrl_deps, std::vector<uint64_t>{2});
    QCOMPARE(nodes[2].data_deps, std::vector<uint64_t>{1});
    QCOMPARE(nodes[3].attr(Attr::CommSrc).integer, 556);
    QCOMPARE(nodes[3].attr(Attr::CommDst).integer, 300);
    QCOMPARE(nodes[3].attr(Attr::CommTag).integer, 5);
    for (const RawNode& n : nodes)
      for (const AttrValue& a : n.attrs) QVERIFY(!a.repeated);
  }

  void tensors_are_written() {
    RankProgram p = small_program();
    p.tensors = true;
    p.ops[0].inputs = {{"x", NameScope::StreamIn, 64}, {"w", NameScope::Layer, 32}};
    p.ops[0].outputs = {{"y", NameScope::Microbatch, 16}};
    p.nodes[0].position = 6;
    const TraceImage image(p, texts(1, 0, 0, 1));
    QCOMPARE(static_cast<int64_t>(image.bytes().size()), image_size(p, texts(1, 0, 0, 1)));
    TraceReader reader(image.bytes());
    std::string version;
    RawNode node;
    QVERIFY(reader.read_metadata(version));
    QVERIFY(reader.next(node) == TraceReader::Step::Node);
    const auto &inputs = node.inputs, &outputs = node.outputs;
    QCOMPARE(inputs, (std::vector<std::string_view>{"mb2.stream.6", "64", "layer5.w", "32"}));
    QCOMPARE(outputs, (std::vector<std::string_view>{"mb2.layer5.y", "16"}));
    // Nodes without tensors carry empty lists, which a tracker of memory wants.
    QVERIFY(reader.next(node) == TraceReader::Step::Node);
    QVERIFY(node.attr(Attr::Inputs).present && inputs.empty());
  }

  // Rewriting a rank's numbers in place gives the file that would have been made from scratch, digest
  // included.
  void patched_equals_fresh() {
    const RankProgram p = small_program();
    TraceImage image(p, texts(10, 200, 150, 300));
    for (const SlotTexts& t :
         {texts(99, 255, 129, 16383), texts(11, 128, 128, 128), texts(10, 200, 150, 300)}) {
      QVERIFY(image.fits(t));
      image.patch(t);
      const TraceImage fresh(p, t);
      QCOMPARE(to_hex(image.bytes()), to_hex(fresh.bytes()));
      QCOMPARE(image.digest(), fresh.digest());
      QCOMPARE(image.digest(), poly61(image.bytes()));
      QCOMPARE(static_cast<int64_t>(image.bytes().size()), image_size(p, t));
    }
    QVERIFY(!image.fits(texts(100, 200, 150, 300)));
    QVERIFY(!image.fits(texts(10, 127, 150, 300)));
    QVERIFY(!image.fits(texts(10, 200, 150, 16384)));
  }

  // Against the sum written out.
  void digest_is_the_stated_sum() {
    std::mt19937_64 random(5);
    for (size_t size = 0; size < 70; ++size) {
      std::string bytes(size, '\0');
      for (char& b : bytes) b = static_cast<char>(random());
      uint64_t sum = 0;
      for (size_t i = 0; i < size; ++i)
        sum = poly61_add(sum, poly61_multiply(poly61_weight(i), static_cast<uint8_t>(bytes[i])));
      QCOMPARE(poly61(bytes), sum);
      QVERIFY(poly61(bytes) < kPoly61Modulus);
      if (size == 0) continue;
      std::string changed = bytes;
      changed[random() % size] ^= 1;
      QVERIFY(poly61(changed) != poly61(bytes));
    }
  }

  void digest_of_a_sequence_depends_on_order() {
    QVERIFY(poly61_fold(poly61_fold(0, 1, 10), 2, 10) != poly61_fold(poly61_fold(0, 2, 10), 1, 10));
    QCOMPARE(poly61_text(255), std::string("poly61:00000000000000ff"));
  }
};

QTEST_GUILESS_MAIN(ChakraTest)
#include "chakra_test.moc"
