# SPDX-License-Identifier: Apache-2.0
"""The state of a vault: docs/format/vault.md, sections State and Sequence.

It is computed twice, from all commits and from checkpoints with the commits that they do not cover,
by code that has nothing in common but the records.
"""

from dataclasses import dataclass

from entries import Entry


@dataclass(frozen=True, eq=False)
class Version:
    commit: bytes
    index: int
    made: tuple
    entry: Entry
    segments: list  # the table that the entry's blobs refer to

    def key(self):
        return self.commit, self.index


def from_commits(commits):
    """The live versions of {id: Commit}, by key."""
    replaced = {version for commit in commits.values() for version in commit.replaced()}
    return {(commit_id, index): Version(commit_id, index, commit.made, entry, commit.segments)
            for commit_id, commit in commits.items()
            for index, entry in enumerate(commit.entries) if (commit_id, index) not in replaced}


class _Part:
    """A set of commits with their live versions, and the versions of others that they replace."""

    def __init__(self, commits, live, tombstones):
        self.commits, self.live, self.tombstones = commits, live, tombstones

    @staticmethod
    def of_checkpoint(checkpoint):
        live = {}
        for c, index, entry in checkpoint.live:
            covered = checkpoint.covered[c]
            version = Version(covered.id, index, covered.made, entry, checkpoint.segments)
            live[version.key()] = version
        tombstones = {(checkpoint.table[c], index) for c, index in checkpoint.tombstones}
        return _Part({c.id for c in checkpoint.covered}, live, tombstones)

    @staticmethod
    def of_commit(commit_id, commit):
        return _Part({commit_id}, from_commits({commit_id: commit}), set(commit.replaced()))

    def keeps(self, version):
        """Whether the version can be live as far as this part knows."""
        commit, _ = version
        return version in self.live if commit in self.commits else version not in self.tombstones


def from_checkpoints(checkpoints, commits):
    """The live versions of checkpoints merged with the commits that none of them covers."""
    parts = [_Part.of_checkpoint(checkpoint) for checkpoint in checkpoints]
    covered = set().union(*[part.commits for part in parts]) if parts else set()
    parts += [_Part.of_commit(i, c) for i, c in commits.items() if i not in covered]
    return {key: version for part in parts for key, version in part.live.items()
            if all(other.keeps(key) for other in parts)}


def by_path(live):
    """{path: live versions, the current one first}"""
    paths = {}
    for version in live.values():
        paths.setdefault(version.entry.path, []).append(version)
    for versions in paths.values():
        versions.sort(key=lambda v: (v.made, v.commit), reverse=True)
    return dict(sorted(paths.items()))


def sequence_reports(commits, checkpoints):
    """What is missing or forked, in words. Without a memory: nothing here is merely pending."""
    there, highest, reports = {}, {}, []
    for commit_id, commit in commits.items():
        there.setdefault((commit.writer, commit.seq), set()).add(commit_id)
    for checkpoint in checkpoints:
        for covered in checkpoint.covered:
            there.setdefault((covered.writer, covered.seq), set()).add(covered.id)
            if covered.id not in commits:
                reports.append(f"the covered commit {covered.id.hex()} is not there")
    pairs = list(there) + [pair for c in commits.values() for pair in c.vector]
    pairs += [pair for c in checkpoints for pair in c.vector]
    for writer, seq in pairs:
        highest[writer] = max(seq, highest.get(writer, 0))
    for writer, last in sorted(highest.items()):
        numbers = {seq for other, seq in there if other == writer}
        gaps = last - len(numbers)
        if gaps:
            first = next(n for n in range(1, last + 1) if n not in numbers)
            reports.append(f"{gaps} commits of writer {writer.hex()} are missing, first {first}")
    reports += [f"fork of writer {writer.hex()} at {seq}"
                for (writer, seq), ids in sorted(there.items()) if len(ids) > 1]
    for commit_id, commit in commits.items():
        before = commits.get(commit.previous)
        if before and (before.writer, before.seq + 1) != (commit.writer, commit.seq):
            reports.append(f"commit {commit_id.hex()} does not follow the one it names")
    return reports
