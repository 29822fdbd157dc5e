"""Users have no hypothesis: with it, Pandera takes a third of a second more to import."""

raise ImportError("not for the processes that tests start")
