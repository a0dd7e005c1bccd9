"""What a Spark session tells, and how work reaches its workers."""
