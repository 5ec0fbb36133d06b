"""Times to an event, some of them censored: the response of the loss "cox", as scikit-survival has it."""
from __future__ import annotations

from typing import Any

import numpy as np

LOSS = "cox"
_TYPE = np.dtype([("event", np.float64), ("time", np.float64)])
_WISH = "a structured array of events (bool) and times (float), as sksurv.util.Surv makes it"


def encode(y: Any) -> np.ndarray:
    """Events as 1 and 0, and times, of a structured array whose first field says whether there was an event."""
    if hasattr(y, "to_records") and not isinstance(y, np.ndarray):
        y = y.to_records(index=False)
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None or len(names) != 2 or np.ndim(y) != 1:
        raise ValueError(f"y: want {_WISH}, got {_described(y)}")
    event, time = (np.asarray(y[name]) for name in names)
    if event.dtype.kind not in "biuf" or not np.isin(event, (0, 1)).all():
        raise ValueError(f"y: want {_WISH}, got {names[0]!r} of {event.dtype} as events; only False and True, or 0 and 1, are")
    if time.dtype.kind not in "iuf":
        raise ValueError(f"y: want {_WISH}, got {names[1]!r} of {time.dtype} as times")
    found = np.empty(len(y), _TYPE)
    found["event"], found["time"] = event, time
    if not np.isfinite(found["time"]).all():
        raise ValueError(f"y: want finite times, got {found['time'][~np.isfinite(found['time'])][0]}")
    return found


def decode(y: np.ndarray) -> np.ndarray:
    """What users have: events as bool."""
    return y.astype([("event", bool), ("time", np.float64)])


def is_survival(y: np.ndarray) -> bool:
    return y.dtype.names is not None


def numbers(y: np.ndarray) -> np.ndarray:
    """The response as the library takes it: numbers as they are, or the times."""
    return np.ascontiguousarray(y["time"]) if is_survival(y) else y


def events(y: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(y["event"])


def _described(y: Any) -> str:
    dtype = getattr(y, "dtype", None)
    return f"an array of {dtype}" if dtype is not None else type(y).__name__
