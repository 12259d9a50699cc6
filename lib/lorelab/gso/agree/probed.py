"""`gso/probed`: equal in every counter that the run measured."""

from lorelab.gso.agree.measured import with_model
from lorelab.gso.experiments.probed import simulate

agree = with_model(simulate)
