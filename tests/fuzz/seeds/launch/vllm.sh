 vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4 --max-model-len 32768 --gpu-memory-utilization 0.92 --max-num-seqs 256 --enable-chunked-prefill --kv-cache-dtype fp8
