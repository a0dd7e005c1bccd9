"""The operations of the machine that runs conditions, and what their operands mean (machine.py).

An instruction is (operation, out, a, b, c, d); out, a and b are registers unless said otherwise. A register
holds an int or a float, as whoever wrote the program knows, and a state: NULL, VALID, FAILED. Operations of
one family have numbers one after the other.
"""

# Loads. a: column; of which row: b is HERE, START or a group, c the offset there (-1 - n: from the back), d
# the rows behind that.
LOAD_INT, LOAD_FLOAT = 0, 1
IS_ROW = 2  # whether there is such a row
CLASSIFIER = 3  # its variable as a text, null for a row that is not of the match; a: the first one's text
CONSTANT_INT, CONSTANT_FLOAT, NOTHING = 4, 5, 6  # a: place among the constants; NOTHING: null
TEXT = 7  # a: place among the texts of the rows
NUMBER = 8  # MATCH_NUMBER
TAKEN = 9  # how many rows the match has, where they lie side by side
AGGREGATE_INT, AGGREGATE_FLOAT = 10, 11  # a: aggregate; d: beyond 64 bits it raises
HERE, START = -1, -2

# Comparisons, as Spark's: NaN equals NaN and is the greatest. c: negated; d: operands change places.
EQUAL_INT, EQUAL_FLOAT, LESS_INT, LESS_FLOAT = 12, 13, 14, 15
SAME_INT, SAME_FLOAT = 16, 17  # <=>

# Logic. CONNECT: AND (c = 0) or OR (c = 1); the right side raises only where the left does not decide.
CONNECT, NOT, IS_NULL, IS_TRUTH = 18, 19, 20, 21  # IS_TRUTH: c is the truth that is asked for
AFTER = 22  # b, which raises also where a did
CHOOSE = 23  # b where a is true, else register c
COALESCE, EXTREME_INT, EXTREME_FLOAT = 24, 25, 26  # c: the greatest

# Arithmetic of ints. c: bits of the type; d: beyond them it raises, else it wraps.
ADD_INT, SUBTRACT_INT, MULTIPLY_INT, NEGATE_INT, ABSOLUTE_INT, NARROW_INT = 27, 28, 29, 30, 31, 32
DIVIDE_INT, REMAINDER_INT = 33, 34  # d: by zero it raises, else it is null
SCALE_INT = 35  # what does not fit is as large as can be

# Arithmetic of floats. c: bits of the type; d: by zero it raises, else it is null.
ADD_FLOAT, SUBTRACT_FLOAT, MULTIPLY_FLOAT, NEGATE_FLOAT, ABSOLUTE_FLOAT, ROUND_FLOAT = 36, 37, 38, 39, 40, 41
DIVIDE_FLOAT, REMAINDER_FLOAT = 42, 43

# Casts. c: to so many bits, 1 of truths; d: beyond them it raises.
INT_TO_FLOAT, FLOAT_TO_INT = 44, 45
