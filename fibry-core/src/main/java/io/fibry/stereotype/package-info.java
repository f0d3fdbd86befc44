/** Ready-made actors and blocks: {@link io.fibry.stereotype.Stereotypes}. */
package io.fibry.stereotype;
