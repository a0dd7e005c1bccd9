"""The Kafka connectors that situ fetches by itself, and the SHA-256 checksums of their jars.

A version of Spark (its first two numbers) is listed when its combination has been tried. To add one: name the
coordinates, fetch them with `fetch`, try the tests of tests/streaming/test_kafka.py, and copy the lines of
SHA256SUMS in the cache folder.
"""

from __future__ import annotations

_OF_4_0 = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.0",
    "org.apache.commons:commons-pool2:2.12.0",
)
_OF_4_2 = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)

CONNECTORS = {"4.0": _OF_4_0, "4.2": _OF_4_2, "4.3": _OF_4_2}

PINNED = {
    "org.apache.commons.commons-pool2-2.12.0.jar": (
        "6d3bd18df8410f3e31b031aca582cc109342358a62a2759ebd0c4cdf30d06f8b"
    ),
    "org.apache.commons.commons-pool2-2.12.1.jar": (
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef"
    ),
    "org.apache.kafka.kafka-clients-3.9.0.jar": (
        "15c1e137f2c2c94398e27abc4060a03b6bde10bf9fac15e8f70c02320b202f18"
    ),
    "org.apache.kafka.kafka-clients-3.9.1.jar": (
        "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9"
    ),
    "org.apache.spark.spark-sql-kafka-0-10_2.13-4.0.0.jar": (
        "33a3b8b04df4a2e43c9d5bf8ca5972936a1ac662f2714e014d00ef6f27468bf3"
    ),
    "org.apache.spark.spark-sql-kafka-0-10_2.13-4.2.0.jar": (
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705"
    ),
    "org.apache.spark.spark-token-provider-kafka-0-10_2.13-4.0.0.jar": (
        "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767"
    ),
}
