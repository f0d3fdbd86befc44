/** Ready-made actors, one line each: {@link io.fibry.stereotype.Stereotypes}. */
package io.fibry.stereotype;
