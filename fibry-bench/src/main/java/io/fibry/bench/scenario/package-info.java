/**
 * Whole programs, each with a {@code main}: one experiment, the platform-thread variant beside it,
 * and what was published about it.
 */
package io.fibry.bench.scenario;
