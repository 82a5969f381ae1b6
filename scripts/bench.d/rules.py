# SPDX-License-Identifier: Apache-2.0

"""The settings of all clusters of scripts/bench: rules that are switched off, and the deadline of every wait."""

# Seconds. A deadline aborts a hanging run. No figure depends on it, and a busy machine does not reach it.
HANG_GUARD = 60

# The settings of every cluster. They switch off the rules that limit or delay the measured work and that no figure
# measures. A figure that measures one of these rules names its setting in `Cluster(measured=…)`, and the device's own value
# then applies. A new rule that delays reloads, transfers or launches needs its line here.
SWITCHED_OFF = {
    # The budget of reloads and the minimum spacing between two reloads of one placement.
    "developerMode": "true",
    # The resume rate limiter, which delays what an extension creates in the background after a wake.
    "limiterFirst": 0,
    # The deadlines of the author's code. The device terminates or fails what exceeds them.
    "timelineDeadline": HANG_GUARD,
    "callDeadline": HANG_GUARD,
    "completionDeadline": 600,
    # Unacknowledged events are redelivered only by a new host, which is what `host` measures.
    "redeliverAfter": 600,
    # An advance of the clock waits this long for the work that it starts. Other work would not be measured.
    "advancePatience": 240,
    # The end of an extension that has been suspended for long: no figure measures the launch that follows.
    "endIdleAfter": 0,
    # Memory is sampled as usual. Only the limit is out of reach, because a debug build needs more.
    "extensionMemoryLimit": 4096,
}


def push_server():
    """The line of `pushServer` in widgetlab.yaml: nothing waits because of its low priority."""
    return ["pushServer: {priority5Interval: 0, priority1Interval: 0, backgroundInterval: 0}"]


def settings(own=None, measured=()):
    """The lines of `settings` in widgetlab.yaml.

    `own` are the settings of one cluster and replace those of all. `measured` names settings that keep the device's value.
    """
    unknown = set(measured) - set(SWITCHED_OFF)
    if unknown:
        raise ValueError(f"not in SWITCHED_OFF, so they cannot be in `measured`: {', '.join(sorted(unknown))}")
    chosen = {name: value for name, value in SWITCHED_OFF.items() if name not in measured} | (own or {})
    return ["settings:"] + [f"  {name}: {value}" for name, value in chosen.items()]
