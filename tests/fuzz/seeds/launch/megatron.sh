 #!/bin/bash
GPUS_PER_NODE=8
NUM_NODES=${NNODES:-4}
WORLD_SIZE=$((GPUS_PER_NODE*NUM_NODES))
DISTRIBUTED_ARGS=(--nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES)
if [ "$WORLD_SIZE" -gt 8 ]; then TP=4; else TP=2; fi
for flag in --swiglu --bf16; do EXTRA+=" $flag"; done
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py --num-layers 32 --hidden-size 4096 \
  --num-attention-heads 32 --group-query-attention --num-query-groups 8 --ffn-hidden-size 14336 \
  --seq-length 8192 --max-position-embeddings 8192 --micro-batch-size 1 --global-batch-size 128 \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size 2 --sequence-parallel \
  --use-distributed-optimizer --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 $EXTRA
