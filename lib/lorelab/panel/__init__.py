"""The model in the page: an experiment that the reader runs in the browser, without a network.

What computes is the model itself. `DESIGN/panel/QUESTION.py` has one compiled function `entry`,
which takes the parameters as one flat record and gives a table of counters; numba's IR of it
becomes a WebAssembly module (`compile`), kept in data/panels under what it rests on (`kept`).
Fields, units, ranges, choices and errors come from the experiment's `Params` (`values`), the chart
is the page's (`show`), and neither `panel.js`, which
runs it, nor `form.js` knows a design.
"""

from lorelab.panel.runtime import progress as progress
