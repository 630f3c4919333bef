"""A graph's schemas as Pydantic models and as JSON schema. Needs Pydantic, and only when asked."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, get_type_hints


def _pydantic() -> Any:
    try:
        import pydantic  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError(
            "A graph's schemas are described by Pydantic models: pip install pydantic"
        ) from error
    return pydantic


def is_model(schema: Any) -> bool:
    """Whether a schema is a Pydantic model."""
    return inspect.isclass(schema) and hasattr(schema, "model_fields")


def model_of(schema: Any, name: str) -> Any:
    """A Pydantic model of a state schema.

    Raises:
        ImportError: Pydantic is not installed.
    """
    pydantic = _pydantic()
    if dataclasses.is_dataclass(schema):
        hints = get_type_hints(schema, include_extras=True)
        fields = {
            f.name: (hints[f.name], _default(f, pydantic)) for f in dataclasses.fields(schema)
        }
        return pydantic.create_model(name, **fields)

    def model_json_schema(cls: Any, *args: Any, **options: Any) -> dict[str, Any]:
        return _json_of_root(schema, name, pydantic)

    root = pydantic.RootModel[schema]
    own = {"model_json_schema": classmethod(model_json_schema), "__module__": __name__}
    return type(root)(name, (root,), own)


def channel_model(name: str, types: Any) -> Any:
    """A Pydantic model of one channel's type, or of several by name, none of them required."""
    pydantic = _pydantic()
    if isinstance(types, dict):
        return pydantic.create_model(name, **{k: (typ, None) for k, typ in types.items()})
    if is_model(types):
        return types
    if types is None:
        return pydantic.create_model(name)
    root = pydantic.RootModel[types]
    return type(root)(name, (root,), {"__module__": __name__})


def _default(field: Any, pydantic: Any) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return pydantic.Field(default=field.default_factory())
    return ...


def _json_of_root(schema: Any, name: str, pydantic: Any) -> dict[str, Any]:
    found: dict[str, Any] = pydantic.TypeAdapter(schema).json_schema()
    return found if "title" in found else {"default": None, **found, "title": name}


def json_of(schema: Any) -> dict[str, Any] | None:
    """The JSON schema of a context schema, or None without one."""
    if schema is None:
        return None
    if is_model(schema):
        found: dict[str, Any] = schema.model_json_schema()
        return found
    return dict(_pydantic().TypeAdapter(schema).json_schema())


def answer_schema(schema: Any) -> dict[str, Any] | None:
    """What an answer has to be like, as JSON schema or None; a dictionary is one already."""
    return schema if isinstance(schema, dict) else json_of(schema)


def fitted(schema: Any, answer: Any) -> Any:
    """An answer as its schema makes it; without one, or with a JSON schema, as it is.

    Raises:
        pydantic.ValidationError: it does not fit.
    """
    if schema is None or isinstance(schema, dict):
        return answer
    pydantic = _pydantic()
    try:
        return pydantic.TypeAdapter(schema).validate_python(answer)
    except pydantic.ValidationError as error:
        error.invalid_resume = True  # see `ckpt_viz.errors.is_invalid_resume`
        raise


def config_model(schema: Any, name: str, include: Any) -> Any:
    """A model of the config that a graph takes: its context, and the asked fields."""
    pydantic = _pydantic()
    fields: dict[str, Any] = {"configurable": (schema, None)} if schema is not None else {}
    known = {"tags": list[str], "metadata": dict[str, Any], "recursion_limit": int, "run_name": str}
    for key in include or ():
        if key in known:
            fields[key] = (known[key], None)
    return pydantic.create_model(name, **fields)
