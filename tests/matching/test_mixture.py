"""A mixture of right and wrong pairs whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.matching.mixture import Labelled, Mixture, fit_mixture


def drawn(
    seed: int, found: int, wrong: int, wrong_share: float, shift: float = 3.0, more: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variables of found and wrong pairs, and which found pairs are right.

    The first variable of right pairs has the mean `shift`, that of wrong pairs 0; both have variance 1.
    `more` variables tell nothing.
    """
    random = np.random.default_rng(seed)
    right = random.random(found) >= wrong_share
    columns = random.standard_normal((found, 1 + more))
    columns[right, 0] += shift
    return columns, random.standard_normal((wrong, 1 + more)), right


def calibration_error(chance: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error over bins of equal width."""
    place = np.minimum((chance * bins).astype(int), bins - 1)
    gaps = [
        abs(chance[place == one].mean() - right[place == one].mean()) * (place == one).mean()
        for one in np.unique(place)
    ]
    return float(sum(gaps))


@pytest.mark.parametrize("wrong_share", [0.05, 0.2, 0.5, 0.8])
def test_two_gaussians_are_told_apart(wrong_share: float) -> None:
    found, wrong, right = drawn(1, 4000, 800, wrong_share)
    mixture = fit_mixture(found, wrong)
    assert mixture.slopes[0] > 0
    assert mixture.wrong_share == pytest.approx(wrong_share, abs=0.05)
    chance = mixture.chance(found.T)
    assert calibration_error(chance, right) < 0.05
    assert ((chance >= 0.5) == right).mean() > 0.9


def test_the_slope_is_that_of_the_density_ratio() -> None:
    """`f1 / f0 = exp(3 x - 4.5)` for two Gaussians whose means are 3 apart."""
    found, wrong, _ = drawn(2, 20_000, 20_000, 0.3)
    mixture = fit_mixture(found, wrong)
    assert mixture.slopes[0] == pytest.approx(3, abs=0.3)
    even = -mixture.intercept / mixture.slopes[0]
    expected = (4.5 + np.log(0.3 / 0.7)) / 3
    assert even == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_no_slope_is_negative(seed: int) -> None:
    """A variable that is higher for wrong pairs does not count, nor does one that tells nothing."""
    found, wrong, right = drawn(seed, 3000, 600, 0.3, more=2)
    found[right, 1] -= 2
    mixture = fit_mixture(found, wrong)
    assert (mixture.slopes >= 0).all()
    assert mixture.slopes[1] == 0
    assert mixture.slopes[2] < 0.2 * mixture.slopes[0]
    assert calibration_error(mixture.chance(found.T), right) < 0.05


def test_found_pairs_that_look_like_wrong_ones_are_not_believed() -> None:
    found, wrong, _ = drawn(3, 2000, 500, 1.0)
    mixture = fit_mixture(found, wrong)
    assert mixture.wrong_share > 0.8
    assert mixture.chance(found.T).mean() < 0.2


def test_found_pairs_that_all_look_right_are_believed() -> None:
    found, wrong, _ = drawn(4, 2000, 500, 0.0, shift=8.0)
    mixture = fit_mixture(found, wrong)
    assert mixture.wrong_share < 0.02
    assert mixture.chance(found.T).mean() > 0.98


@pytest.mark.parametrize(("found", "wrong", "wrong_share"), [(150, 20, 0.1), (1500, 200, 0.5)])
def test_few_pairs_are_enough_to_be_roughly_right(found: int, wrong: int, wrong_share: float) -> None:
    for seed in range(5):
        variables, surely_wrong, right = drawn(seed, found, wrong, wrong_share, shift=4.0)
        chance = fit_mixture(variables, surely_wrong).chance(variables.T)
        assert abs(chance.mean() - right.mean()) < 0.1


def test_variables_that_do_not_vary_are_harmless() -> None:
    found, wrong = np.ones((30, 2)), np.ones((10, 2))
    mixture = fit_mixture(found, wrong)
    chance = mixture.chance(found.T)
    assert np.isfinite(chance).all()
    assert chance.max() < 0.6, "found pairs are like wrong ones"


def test_chances_of_any_log_odds_are_finite() -> None:
    mixture = Mixture(np.array([1000.0]), 0.0, 0.5)
    assert mixture.chance([np.array([-10.0, 0.0, 10.0])]).tolist() == [0, 0.5, 1]


def test_the_same_pairs_give_the_same_chances() -> None:
    found, wrong, _ = drawn(6, 1000, 200, 0.3, more=1)
    one, two = (fit_mixture(found, wrong) for _ in range(2))
    assert one.slopes.tolist() == two.slopes.tolist()
    assert (one.intercept, one.wrong_share) == (two.intercept, two.wrong_share)


# Pairs that people have looked at


def test_labels_tell_a_variable_that_knock_outs_hide() -> None:
    """Right and wrong pairs differ in the second variable, but knocked-out pairs are between them."""
    found, wrong, right = drawn(7, 1500, 300, 0.4, shift=1.5, more=1)
    found[right, 1] += 2
    wrong[:, 1] += 1.2
    labelled = Labelled(found[:400], right[:400])
    without, with_labels = fit_mixture(found, wrong), fit_mixture(found, wrong, labelled)
    assert with_labels.slopes[1] > without.slopes[1] + 0.3
    brier = [
        np.mean((mixture.chance(found[400:].T) - right[400:]) ** 2) for mixture in (without, with_labels)
    ]
    assert brier[1] < 0.95 * brier[0], "on pairs that nobody has looked at"


@pytest.mark.parametrize("kept", ["right", "wrong"])
def test_the_share_of_right_labels_does_not_count(kept: str) -> None:
    """People may look at right pairs alone: that says nothing about how many others are right."""
    found, wrong, right = drawn(8, 3000, 600, 0.3)
    chosen = np.flatnonzero(right if kept == "right" else ~right)[:300]
    labelled = Labelled(found[chosen], right[chosen])
    plain, taught = fit_mixture(found, wrong), fit_mixture(found, wrong, labelled)
    assert taught.wrong_share == pytest.approx(plain.wrong_share, abs=0.02)
    assert np.abs(taught.chance(found.T) - plain.chance(found.T)).max() < 0.05


def test_few_labels_change_little() -> None:
    found, wrong, right = drawn(9, 2000, 300, 0.3)
    plain = fit_mixture(found, wrong)
    doubtful = np.argsort(np.abs(plain.chance(found.T) - 0.5))[:15]
    taught = fit_mixture(found, wrong, Labelled(found[doubtful], right[doubtful]))
    assert np.abs(taught.chance(found.T) - plain.chance(found.T)).max() < 0.1


def test_no_labels_change_nothing() -> None:
    found, wrong, right = drawn(10, 1000, 200, 0.3)
    plain, taught = fit_mixture(found, wrong), fit_mixture(found, wrong, Labelled(found[:0], right[:0]))
    assert taught.chance(found.T) == pytest.approx(plain.chance(found.T), abs=1e-3)


def test_wrong_pairs_that_hardly_count_change_little() -> None:
    found, wrong, right = drawn(7, 4000, 800, 0.6)
    worse = np.random.default_rng(8).standard_normal((1600, 1)) - 2
    all_wrong, weights = np.concatenate([wrong, worse]), np.repeat([1.0, 0.001], [800, 1600])
    misled, weighted = fit_mixture(found, all_wrong), fit_mixture(found, all_wrong, weights=weights)
    assert misled.wrong_share < 0.4
    assert weighted.wrong_share == pytest.approx(0.6, abs=0.05)
    assert calibration_error(weighted.chance(found.T), right) < 0.05


def test_equal_weights_are_no_weights() -> None:
    found, wrong, _ = drawn(9, 500, 101, 0.3)
    one, other = fit_mixture(found, wrong), fit_mixture(found, wrong, weights=np.ones(len(wrong)))
    assert one.wrong_share == other.wrong_share
    assert one.slopes.tolist() == other.slopes.tolist()
