/**
 * Schedulers: {@link io.fibry.time.Scheduler} has that of the system,
 * {@link io.fibry.time.ManualScheduler} is one for tests.
 */
package io.fibry.time;
