/**
 * Whole programs, beside their variants by hand and on platform threads, and what was published.
 */
package io.fibry.bench.scenario;
