"""Tasks made by rule from public repositories whose commits cite decision records.

Nothing is chosen or reworded by hand. `repositories.json` names the repositories and the commit at which
each is read; none of their text is kept here. All texts are those of that commit, messages those of its
ancestors. A repository is in the list if it has ten records or more, seven of ten of them with a section
Decision, and gives five tasks or more that cite three records or more; or if it has fifty rules or more, a
third of them with paths of ten kinds.

**Decisions.** The numbered Markdown files (`0012-title.md`, `adr-012-title.md`) of the folder that has most
of them, among `adr`, `decisions`, `architecture` and the like; no templates, and no number that two files
share. The key is the name of the file, the value the first paragraphs of the section Decision (else the
title and the first paragraphs), the rationale those of Context, Consequences and so on. Paths: files, and
folders of two levels or more, that the text names and the repository has. Superseded records stay active. A
line that quotes a commit that cites the record is left out: its hash, its number of a pull request or its
subject.

**Rules** become constraints. They are list items and sentences of AGENTS.md, CLAUDE.md, CONTRIBUTING.md,
the rules of Cursor, Claude Code and Copilot, that begin with a verb of order or have must, never, always,
should and the like; priority high with must, never or always, else medium. Paths: globs of the front
matter; else files, folders and globs that the text names; else the folder of a file that is not at the
root. At most `MOST_RULES` of a repository, evenly spread.

**Notes** become memories: the sections of README files and of docs/ that are neither records nor rules, at
most `MOST_NOTES` of a repository, evenly spread.

**Tasks.** Commits, no merges, whose message cites one to three records: "ADR-0012", "ADRs 12 and 13",
"adr/0012" or the name of the file. Left out: commits that touch nothing but prose, or more than 60 files,
bumps of dependencies, reverts, answers to a review; and the citation of a record that the commit itself
adds, as nobody could know it before. The task is the subject without the citation, the title of the record,
and numbers of issues; one of fewer than three words, that still speaks of ADRs, or with the subject of
another, is no task. At most `MOST_TASKS` of a repository, evenly spread over its history. Right are the
records cited. The paths of a task are the first and the last by name of the files that it touches and the
pinned commit still has, without prose, lock files, records and tests (tests where there is nothing else);
without one it is no task. Every third task, by its number in its repository, is held out.

**Tasks of rules.** Those of the newest `NEWEST` commits that cite no record, and a path of which a rule
names; the rest as above, at most `MOST_RULE_TASKS` of a repository. The most specific rules of a task are
those whose glob fixes most folders of one of its paths; often several of one folder.
"""
