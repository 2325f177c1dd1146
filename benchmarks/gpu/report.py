"""Write the results of measurements as Markdown."""

GOALS = {"1b": 120_000, "8b": 25_000}
"""Wanted speed by shape: scored tokens per second in bfloat16 on one H100 or H200."""
SERVED = 0.9
"""Wanted speed of a vLLM server, as a share of the speed in process."""


def cell(value):
    """Return a table's cell: three significant digits, with commas between thousands."""
    if value is None:
        return ""
    if isinstance(value, float):
        if value and abs(value) < 0.01:
            return f"{value:.0e}"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows):
    """Return the lines of a table. Columns are the names in rows, in order, without empty ones."""
    names = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    if not names:
        return []
    texts = {name: any(isinstance(row.get(name), str) for row in rows) for name in names}
    lines = [
        f"| {' | '.join(names)} |",
        f"|{'|'.join('---' if texts[n] else '--:' for n in names)}|",
    ]
    cells = [[cell(row.get(name)).replace("|", "/") for name in names] for row in rows]
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells)]


def rows_of(results, name):
    """Return the rows that a measurement wrote, also if it did not end."""
    return results["measurements"].get(name, {}).get("rows", [])


def rates(results, shape):
    """Return scored tokens per second by engine, with the model of a shape."""
    names = [f"{step}-{shape}" for step in ("transformers", "in_process", "served")]
    rows = [row for name in names for row in rows_of(results, name)]
    return {row["engine"]: row["tokens/s"] for row in rows if "tokens/s" in row}


def goal_rows(results):
    """Return a row for each goal that was measured: goal, result, and whether it is reached."""
    rows = []
    for shape in results["settings"]["shapes"]:
        speed = rates(results, shape)
        if shape in GOALS and speed:
            best = max(speed, key=speed.get)
            reached = "yes" if speed[best] >= GOALS[shape] else "no"
            goal = f"{shape}: {GOALS[shape]:,} tokens/s"
            rows.append({"goal": goal, "measured": speed[best], "by": best, "reached": reached})
        pair = [speed.get(f"vLLM, {mode}") for mode in ("served", "in process")]
        if all(pair):
            ratio = pair[0] / pair[1]
            goal = f"{shape}: served at least {SERVED} of in process"
            row = {"goal": goal, "measured": ratio, "reached": "yes" if ratio >= SERVED else "no"}
            rows.append(row)
    return rows


def with_share(rows, peak):
    """Return rows with their teraflops as a share of the peak of matrix products [teraflops]."""
    if not peak:
        return rows
    return [
        row | {"share of peak": row["teraflops"] / peak} if "teraflops" in row else row
        for row in rows
    ]


def markdown(results):
    """Return the report on results, which are those in gpu.json."""
    settings = results["settings"]
    peaks = {row["format"]: row["peak, teraflops"] for row in rows_of(results, "machine")[:2]}
    lines = [
        "# Speed on a GPU",
        "",
        f"Models {', '.join(settings['shapes'])} with random weights, in {settings['dtype']}. "
        "`tokens/s`: scored tokens of distinct sentences per second, from the items to the scores "
        "table, with a loaded model. `share of peak`: teraflops, divided by those of a large "
        "matrix product in the same number format. Goals: one H100 or H200 in bfloat16.",
        "",
        *table(goal_rows(results)),
    ]
    for name, result in results["measurements"].items():
        lines += ["", f"## {name}", "", result["title"], ""]
        lines += table(with_share(result.get("rows", []), peaks.get(settings["dtype"])))
        if result["status"] != "done":
            error = result.get("error", "")
            lines += ["", f"**{result['status']}**{f': {error}' if error else ''}"]
    return "\n".join(lines) + "\n"
