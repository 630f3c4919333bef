"""The async name of the SQLite saver; it is the same class."""

from ckpt_viz.checkpoint.sqlite.saver import SqliteSaver


class AsyncSqliteSaver(SqliteSaver):
    """`SqliteSaver` under the name that async programs use. Its sync methods work as well."""


__all__ = ["AsyncSqliteSaver"]
