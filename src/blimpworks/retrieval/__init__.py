"""Files from outside: pinned, downloaded, resumed, checked."""
