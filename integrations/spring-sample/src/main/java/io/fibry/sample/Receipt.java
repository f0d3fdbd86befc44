package io.fibry.sample;

/** The article that was sold, and the number of the sale, counted from 1. */
record Receipt(String what, long number) {}
