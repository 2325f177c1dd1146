"""Copied results are taken over whatever their number."""

from blimpworks.audit.stale import ROOM, command_lines


def test_more_products_than_a_command_line_can_name_are_taken_over_in_parts():
    names = [f"results/exhibits/table-{number:06d}.csv" for number in range(100_000)]
    parts = [*command_lines(names)]
    assert len(parts) > 1
    assert [name for part in parts for name in part] == names
    assert all(sum(len(name) + 1 for name in part) <= ROOM for part in parts)
    assert [*command_lines([])] == []
