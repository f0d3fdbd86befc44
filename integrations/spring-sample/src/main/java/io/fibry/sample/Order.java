package io.fibry.sample;

/** What somebody wants. */
record Order(String what) {}
