"""Define files of settings, which rules declare as inputs."""

import yaml

# {file name: content, or function that returns it}; files of rules add theirs.
SETTINGS = {}


def settings_file(name, content):
    """Declare a file of settings, and return its path. ``content`` may be a function without arguments."""
    SETTINGS[name] = content
    folder = os.environ.get("BLIMPWORKS_SETTINGS")
    if not folder:
        return f"{RESULTS}/settings/{name}"
    # `blimpworks check` plans a run with settings in another folder, to change no result.
    Path(folder, name).write_text(settings_text(name), encoding="utf-8")
    return f"{folder}/{name}"


def settings_text(name):
    """Return the text of a file of settings."""
    content = SETTINGS[name]
    content = content() if callable(content) else content
    if name.endswith(".json"):
        return json.dumps(content, indent=1)
    return yaml.safe_dump(content, sort_keys=False).rstrip()
