"""What Splink finds among the records of `dedupe.py`, configured as its documentation recommends for people.

It runs in an interpreter of its own, so that Splink need not be installed beside LargeEA:
`python benchmarks/dedupe_splink.py records.csv pairs.csv`.
"""

from __future__ import annotations

import sys
import time

import pandas as pd
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on


def prepared(path: str) -> pd.DataFrame:
    """The records with lower-case text and the name cut into first and last name."""
    frame = pd.read_csv(path, dtype=str).rename(columns={"id": "unique_id"})
    for column in ("name", "street", "city"):
        frame[column] = frame[column].str.lower().str.strip()
    comma = frame["name"].str.contains(",", na=False)
    words = frame["name"].str.replace(",", " ").str.replace(".", " ").str.split()
    frame["first_name"] = words.str[0].where(~comma, frame["name"].str.partition(",")[2].str.split().str[0])
    frame["surname"] = words.str[-1].where(~comma, words.str[0])
    frame["first_name"] = frame["first_name"].str.replace(".", "")
    return frame


def main() -> None:
    """Train the model without labels, and write all pairs with their probabilities."""
    source, place = sys.argv[1:]
    start = time.perf_counter()
    settings = SettingsCreator(
        link_type="dedupe_only",
        blocking_rules_to_generate_predictions=[
            block_on("first_name", "surname"),
            block_on("surname", "substr(born, 1, 4)"),
            block_on("first_name", "born"),
            block_on("surname", "street"),
            block_on("first_name", "street"),
            block_on("surname", "city"),
            block_on("born"),
            block_on("phone"),
        ],
        comparisons=[
            cl.NameComparison("first_name"),
            cl.NameComparison("surname").configure(term_frequency_adjustments=True),
            cl.DateOfBirthComparison("born", input_is_string=True, invalid_dates_as_null=True),
            cl.LevenshteinAtThresholds("street", [1, 3, 5]),
            cl.JaroWinklerAtThresholds("city", [0.9]).configure(term_frequency_adjustments=True),
            cl.LevenshteinAtThresholds("phone", [1, 2]),
        ],
        retain_intermediate_calculation_columns=False,
    )
    frame = prepared(source)
    linker = Linker(DuckDBAPI().register(frame), settings, log_level="ERROR")
    deterministic = [
        block_on("first_name", "surname", "born"),
        block_on("surname", "phone"),
        block_on("first_name", "street", "born"),
    ]
    linker.training.estimate_probability_two_random_records_match(deterministic, recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=5e6, seed=1)
    for rule in (block_on("first_name", "surname"), block_on("born"), block_on("phone")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.01).as_pandas_dataframe()
    found[["unique_id_l", "unique_id_r", "match_probability"]].to_csv(place, index=False)
    print(f"{time.perf_counter() - start:.1f}")


if __name__ == "__main__":
    main()
