"""Parts that this extension adds: audits of outputs, scores and counts from files."""

from audit.api import Command, Plugin

_HERE = "audit.extensions.files."
PLUGIN = Plugin(
    name="files",
    commands={
        "check": Command(f"{_HERE}function:function_command", "Audit one function, on a pair of datasets or a search."),
        "outputs": Command(f"{_HERE}commands:outputs_command", "Audit outputs from two files."),
        "scores": Command(f"{_HERE}commands:scores_command", "Audit attack scores of one training run from a file."),
        "confusion": Command(f"{_HERE}commands:confusion_command", "Bound epsilon by a confusion matrix."),
    },
    names={
        f"{_HERE}confusion": ("EpsilonInterval", "delta_lower_bound", "epsilon_interval"),
        f"{_HERE}outputs": ("check_outputs",),
    },
)
