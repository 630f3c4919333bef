"""What every store offers: records, operations, the interface, and vectors of texts."""

from ckpt_viz.store.interface import BaseStore
from ckpt_viz.store.meaning import (
    AEmbeddingsFunc,
    Embeddings,
    EmbeddingsFunc,
    IndexConfig,
    ensure_embeddings,
)
from ckpt_viz.store.namespaces import validate_op_namespace
from ckpt_viz.store.paths import get_text_at_path, tokenize_path
from ckpt_viz.store.records import (
    NOT_PROVIDED,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    NamespaceMatchType,
    NamespacePath,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

__all__ = [
    "NOT_PROVIDED",
    "AEmbeddingsFunc",
    "BaseStore",
    "Embeddings",
    "EmbeddingsFunc",
    "GetOp",
    "IndexConfig",
    "InvalidNamespaceError",
    "Item",
    "ListNamespacesOp",
    "MatchCondition",
    "NamespaceMatchType",
    "NamespacePath",
    "NotProvided",
    "Op",
    "PutOp",
    "Result",
    "SearchItem",
    "SearchOp",
    "TTLConfig",
    "ensure_embeddings",
    "get_text_at_path",
    "tokenize_path",
    "validate_op_namespace",
]
