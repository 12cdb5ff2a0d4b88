"""Let python -m rtkm be the command line."""

import sys

from rtkm.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
