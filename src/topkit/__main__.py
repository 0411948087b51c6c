"""``python -m topkit`` and the command ``topkit``: Ctrl-C ends them with one line, even while they start."""

import sys


def run() -> None:
    """Run the command line."""
    try:
        from topkit.cli import main

        main()
    except KeyboardInterrupt:
        _ignore_further_interrupts()
        print("topkit: interrupted", file=sys.stderr)
        sys.exit(130)
    except SystemExit as exit_:
        if exit_.code == 130:
            _ignore_further_interrupts()
        raise


def _ignore_further_interrupts() -> None:
    """A second Ctrl-C while Python shuts down would print a traceback."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    run()
