"""What kind of file a path names: a table of names and suffixes, and behind it the languages of Pygments."""

from functools import cache

from django.db import models
from pygments.lexers import get_all_lexers


class ResourceType(models.IntegerChoices):
    CODE = 1, "code"
    DOCUMENTATION = 2, "documentation"
    DATA = 3, "data"
    RESEARCH = 4, "research"
    GENERATED = 5, "generated"


CODE, DOCUMENTATION, DATA, RESEARCH, GENERATED = ResourceType

# Whole names without case, before anything else; of suffixes the longest that is known.
NAMES = {
    CODE: (
        "makefile gnumakefile jenkinsfile vagrantfile rakefile gemfile justfile procfile brewfile"
        " fastfile podfile appfile go.work gradlew mvnw configure cmakelists.txt meson.build .bashrc"
        " .zshrc .bash_profile .profile"
    ),
    DOCUMENTATION: (
        "readme license licence copying notice authors contributors maintainers codeowners changelog"
    ),
    DATA: (
        "go.mod pipfile requirements.txt constraints.txt robots.txt manifest.in py.typed cname .npmrc"
        " .nvmrc .python-version .ruby-version .node-version .tool-versions .gitignore .gitattributes"
        " .gitmodules .dockerignore .npmignore .prettierignore .eslintignore .editorconfig .mailmap"
        " .htaccess .gitkeep"
    ),
    GENERATED: (
        "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum go.work.sum"
        " packages.lock.json pubspec.lock .terraform.lock.hcl package.resolved .ds_store"
    ),
}
SUFFIXES = {
    CODE: (
        "py pyi js jsx mjs cjs ts tsx mts cts vue svelte astro mdx java kt kts scala go rs rb php c h"
        " cc cpp cxx hpp hh cs csx fs fsx swift m mm sh bash zsh fish ps1 bat cmd pl pm lua dart ex"
        " exs erl hs elm clj cljs groovy sql css scss sass less styl html htm xhtml haml pug hbs ejs"
        " erb jinja jinja2 j2 liquid proto thrift graphql gql prisma tf hcl nix zig nim cr jl v vb asm"
        " s sol cu glsl wgsl cmake mk dockerfile containerfile bzl bazel gradle feature ipp inl"
    ),
    DOCUMENTATION: ("md markdown rst adoc asciidoc org txt text pdf doc docx odt rtf ppt pptx odp epub man"),
    DATA: (
        "json json5 jsonc jsonl ndjson geojson yaml yml toml ini cfg conf config properties env plist"
        " csv tsv xml xsd parquet avro arrow feather orc db sqlite sqlite3 dump pkl npy npz h5 hdf5"
        " log po pot strings resx ics vcf xls xlsx ods pem crt cer key pub service desktop"
        " editorconfig lock.json png jpg jpeg gif webp avif svg ico icns bmp tif tiff heic psd ai eps"
        " sketch fig woff woff2 ttf otf eot mp3 wav ogg flac m4a aac mp4 webm mov avi mkv vtt srt zip"
        " gz tgz bz2 xz zst 7z tar rar jar war deb rpm dmg iso bin dat"
    ),
    RESEARCH: "bib tex ipynb r rmd qmd mat sav dta sas7bdat nb",
    GENERATED: (
        "map lock pyc pyo pyd class o obj a so dylib dll exe wasm whl egg min.js min.css min.mjs"
        " bundle.js chunk.js d.ts.map pb.go pb.cc pb.h pb.rb g.dart freezed.dart designer.cs"
        " generated.ts generated.js snap tsbuildinfo"
    ),
}
# The rest of a name behind these says which one of several it is: Dockerfile.web, .env.example.
STEMS = {
    CODE: "dockerfile containerfile makefile jenkinsfile",
    DATA: ".env",
}
ENDINGS = {GENERATED: "_pb2.py _pb2.pyi _pb2_grpc.py", DATA: "ignore rc"}
FOLDERS = {GENERATED: "node_modules __pycache__ .next .nuxt"}

Table = dict[str, ResourceType]


def type_of_path(path: str) -> ResourceType:
    """The type of a file by its name; documentation if that is unknown, as of a file without a suffix."""
    *folders, name = path.lower().split("/")
    if not FOLDER_TYPES.keys().isdisjoint(folders):
        return GENERATED
    return (
        NAME_TYPES.get(name)
        or _by_ending(name)
        or STEM_TYPES.get(name[: name.find(".", 1)] if "." in name[1:] else name)
        or _by_suffix(name, TYPE_OF_SUFFIX)
        or _by_pygments(name)
        or DOCUMENTATION
    )


def _table(words: dict[ResourceType, str]) -> Table:
    return {word: kind for kind, some in words.items() for word in some.split()}


NAME_TYPES, STEM_TYPES, TYPE_OF_SUFFIX = map(_table, (NAMES, STEMS, SUFFIXES))
ENDING_TYPES, FOLDER_TYPES = map(_table, (ENDINGS, FOLDERS))


def _by_ending(name: str) -> ResourceType | None:
    """By the end of a name that is no suffix: of generated code, and of dot files such as `.eslintrc`."""
    return next(
        (
            kind
            for ending, kind in ENDING_TYPES.items()
            if name.endswith(ending)
            and (kind is GENERATED or (name.startswith(".") and name.count(".") == 1))
        ),
        None,
    )


def _by_suffix(name: str, table: Table) -> ResourceType | None:
    """By the longest known suffix of a name."""
    parts = name.split(".")
    return next(
        (table[suffix] for n in range(1, len(parts)) if (suffix := ".".join(parts[n:])) in table), None
    )


def _by_pygments(name: str) -> ResourceType | None:
    """What is written in a language that Pygments can colour is code."""
    names, suffixes = _known_to_pygments()
    return names.get(name) or _by_suffix(name, suffixes)


@cache
def _known_to_pygments() -> tuple[Table, Table]:
    """The whole names and the suffixes of its languages, without those that are patterns."""
    lexers = get_all_lexers()  # type: ignore[no-untyped-call]
    patterns = {str(pattern).lower() for _, _, filenames, _ in lexers for pattern in filenames}
    suffixes = {pattern.removeprefix("*.") for pattern in patterns if pattern.startswith("*.")}
    return _as_code(patterns), _as_code(suffixes)


def _as_code(patterns: set[str]) -> Table:
    return {pattern: CODE for pattern in patterns if not set("*?[") & set(pattern)}
