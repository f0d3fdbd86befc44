/** The queue of timers behind the system's scheduler, and its thread. */
package io.fibry.engine.timer;
