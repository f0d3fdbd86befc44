/** Run something later: by the clock of the machine, or by one that a test moves. */
package io.fibry.time;
