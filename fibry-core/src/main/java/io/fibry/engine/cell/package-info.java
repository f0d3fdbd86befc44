/**
 * One actor: its queue, its drain, its failures and its end. A sender that finds the queue empty
 * gets the right to run the actor, and only its holder calls the handler. Begin with
 * {@code PlainQueue}, {@code Dispatch} and {@code Activation}: steps two to four of the picture in
 * docs/architecture.md.
 */
package io.fibry.engine.cell;
