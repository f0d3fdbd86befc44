/**
 * Clocks that also run tasks later: {@link io.fibry.time.Scheduler#system} is the scheduler of the
 * process, and {@link io.fibry.time.ManualScheduler} is a scheduler for tests.
 */
package io.fibry.time;
