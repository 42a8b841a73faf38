"""A path with braces, a `!` or an extended glob by which a file is known is that file alone."""

import pytest

from ctxhub.core.kit.inputs import clean_asked_globs, clean_glob_list, clean_paths
from ctxhub.core.text.glob_syntax import reads_otherwise

NAMES = {"src/{a,b}.py", "!note.md", "c+(old).c", "{a,b}" * 7}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_known_name_is_no_glob(name: str) -> None:
    assert reads_otherwise(name)
    assert clean_glob_list([name], "paths", is_name=NAMES.__contains__) == [name]
    assert clean_asked_globs(name, "path", is_name=NAMES.__contains__) == [name]


def test_where_files_can_be_exempted_a_known_name_exempts_none() -> None:
    paths = ["src/{a,b}.py", "!note.md", "!src/c.py"]
    assert clean_paths(paths, "paths", is_name=NAMES.__contains__) == [
        "src/{a,b}.py",
        "?note.md",
        "!src/c.py",
    ]


@pytest.mark.parametrize("path", ["src/a.py", "{x}", "app/(auth)/[id].tsx", "a!b", "a,b"])
def test_most_paths_need_no_look_up(path: str) -> None:
    assert not reads_otherwise(path)
