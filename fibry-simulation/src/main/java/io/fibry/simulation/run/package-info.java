/**
 * One run of a program: the scheduler, clock and random numbers of its threads, their failure
 * domains, and the trace of messages. Internal.
 */
@NullMarked
package io.fibry.simulation.run;

import org.jspecify.annotations.NullMarked;
