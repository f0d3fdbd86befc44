/**
 * Runs programs of actors under a scheduler that a seed drives: one thread at a time, time that
 * jumps, faults on demand. A seed that fails fails again.
 */
@NullMarked
package io.fibry.simulation;

import org.jspecify.annotations.NullMarked;
