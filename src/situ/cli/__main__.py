"""`python -m situ.cli` is `situ`."""

import sys

from situ.cli import main

sys.exit(main())
