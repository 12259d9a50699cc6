"""How far apart a model run and a kernel run of the same experiment are."""

import pandas as pd

KEY = ["design", "experiment", "variant", "step", "counter", "unit"]


def compare(model: pd.DataFrame, kernel: pd.DataFrame) -> pd.DataFrame:
    """Join two counter tables step by step.

    Returns
    -------
    DataFrame
        `KEY`, `model`, `kernel` and `difference` (model minus kernel); a step or counter that
        only one side has shows as a missing value.
    """
    joined = (
        model[[*KEY, "value"]]
        .rename(columns={"value": "model"})
        .merge(
            kernel[[*KEY, "value"]].rename(columns={"value": "kernel"}),
            on=KEY,
            how="outer",
            sort=False,
            validate="one_to_one",
        )
    )
    return joined.assign(difference=joined["model"] - joined["kernel"])


def summary(joined: pd.DataFrame) -> pd.DataFrame:
    """One row a counter: steps compared, equal, on one side only, and the largest difference."""
    rows = []
    for counter, group in joined.groupby("counter", sort=False):
        both = group.dropna(subset=["model", "kernel"])
        rows.append(
            {
                "counter": counter,
                "unit": group["unit"].iloc[0],
                "steps": len(both),
                "equal": int((both["difference"] == 0).sum()),
                "largest_difference": float(both["difference"].abs().max()) if len(both) else None,
                "one_sided": len(group) - len(both),
            }
        )
    return pd.DataFrame(rows)


def exact(joined: pd.DataFrame) -> bool:
    """True when every step of every counter is there on both sides and equal."""
    return len(joined) > 0 and bool((joined["difference"] == 0).all())
