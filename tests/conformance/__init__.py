"""Every case and every random input through every way of running a query: all must agree with the oracles."""
