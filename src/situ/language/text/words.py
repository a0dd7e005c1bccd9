"""Which words mean something: situ's own, Spark's, and the Spark functions no condition may call.

The sets of functions are Spark 4.3's own groups; a test compares them with the Spark that is installed.
"""

from __future__ import annotations

import re

from situ.language.text.dialect import SparkExpressions


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A word that opens a clause when it stands where no operand can (see clauses.py).
CLAUSE_WORDS = _words("WHERE DEFINE PATTERN WITHIN EMIT RETURN HAVING STARTING ENDING")
CLAUSES_WITH_BY = frozenset({"ORDER", "PARTITION", "SYMBOL", "ID"})

# Operators of Spark SQL that are words: an operand must follow.
OPERATOR_WORDS = _words(
    "AND OR NOT IN IS LIKE ILIKE RLIKE REGEXP BETWEEN DIV ESCAPE CASE WHEN THEN ELSE AS FROM DISTINCT"
)
# Words that are a whole operand, or close one.
OPERAND_WORDS = frozenset({"NULL", "TRUE", "FALSE", "END"})
KEYWORDS = OPERATOR_WORDS | OPERAND_WORDS | {"INTERVAL"}
TYPES_WITH_ARGUMENTS = frozenset({"ARRAY", "MAP", "STRUCT"})
QUANTIFIERS = frozenset({"ANY", "SOME", "ALL"})

INTERVAL_UNITS = _words("YEAR MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND") | _words(
    "YEARS MONTHS WEEKS DAYS HOURS MINUTES SECONDS MILLISECONDS MICROSECONDS"
)

AGGREGATES = (
    "first", "last", "count", "sum", "avg", "min", "max", "stddev", "median", "percentile", "collect_list"
)  # fmt: skip
KEEP_ALL_VALUES = ("median", "percentile", "collect_list")  # no summary of fixed size answers them
ENDPOINTS = ("ts", "te")
ITEM_ENDPOINTS = ("ts", "te", "duration")

SPARK_AGGREGATES = _words(
    """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set collect_union corr count count_if
    count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
    hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
    kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value listagg
    max max_by mean measure median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp string_agg sum
    theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum
    tuple_intersection_agg_double tuple_intersection_agg_integer tuple_sketch_agg_double
    tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer var_pop var_samp variance
    vector_avg vector_sum
    """
)
SPARK_WINDOW_FUNCTIONS = _words(
    "counter_diff cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number"
)
SPARK_GENERATORS = _words(
    """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    variant_explode variant_explode_outer
    """
)
SPARK_NONDETERMINISTIC = _words(
    """
    curdate current_date current_time current_timestamp input_file_block_length input_file_block_start
    input_file_name java_method localtime localtimestamp monotonically_increasing_id now rand randn
    random randstr reflect shuffle spark_partition_id try_reflect uniform uuid
    """
)
# Called without parentheses too, so as a bare word they are not a column in Spark.
BARE_NONDETERMINISTIC = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"}
)

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words sqlglot treats specially elsewhere, but which both sqlglot and Spark read as a column here.
_HARMLESS = _words("COMMENT DATE FORMAT INDEX LIST NUMBER OBJECT RANGE ROW SESSION TEXT TIME TIMESTAMP")
_SPARK_WORDS = frozenset(word.upper() for word in SparkExpressions.Tokenizer.KEYWORDS)
_SPARK_WORDS |= SparkExpressions.Parser.NO_PAREN_FUNCTION_PARSERS.keys()
_OWN_WORDS = frozenset({"AT", "BY", "INTERVALS", "SILENCE", "IGNORING"})
_RESERVED = CLAUSE_WORDS | KEYWORDS | QUANTIFIERS | BARE_NONDETERMINISTIC | _OWN_WORDS


def quote(name: str) -> str:
    """The name as it must be written: bare where that is read as the same name, else back-quoted.

    >>> quote("speed"), quote("max speed"), quote("pattern")
    ('speed', '`max speed`', '`pattern`')
    """
    upper = name.upper()
    plain = _PLAIN.fullmatch(name) is not None and upper not in _RESERVED
    if plain and (upper not in _SPARK_WORDS or upper in _HARMLESS):
        return name
    return "`" + name.replace("`", "``") + "`"
