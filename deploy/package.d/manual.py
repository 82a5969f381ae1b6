# SPDX-License-Identifier: Apache-2.0

"""Writes the manual pages from the tool's description of its commands.

Usage: manual.py DUMP.json VERSION EPOCH FOLDER

DUMP.json is the output of `widgetlab --experimental-dump-help`, EPOCH the time of the pages in seconds. FOLDER gets
widgetlab.1 and a page for each command, which describes the commands below it too.
"""

import json
import os
import sys
import time

# What roff interprets, or prints as another character. The first is the first that is replaced.
SPECIAL = {"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "~": "\\(ti", "^": "\\(ha"}


def text(value):
    """A text in roff, without the characters that it interprets."""
    for letter, name in SPECIAL.items():
        value = value.replace(letter, name)
    value = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in value)
    return "\\&" + value if value.startswith(".") else value


def bold(value):
    """A text in bold letters."""
    return f"\\fB{text(value)}\\fR"


def paragraphs(value):
    """A longer text. Indented lines keep their form, and a line in capitals is a heading."""
    lines, kept, gap = [], False, False
    for line in value.splitlines():
        if not line.strip():
            gap = True
            continue
        indented = line.startswith(" ")
        if indented != kept:
            lines.append(".nf" if indented else ".fi")
            kept = indented
            gap = gap or not indented
        if line.isupper() and not indented:
            lines.append(f".SH {text(line.strip())}")
        else:
            if gap and lines[-1:] not in ([], [".nf"]) and not lines[-1].startswith(".SH"):
                lines.append(".PP")
            lines.append(text(line.rstrip()))
        gap = False
    return lines + ([".fi"] if kept else [])


def spelled(argument):
    """The names of an argument, with its value."""
    if argument["kind"] == "positional":
        return [f"\\fI{text(argument['valueName'])}\\fR"]
    names = [("-" if name["kind"] != "long" else "--") + name["name"] for name in argument["names"]]
    value = f" \\fI{text(argument['valueName'])}\\fR" if argument["kind"] == "option" else ""
    return [bold(name) + value for name in names]


def shown(command):
    """The arguments of a command that its help shows."""
    return [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]


def synopsis(path, command):
    """How a command is called."""
    words = [bold(" ".join(path))]
    for argument in shown(command):
        word = spelled(argument)[-1] + (" ..." if argument["isRepeating"] else "")
        words.append(f"[{word}]" if argument["isOptional"] else word)
    if children(command):
        words.append("\\fIcommand\\fR")
    return " ".join(words)


def children(command):
    """The commands below a command, without that for help."""
    return [
        child for child in command.get("subcommands", []) if child["shouldDisplay"] and child["commandName"] != "help"
    ]


def arguments(command):
    """The list of the arguments."""
    lines = []
    for argument in shown(command):
        lines += [".TP", ", ".join(spelled(argument))]
        description = argument.get("abstract") or argument["valueName"]
        if "defaultValue" in argument and "default" not in description:
            description += f" (default: {argument['defaultValue']})"
        lines += [text(line.strip()) for line in description.splitlines() if line.strip()]
    return lines


def below(path, command):
    """A section for each command below a command."""
    lines = []
    for child in children(command):
        name = [*path, child["commandName"]]
        lines += [f".SH {text(' '.join(name).upper())}", synopsis(name, child), ".PP", text(child.get("abstract", ""))]
        lines += paragraphs(child.get("discussion", "")) + arguments(child) + below(name, child)
    return lines


def page(path, command, facts, section):
    """A page, whose last part is a separate section."""
    name = "-".join(path)
    abstract = command.get("abstract", "").rstrip(".")
    lines = [".\\\" SPDX-License-Identifier: Apache-2.0", f".TH {text(name.upper())} 1 {facts}", ".ad l", ".SH NAME"]
    lines += [f"{text(name)} \\- {text(abstract)}", ".SH SYNOPSIS", synopsis(path, command)]
    if command.get("discussion"):
        heading = [".SH DESCRIPTION"] if not command["discussion"].splitlines()[0].isupper() else []
        lines += heading + paragraphs(command["discussion"])
    if shown(command):
        lines += [".SH OPTIONS", *arguments(command)]
    return "\n".join(lines + section) + "\n"


def main():
    with open(sys.argv[1]) as file:
        tool = json.load(file)["command"]
    version, epoch, folder = sys.argv[2], int(sys.argv[3]), sys.argv[4]
    facts = f'{time.strftime("%Y-%m-%d", time.gmtime(epoch))} "WidgetLab {version}"'
    name = tool["commandName"]
    os.makedirs(folder, exist_ok=True)
    commands = [".SH COMMANDS"]
    for command in children(tool):
        path = [name, command["commandName"]]
        commands += [".TP", f"{bold(command['commandName'])}", text(command.get("abstract", ""))]
        with open(f"{folder}/{'-'.join(path)}.1", "w") as file:
            also = [".SH SEE ALSO", f".BR {text(name)} (1)"]
            file.write(page(path, command, facts, below(path, command) + also))
    commands += [".PP", f"Each command has a page, such as {bold(name + '-run')}(1)."]
    with open(f"{folder}/{name}.1", "w") as file:
        file.write(page([name], tool, facts, commands))


if __name__ == "__main__":
    main()
