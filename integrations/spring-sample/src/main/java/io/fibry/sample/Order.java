package io.fibry.sample;

/** A customer's order. */
record Order(String what) {}
