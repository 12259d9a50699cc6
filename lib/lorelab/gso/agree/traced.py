"""`gso/traced`: equal in every counter that the recording has."""

from lorelab.gso.agree.measured import with_model
from lorelab.gso.experiments.traced import simulate

agree = with_model(simulate)
