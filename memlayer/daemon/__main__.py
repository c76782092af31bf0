"""Run by path with the runtime's interpreter: the daemon of MEMLAYER_HOME."""

import sys
import time

WANTED_FILES = 4096
LEAST_FILES = 128  # open at once, of a store in use and its clients

if __name__ == "__main__":
    began_ns = time.time_ns()  # before the imports, which take most of a start
    sys.path.insert(0, __file__.rpartition("/memlayer/")[0])
    from memlayer.edge.bootstrap.runtime import allow_files

    allowed = allow_files(WANTED_FILES)
    if allowed < LEAST_FILES:  # before the imports: they would fail as well, and not say why
        sys.exit("memlayer needs %d open files, `ulimit -n` allows %d: raise it" % (LEAST_FILES, allowed))
    from memlayer.daemon.lifecycle import main

    main(began_ns)
