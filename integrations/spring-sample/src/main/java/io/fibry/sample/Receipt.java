package io.fibry.sample;

/** What was sold, and as which number. */
record Receipt(String what, long number) {}
