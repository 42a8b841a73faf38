"""The type of a file by its name."""

import pytest

from tracking.files.types import SUFFIXES, ResourceType, type_of_path

OF_TYPE = {
    ResourceType.CODE: (
        "src/app.py web/Basket.tsx web/App.vue lib.rs Dockerfile docker/Dockerfile.web"
        " web.dockerfile Makefile Makefile.in CMakeLists.txt infra/main.tf page.html style.scss"
        " Jenkinsfile Rakefile Gemfile justfile build.gradle.kts schema.graphql query.sql types.d.ts"
        " src/lib.mts a.spec.tsx .bashrc script.coffee app.component.ts Vagrantfile kernel.cu"
        " .eslintrc.js"
    ),
    ResourceType.DOCUMENTATION: (
        "README README.md LICENSE LICENSE.txt docs/guide.rst notes.txt CHANGELOG manual.pdf notes"
        " unknown.qqq CONTRIBUTING.md docs/json"
    ),
    ResourceType.DATA: (
        ".env .env.example .env.local pyproject.toml Cargo.toml package.json tsconfig.json app.yaml"
        " logo.png photo.JPG icon.svg fonts/inter.woff2 rows.csv db.sqlite3 .gitignore .editorconfig"
        " requirements.txt go.mod .eslintrc .prettierrc .dockerignore intro.mp4 backup.tar.gz"
        " messages.po data.parquet server.crt"
    ),
    ResourceType.RESEARCH: ("paper.tex refs.bib study.ipynb model.R"),
    ResourceType.GENERATED: (
        "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock Cargo.lock uv.lock go.sum"
        " composer.lock Gemfile.lock app.min.js app.js.map style.min.css lib.pyc x_pb2.py api.pb.go"
        " a/node_modules/react/index.js main.wasm __snapshots__/a.snap"
    ),
}


@pytest.mark.parametrize(
    ("path", "kind"), [(path, kind) for kind, paths in OF_TYPE.items() for path in paths.split()]
)
def test_a_file_has_the_type_of_its_name(path: str, kind: ResourceType) -> None:
    assert type_of_path(path) is kind


def test_no_suffix_has_two_types() -> None:
    words = [word for some in SUFFIXES.values() for word in some.split()]
    assert len(words) == len(set(words))


def test_each_suffix_of_the_table_is_found_whatever_the_name() -> None:
    wrong = {
        suffix: type_of_path(f"Some/Folder/name.{suffix.upper()}")
        for kind, some in SUFFIXES.items()
        for suffix in some.split()
        if type_of_path(f"Some/Folder/name.{suffix.upper()}") is not kind
    }
    assert wrong == {}
