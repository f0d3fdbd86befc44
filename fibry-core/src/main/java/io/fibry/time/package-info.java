/** Schedulers: the one of the system, and one for tests. */
package io.fibry.time;
