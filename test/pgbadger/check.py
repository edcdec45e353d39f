"""Whether pgBadger's figures of the three forms of a log are the same, and those of what was done."""
import json
import sys


def figures(path):
    with open(path) as file:
        found = json.load(file)
    overall, database = found["overall_stat"], "postgres"
    queries = {text: one["count"] for text, one in found["normalyzed_info"][database].items()}
    errors = {text: one["count"] for text, one in found["error_info"][database].items() if text.startswith("ERROR")}
    return {
        "queries": overall["queries_number"],
        "of which reads": overall[database]["select"],
        "sessions": found["session_info"][database]["count"],
        "connections": found["connection_info"][database]["count"],
        "lengths of sessions": found["session_info"][database]["duration"] > 0,
        "errors": found["logs_type"][database]["ERROR"],
        "divisions by zero": errors.get("ERROR:  division by zero"),
        "checkpoints": found["checkpoint_info"]["starting"],
        "temporary files": found["tempfile_info"][database]["count"],
        "bytes of them": found["tempfile_info"][database]["size"],
        "waits for locks": found["lock_info"][database]["ShareLock"]["transaction"],
        "the same query": queries.get("select b from t where a = ?;"),
        "kinds of queries": sorted(queries.items()),
        "users": sorted(found["user_info"][database]),
    }


def main():
    first, *others = [figures(path) for path in sys.argv[1:]]
    wrong = [name for other in others for name in first if other[name] != first[name]]
    assert not wrong, f"the forms of the log differ in {wrong}: {first} {others}"
    expected = {"errors": 4, "divisions by zero": 2, "the same query": 10, "users": ["postgres"]}
    wrong = {name: first[name] for name in expected if first[name] != expected[name]}
    assert not wrong, f"{wrong}, not {expected}"
    assert first["checkpoints"] == {"immediate force wait": 1, "shutdown immediate": 1}, first["checkpoints"]
    # Seven sessions were begun, and some that looked whether one was asleep.
    assert first["sessions"] == first["connections"] >= 8 and first["queries"] >= 17, first
    assert first["temporary files"] > 0 and first["bytes of them"] > 100_000, first
    assert first["waits for locks"]["count"] == 1 and first["waits for locks"]["duration"] > 20, first
    print("ok: " + ", ".join(f"{name} {first[name]}" for name in ("queries", "sessions", "errors", "temporary files")))


main()
