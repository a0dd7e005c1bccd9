"""What Spark answers for one double or two, at every turn the kernels can take."""

from __future__ import annotations

import numpy as np
import pytest

from expressions.support import INF, NAN, same
from situ.expressions.kernels.exponentials import each_exp, each_expm1, each_power
from situ.expressions.kernels.logarithms import each_cbrt, each_log, each_log1p, each_log10

pytestmark = pytest.mark.nojit

FUNCTIONS = {
    "exp": each_exp,
    "expm1": each_expm1,
    "ln": each_log,
    "log10": each_log10,
    "log1p": each_log1p,
    "cbrt": each_cbrt,
    "pow": each_power,
}
ANSWERS = {
    "exp": [
        (1.0, 2.7182818284590455),
        (-1.0, 0.36787944117144233),
        (0.3, 1.3498588075760032),
        (1e-09, 1.000000001),
        (709.7, 1.6549840276802644e308),
        (-744.9, 5e-324),
        (-708.5, 2.006132305331306e-308),
        (710.0, INF),
        (-746.0, 0.0),
        (1.0397, 2.8283683765492893),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (0.0, 1.0),
    ],
    "expm1": [
        (1.0, 1.718281828459045),
        (-0.9, -0.5934303402594009),
        (0.3, 0.3498588075760031),
        (1e-300, 1e-300),
        (5.0, 147.4131591025766),
        (30.0, 10686474581523.463),
        (100.0, 2.6881171418161356e43),
        (709.7, 1.6549840276802644e308),
        (-60.0, -1.0),
        (710.0, INF),
        (-0.5, -0.3934693402873666),
        (INF, INF),
        (NAN, NAN),
        (-5.0, -0.9932620530009145),
    ],
    "ln": [
        (2.0, 0.6931471805599453),
        (0.1, -2.3025850929940455),
        (1.0000001, 9.999999505838704e-08),
        (5e-324, -744.4400719213812),
        (1e-310, -713.8013788281542),
        (1.7e308, 709.7268368932282),
        (1.0, 0.0),
        (INF, INF),
        (1.4, 0.33647223662121284),
        (0.75, -0.2876820724517809),
        (1024.0, 6.931471805599453),
        (NAN, NAN),
    ],
    "log10": [
        (1000.0, 3.0),
        (0.001, -3.0),
        (5e-324, -323.3062153431158),
        (7.0, 0.8450980400142568),
        (0.3, -0.5228787452803376),
        (INF, INF),
        (1e300, 300.0),
    ],
    "log1p": [
        (0.5, 0.4054651081081644),
        (-0.5, -0.6931471805599453),
        (1e-300, 1e-300),
        (1e-09, 9.999999995e-10),
        (-0.999, -6.907755278982136),
        (1e17, 39.14394658089878),
        (1e300, 690.7755278982137),
        (0.2, 0.18232155679395462),
        (INF, INF),
        (-0.0, -0.0),
        (1.0, 0.6931471805599453),
        (3.0000001, 1.3862943861198902),
    ],
    "cbrt": [
        (2.0, 1.2599210498948732),
        (-2.0, -1.2599210498948732),
        (5e-324, 1.7031839360032603e-108),
        (1e-310, 4.641588833612774e-104),
        (1e300, 1e100),
        (0.1, 0.4641588833612779),
        (-0.0, -0.0),
        (INF, INF),
        (NAN, NAN),
        (27.0, 3.0),
    ],
    "pow": [
        (1.0000000001, 5000000000.0, 1.6487213388668163),
        (2.0, 0.5, 1.4142135623730951),
        (3.7, 2.3, 20.270476851916438),
        (-2.0, 3.0, -8.0),
        (-2.0, -3.0, -0.125),
        (-8.0, 0.333, NAN),
        (1.0000001, 10000000000.0, INF),
        (0.9999999, 10000000000.0, 0.0),
        (1.5, -1700.0, 4.414277236595764e-300),
        (1.5, -1800.0, 1.0857597e-317),
        (10.0, 308.2, 1.584893192461072e308),
        (10.0, 308.3, INF),
        (10.0, -323.3, 5e-324),
        (10.0, -324.0, 0.0),
        (5e-324, 0.3, 1.018908996936868e-97),
        (0.0, -3.0, INF),
        (-0.0, -3.0, -INF),
        (-1.0, INF, NAN),
        (1.0, NAN, NAN),
        (0.5, INF, 0.0),
        (1.00001, 1099511627776.0, INF),
        (0.5, 3.6893488147419103e19, 0.0),
        (-1.0, 0.5, NAN),
        (-INF, 3.0, -INF),
        (1.7, -1.0, 0.5882352941176471),
        (1.3, 0.7, 1.2016011812929526),
        (1e-160, 2.0, 1e-320),
        (-1.5, 9007199254740992.0, INF),
        (NAN, 0.0, 1.0),
        (0.99999, 3000000000.0, 0.0),
        (0.9, -20000000000.0, INF),
    ],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_answers(name: str) -> None:
    *arguments, _ = (np.array(column) for column in zip(*ANSWERS[name], strict=True))
    with np.errstate(all="ignore"):
        found = FUNCTIONS[name](*arguments)
    wrong = [row for row, value in zip(ANSWERS[name], found, strict=True) if not same(float(value), row[-1])]
    assert not wrong, (wrong, found)


def test_where_there_is_no_logarithm() -> None:
    with np.errstate(all="ignore"):
        assert np.isneginf(each_log(np.array([0.0]))[0])
        assert np.isneginf(each_log10(np.array([0.0]))[0])
        assert np.isneginf(each_log1p(np.array([-1.0]))[0])
        assert np.isnan(each_log(np.array([-1.0]))[0])
        assert np.isnan(each_log10(np.array([-1.0]))[0])
        assert np.isnan(each_log1p(np.array([-2.0]))[0])
