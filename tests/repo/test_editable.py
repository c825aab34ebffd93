from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repo.editable import check_editable, site_packages

Environment = Callable[[Path], Path]

_SETUPTOOLS = """
import sys
MAPPING: dict[str, str] = {mapping}
NAMESPACES: dict[str, list[str]] = {namespaces}
PATH_PLACEHOLDER = '__editable__.proj-1.finder' + ".__path_hook__"
class _EditableFinder: pass
def install():
    sys.meta_path.append(_EditableFinder)
"""


def _hook(site: Path, text: str, name: str = "__editable___proj_1_finder") -> None:
    (site / "__editable__.proj-1.pth").write_text(f"import {name}; {name}.install()")
    (site / f"{name}.py").write_text(text)


def _python(site: Path) -> Path:
    return site.parent.parent.parent / "bin" / "python"


def test_site_packages_of_an_environment(tmp_path: Path, environment: Environment) -> None:
    site = environment(tmp_path / "env")
    assert site_packages(_python(site)) == (site,)


def test_plain_paths_are_put_first(project: Path, tmp_path: Path, environment: Environment) -> None:
    site = environment(tmp_path / "env")
    (tmp_path / "sibling").mkdir()
    (site / "a.pth").write_text(f"# {project}\n\n{project}/src\n{tmp_path}/sibling\n")
    (site / "easy-install.pth").write_text(f"{project}\n")
    (site / "relative.pth").write_text(os.path.relpath(project / "lib", site) + "\n")
    (site / "distutils-precedence.pth").write_text("import os; var = 'SETUPTOOLS_USE_DISTUTILS'\n")
    (project / "src").mkdir()
    assert check_editable(project, _python(site)) == (Path("src"), Path(), Path("lib"))


def test_links_to_the_project_are_seen_through(
    project: Path, tmp_path: Path, environment: Environment
) -> None:
    site = environment(tmp_path / "env")
    (project / "src").mkdir()
    (tmp_path / "alias").symlink_to(project)
    (site / "a.pth").write_text(f"{tmp_path}/alias/src\n")
    assert check_editable(project, _python(site)) == (Path("src"),)


def test_a_finder_that_is_asked_last_is_outrun(
    project: Path, tmp_path: Path, environment: Environment
) -> None:
    site = environment(tmp_path / "env")
    mapping = {"pkg": f"{project}/src/pkg", "mod": f"{project}/lib/mod.py", "other": "/elsewhere/other"}
    _hook(site, _SETUPTOOLS.format(mapping=mapping, namespaces={"space.name": [f"{project}/ns/space/name"]}))
    assert set(check_editable(project, _python(site))) == {Path("src"), Path("lib"), Path("ns")}


def test_editables_is_outrun(project: Path, tmp_path: Path, environment: Environment) -> None:
    site = environment(tmp_path / "env")
    (site / "_proj.pth").write_text("import _proj")
    (site / "_proj.py").write_text(
        f"from editables.redirector import RedirectingFinder as F\nF.install()\n"
        f"F.map_module('pkg', '{project}/src/pkg/__init__.py')\n"
    )
    assert check_editable(project, _python(site)) == (Path("src"),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_SETUPTOOLS.format(mapping="{'pkg': '@/source'}", namespaces="{}"), "another name"),
        ("import sys\nsys.meta_path.insert(0, object())\nDIR = '@/build'\n", "before PYTHONPATH"),
        ("import sys\nsys.meta_path.append(object())\nDIR = '@/build'\n", "unknown way"),
        ("DIR = '@/src'\nthis is no Python\n", "not readable"),
    ],
)
def test_what_can_t_be_outrun_is_refused_with_the_reason(
    project: Path, tmp_path: Path, environment: Environment, text: str, why: str
) -> None:
    site = environment(tmp_path / "env")
    _hook(site, text.replace("@", str(project)))
    with pytest.raises(UsageError, match=why) as caught:
        check_editable(project, _python(site))
    assert "bubblewrap" in caught.value.hint


def test_an_old_easy_install_and_code_in_a_pth_are_refused(
    project: Path, tmp_path: Path, environment: Environment
) -> None:
    site = environment(tmp_path / "env")
    old = "import sys; p=getattr(sys,'__egginsert',0); sys.__egginsert = p\n"
    (site / "easy-install.pth").write_text(f"{project}\n{old}")
    with pytest.raises(UsageError, match="before everything else"):
        check_editable(project, _python(site))
    (site / "easy-install.pth").write_text(f"import sys; sys.path.insert(0, '{project}/src')\n")
    with pytest.raises(UsageError, match="code of its own"):
        check_editable(project, _python(site))


def test_other_projects_and_no_installs_need_nothing(
    project: Path, tmp_path: Path, environment: Environment
) -> None:
    site = environment(project / ".venv")
    (site / "other.pth").write_text(f"{tmp_path}/proj-2/src\n{site}/vendored\n")
    (site / "broken.pth").write_bytes(b"\xff\xfe\0bad\n")
    assert check_editable(project, _python(site)) == ()
