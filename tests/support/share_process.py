"""One push or pull of a home in a process of its own, for somebody to kill.

Arguments: home, project folder, push or pull. It prints "ready" once the store is open.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.support.shared_homes import SharedHome

    opened = SharedHome(Path(sys.argv[1]), Path(sys.argv[2]))
    print("ready", flush=True)
    {"push": opened.sharing.push, "pull": opened.sharing.pull}[sys.argv[3]]()
    print("done", flush=True)
    opened.close()
