/**
 * One actor: its queue, its drain, its failures and its end. Begin with {@code PlainQueue} and
 * {@code Activation}: steps two to four of the picture in docs/architecture.md.
 */
package io.fibry.engine.cell;
