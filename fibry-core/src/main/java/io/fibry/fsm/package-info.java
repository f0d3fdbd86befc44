/**
 * State machines as actors: {@link io.fibry.fsm.Fsm} says which message does what in which state.
 */
package io.fibry.fsm;
