 HIDDEN_SIZE = 4096
model = dict(num_layers=32, hidden_size=HIDDEN_SIZE, num_attention_heads=32, mlp_ratio=8 / 3, vocab_size=92544)
parallel = dict(zero1=dict(size=8), tensor=dict(size=2, mode="mtp"), pipeline=dict(size=1, interleaved_overlap=True), weight=dict(size=1))
data = dict(seq_len=4096, micro_num=4, micro_bsz=1)
