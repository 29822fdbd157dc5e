"""OmegaConf resolvers: one benchmark and one variant are chosen by name, before anything runs."""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from benchwright.core.errors import InputError

KIND = {"_benchmarks": "benchmark", "_variants": "variant"}


def _pick(root: DictConfig, group: str, name: str) -> DictConfig:
    known = root.get(group) or {}
    if name not in known:
        kind = KIND.get(group, group)
        raise InputError(
            f"{kind}={name!r} is not known; conf has {', '.join(sorted(map(str, known)))}"
        )
    chosen: DictConfig = known[name]
    return chosen


def choose(
    group: str, name: str, section: str | None = None, default: Any = None, *, _root_: DictConfig
) -> Any:
    """`${choose:_benchmarks,arc}` or `${choose:_benchmarks,arc,filter_models}`.

    Raises:
        InputError: the group has no such name; the message lists those it has.
    """
    chosen = _pick(_root_, group, str(name))
    if section is None:
        return chosen
    value = chosen.get(section)
    return default if value is None else value


def settings(
    section: str, variant: str, benchmark: str, mode: str | None = None, *, _root_: DictConfig
) -> DictConfig:
    """One section of a variant with the benchmark's overrides merged on top.

    `mode` is `--params score=…`: anything but `benchmark` replaces `mode` of the section.
    """
    layers = [
        _pick(_root_, "_variants", str(variant)).get(section) or {},
        _pick(_root_, "_benchmarks", str(benchmark)).get(section) or {},
    ]
    if mode not in (None, "benchmark"):
        layers.append({"mode": mode})
    return OmegaConf.merge(*layers)


def of_run(
    section: str,
    variant: str,
    benchmark: str,
    given: Any,
    name: str | None = None,
    *,
    _root_: DictConfig,
) -> Any:
    """A section as the run has it, or one of its values (None where it has none): for the catalog.

    `given` is what `--params` says of it:
    `${of_run:difficulty,${_v},${_b},${runtime_params:difficulty,{}},answers_file}`.
    """
    told = given if isinstance(given, dict | DictConfig) else {}
    merged = OmegaConf.merge(settings(section, variant, benchmark, _root_=_root_), told)
    return merged if name is None else merged.get(name)
