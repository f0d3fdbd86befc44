/**
 * Runs programs of actors on a scheduler whose decisions come from a seed. One thread runs at a
 * time, the clock jumps when all threads wait, and a program can ask for faults. If a run fails, a
 * run with the same seed fails again.
 */
@NullMarked
package io.fibry.simulation;

import org.jspecify.annotations.NullMarked;
