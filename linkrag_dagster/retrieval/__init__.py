"""Search: what is found, fused, kept and cited."""

from linkrag_dagster.retrieval.fusion import reciprocal_rank_fusion, standardised_sum

__all__ = ["reciprocal_rank_fusion", "standardised_sum"]
