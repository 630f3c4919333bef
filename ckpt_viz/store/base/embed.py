"""What turns texts into vectors; the names under which programs import it."""

from ckpt_viz.store.meaning import (
    AEmbeddingsFunc,
    Embeddings,
    EmbeddingsFunc,
    EmbeddingsLambda,
    ensure_embeddings,
)
from ckpt_viz.store.paths import get_text_at_path, tokenize_path

__all__ = [
    "AEmbeddingsFunc",
    "Embeddings",
    "EmbeddingsFunc",
    "EmbeddingsLambda",
    "ensure_embeddings",
    "get_text_at_path",
    "tokenize_path",
]
