"""The published experiments of TPStream, PieStream and ISEQ, with our sizes: one file per experiment."""
