"""Every error says what to type: the rules, held against all messages of the package.

A message of `InvalidArgument.of` is a rule about one argument: what it must be. What depends on another argument is a
sentence that says what needs what, or what to give, use, write or leave out.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = {"InvalidArgument", "UnknownTarget"}
LONGEST = 160  # characters of the fixed parts of an error
ABOUT_ANOTHER = re.compile(r"^not |^be (?:given|left out)\b|\bonly there\b|\bunless\b|\bwhen `")
SAYS_WHAT_TO_TYPE = re.compile(
    r" must |\bneeds (?:`|a |one |the )|\b(?:give|use|write|name|add|delete|choose|leave|set|wait for|run)\b|`dp-audit "
)


def text_of(node):
    """The fixed parts of a message; None where a variable holds it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def faults_of_messages(source):
    """What is wrong with the messages of a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = ast.unparse(node.func)
        if called == "InvalidArgument.of" and (rule := text_of(node.args[1])) and ABOUT_ANOTHER.search(rule):
            found.append(f"{node.lineno}: {rule!r} is about another argument: say in a sentence what to type")
        if called in SENTENCES and (said := text_of(node.args[0])):
            if not SAYS_WHAT_TO_TYPE.search(said) and not said.startswith("{}"):  # another error says it
                found.append(f"{node.lineno}: {said!r} does not say what to type")
            if len(said) > LONGEST:
                found.append(f"{node.lineno}: {said!r} is longer than {LONGEST} characters")
    return found


def test_every_error_says_what_to_type():
    sources = {path: path.read_text() for path in sorted((ROOT / "audit").rglob("*.py"))}
    assert sum("InvalidArgument" in source for source in sources.values()) > 20
    found = {path.name: faults for path, source in sources.items() if (faults := faults_of_messages(source))}
    assert not found


@pytest.mark.parametrize(
    "call",
    [
        """InvalidArgument.of("method", "not be 'exact' for a mechanism without law", "exact")""",
        """InvalidArgument.of("rate", f"be given for sampling {kind}, and only there", None)""",
        """InvalidArgument("`event` has no exact loss here")""",
        f"""InvalidArgument("give {"more " * 40}")""",
    ],
)
def test_a_message_that_breaks_a_rule_is_found(call):
    assert len(faults_of_messages(f"raise {call}")) == 1


@pytest.mark.parametrize(
    "call",
    [
        """InvalidArgument.of("method", "be one of auto, fixed", "exact")""",
        """InvalidArgument("method='exact' needs a stated law: use method='auto'")""",
    ],
)
def test_a_message_that_keeps_the_rules_is_not(call):
    assert not faults_of_messages(f"raise {call}")
