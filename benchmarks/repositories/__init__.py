"""Tasks made by rule from public repositories whose commits cite decision records.

Nothing is chosen or reworded by hand. `repositories.json` names the repositories and the commit at which each is
read; none of their text is kept here. All texts are those of that commit, messages those of its ancestors.

**Decisions.** The numbered Markdown files (`0012-title.md`, `adr-012-title.md`) of the folder that has most of them,
among `adr`, `decisions`, `architecture` and the like; no templates, and no number that two files share. The key is
the name of the file, the value the first paragraphs of the section Decision (else the title and the first
paragraph), the rationale those of Context, Consequences and so on. Paths: files, and folders of two levels or more,
that the text names and the repository has. Superseded records stay active. A line that quotes a task is left out:
its hash, its number of a pull request or its subject.

**Rules** become constraints. They are list items and sentences of AGENTS.md, CLAUDE.md, CONTRIBUTING.md, Cursor's
and Copilot's rules that begin with a verb of order or have must, never, always, should and the like; high priority
with must, never or always, else medium. Paths: globs of the front matter; else files, folders and globs that the text
names; else the folder of a file that is not at the root. At most `MOST_RULES` of a repository, evenly spread.

**Notes** become memories: the sections of README files and of docs/ that are neither records nor rules, at most
`MOST_NOTES` of a repository, evenly spread.

**Tasks.** Commits, no merges, whose message cites one to three records: "ADR-0012", "ADRs 12 and 13",
"adr/0012" or the file's name. Left out: commits that touch no file but prose, more than 60 files, bumps of
dependencies, reverts; and a citation of a record that the commit itself adds, as nobody could know it before. The
task is the subject without the citation, the record's title, and numbers of issues; fewer than three words, or a
subject again, are no task. At most `MOST_TASKS` of a repository, evenly spread over its history. Right are the records
cited. The paths of a task are the first and the last by name of the files that it touches and the pinned commit
still has, without prose, lock files and tests (tests where there is nothing else); without one it is no task.
Every third task, by its number in its repository, is held out.
"""
