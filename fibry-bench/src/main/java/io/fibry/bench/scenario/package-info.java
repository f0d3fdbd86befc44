/**
 * Whole programs of Fibry. They are compared with variants on platform threads, with programs
 * written by hand, and with published values.
 */
package io.fibry.bench.scenario;
