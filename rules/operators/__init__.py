"""Functions of our own with rules: pooling over segments, distances of sets, rotary embedding, neural operations."""

from __future__ import annotations

from .attention import scaled_dot_product_attention
from .convolutions import conv1d, conv2d, conv3d
from .cross_products import cross
from .morphology import dilation2d
from .normalisation import layer_norm, logsumexp, softmax
from .partitions import dynamic_partition, dynamic_stitch
from .pooling import pool, pool_sum
from .rotary import rotary_embedding
from .segment_reductions import segment_max, segment_mean, segment_min, segment_prod, segment_sum
from .segments import Segments, segments
from .set_distances import chamfer_distance, hausdorff_distance
from .soft_sorting import soft_rank, soft_sort, top_k
from .space_and_batch import batch_to_space, space_to_batch
from .time_warping import soft_dtw
from .transport import sinkhorn_distance
from .window_pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from .windows import overlap_add, sliding_windows

__all__ = [
    "Segments",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_to_space",
    "chamfer_distance",
    "conv1d",
    "conv2d",
    "conv3d",
    "cross",
    "dilation2d",
    "dynamic_partition",
    "dynamic_stitch",
    "hausdorff_distance",
    "layer_norm",
    "logsumexp",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "overlap_add",
    "pool",
    "pool_sum",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "segments",
    "sinkhorn_distance",
    "sliding_windows",
    "soft_dtw",
    "soft_rank",
    "soft_sort",
    "softmax",
    "space_to_batch",
    "top_k",
]
