"""Files of settings, which rules declare as inputs."""

import yaml

# File name and content; papers add those of their stages.
SETTINGS = {}


def settings_file(name, content):
    """Declare a file of settings, and return its path; a function is called when it is needed."""
    SETTINGS[name] = content
    # To learn what a run would do, `blimpworks check` has them written elsewhere.
    if folder := os.environ.get("BLIMPWORKS_SETTINGS"):
        Path(folder, name).write_text(settings_text(name), encoding="utf-8")
    return f"{folder or f'{RESULTS}/settings'}/{name}"


def settings_text(name):
    """Text of a file of settings."""
    content = SETTINGS[name]
    content = content() if callable(content) else content
    if name.endswith(".json"):
        return json.dumps(content, indent=1)
    return yaml.safe_dump(content, sort_keys=False).rstrip()
