"""Shardscape: what a step of training or inference of a large language model computes, stores and sends.

    import shardscape
    design = shardscape.Design(model="llama3-70b", tp=8, pp=4, dp=8, sequence_parallel=True)
    design.report()["time"]["step_seconds"]
    shardscape.search(design, gpus=256, tp=[1, 2, 4, 8], microbatch=[1, 2], top=100)["tokens_per_second"]

Keyword arguments are the settings of `shardscape-cli report`, with underscores. A mistake raises
`ProblemError`, which names the setting, what is wrong and what would be accepted.
"""

from ._shardscape import Design, ProblemError, __version__, compare, knobs, presets, search

__all__ = ["Design", "ProblemError", "__version__", "compare", "knobs", "presets", "search"]
