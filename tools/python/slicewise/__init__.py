"""slicewise in Python: what GPU sharing will do, from the engine of the program, to the same bytes.

    s = slicewise.load("scenario.yaml")
    r = s.with_(nodes=3).run(seeds=5)
    r.verdict, r.workloads.to_pandas()

Units are those of the documents: seconds, bytes, US dollars, as the keys say. Calls release the GIL and may
run in several threads at a time; Ctrl-C raises Interrupted with what had been simulated.
"""

from ._engine import VERSION as __version__
from .cluster import Advice, advise
from .documents import (Comparison, Document, Files, MaxLoad, Neighbours, Page, Plan, Replay,
                        Result, Sensitivity, Verdict)
from .errors import (Diagnostic, FileUnreadable, InputError, InternalError, Interrupted, PointFailed,
                     SlicewiseError, UsageError)
from .logs import (ImportedScenario, Trace, import_jobs, import_k8s, import_openb, import_pods,
                   import_prometheus, import_requests, import_sacct, import_swf, replay)
from .program import Text
from .reading import Calibration, calibrate, load, template
from .scenario import Check, Scenario, check
from .sweeps import Sweep, sweep
from .tables import Table

__all__ = [
    "Advice", "Calibration", "Check", "Comparison", "Diagnostic", "Document", "FileUnreadable", "Files",
    "ImportedScenario", "InputError", "InternalError", "Interrupted", "MaxLoad", "Neighbours", "Page", "Plan",
    "PointFailed", "Replay", "Result", "Scenario", "Sensitivity", "SlicewiseError", "Sweep", "Table", "Text",
    "Trace",
    "UsageError", "Verdict", "__version__", "advise", "calibrate", "check", "import_jobs", "import_k8s",
    "import_openb", "import_pods", "import_prometheus", "import_requests", "import_sacct", "import_swf",
    "load", "replay", "sweep", "template",
]
