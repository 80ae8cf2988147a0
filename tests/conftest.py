"""One thread a test process, set before anything imports numpy or torch; nothing goes online."""

import os

from hypothesis import settings

settings.register_profile("simreal", deadline=None)  # speed is measured elsewhere
settings.load_profile("simreal")

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("MPLBACKEND", "agg")
