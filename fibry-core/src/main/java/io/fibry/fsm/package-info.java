/** State machines as actors: {@link io.fibry.fsm.Fsm}. */
package io.fibry.fsm;
