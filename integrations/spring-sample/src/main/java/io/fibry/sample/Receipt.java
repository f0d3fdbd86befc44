package io.fibry.sample;

/** What was sold, and how many were sold before it. */
record Receipt(String what, long number) {}
