 python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 --nnodes 2 --node-rank 0 --ep-size 16 --enable-dp-attention --dp 8 --mem-fraction-static 0.85
