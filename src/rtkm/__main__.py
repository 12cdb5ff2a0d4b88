"""Let python -m rtkm be the command line."""

import sys

from rtkm._cli import main

if __name__ == "__main__":
    sys.exit(main())
