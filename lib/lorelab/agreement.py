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


def intervals(model: pd.DataFrame, kernel: pd.DataFrame, per: str) -> pd.DataFrame:
    """Model against repeated kernel runs, counters as shares of the counter `per`.

    The interval is the range of the repeats. Each of n independent repeats falls below the median
    of what the kernel gives with a chance of one half, so the range misses the median with a
    chance of 2**(1 - n), whatever the distribution: 97 % confidence with six repeats. Repeats that
    are all the same make an interval of one value, which the model has to give exactly.

    Parameters
    ----------
    model : DataFrame
        Counters with one step, or repeats again, as those of an earlier measurement.
    kernel : DataFrame
        Counters, one step a repeat.
    per : str
        Counter that the others of its step are divided by.

    Returns
    -------
    DataFrame
        A row for each counter of both sides: `counter`, `unit`, `repeats`, `model`, `mean`, `low`,
        `high`, and `agrees`, which says whether the model's value (range) meets the interval.
    """
    said, measured = _rates(model, per), _rates(kernel, per)
    units = kernel.drop_duplicates("counter").set_index("counter")["unit"]
    rows = []
    for counter in (name for name in measured if name in said and name != per):
        low, high = measured[counter].min(), measured[counter].max()
        rows.append(
            {
                "counter": counter,
                "unit": f"{units[counter]} / {units[per]}",
                "repeats": len(measured),
                "model": said[counter].mean(),
                "mean": measured[counter].mean(),
                "low": low,
                "high": high,
                "agrees": bool(said[counter].min() <= high and low <= said[counter].max()),
            }
        )
    return pd.DataFrame(rows)


def judged(compared: pd.DataFrame, timing: tuple[str, ...]) -> pd.Series:
    """Whether a counter's interval can tell a right model from a wrong one.

    Parameters
    ----------
    compared : DataFrame
        As `intervals` returns it.
    timing : tuple of str
        Counters that no model can give, as they follow from the order in which CPUs get on.

    Returns
    -------
    Series of bool
        False for those of `timing` whose repeats differ. Where repeats are all the same, timing
        made no difference, and they are judged as any other.
    """
    return ~(compared["counter"].isin(timing) & (compared["low"] < compared["high"]))


def _rates(counters: pd.DataFrame, per: str) -> pd.DataFrame:
    steps = counters.pivot_table(index="step", columns="counter", values="value", sort=False)
    return steps.div(steps[per], axis="index")


def exact(joined: pd.DataFrame) -> bool:
    """True when every step of every counter is there on both sides and equal."""
    return len(joined) > 0 and bool((joined["difference"] == 0).all())
