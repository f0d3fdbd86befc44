/**
 * Whole programs, compared with variants by hand and on platform threads, and with published
 * values.
 */
package io.fibry.bench.scenario;
