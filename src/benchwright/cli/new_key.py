"""`benchwright new-key`: a key to seal benchmarks with."""

from pathlib import Path

import click

from benchwright.cli.command import Command
from benchwright.cli.options import FILE
from benchwright.core.progress import say
from benchwright.methods.mmlu_cf.sealing.key import write_new_key


@click.command(cls=Command)
@click.argument("file", type=FILE)
def new_key_command(file: Path) -> None:
    """Write a new key to FILE, to seal benchmarks with.

    Only you can read the file, and an existing file is never replaced. Keep a copy of the key in a
    safe place: without it a closed half is lost.
    """
    write_new_key(file)
    say(f"key: {file}  (--params sealing.key_file={file})")
