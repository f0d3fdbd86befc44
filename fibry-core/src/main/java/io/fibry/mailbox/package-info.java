/**
 * How messages wait for an actor: {@link io.fibry.mailbox.Mailbox} says how many and in which
 * order, {@link io.fibry.mailbox.Overflow} what happens to one too many.
 */
package io.fibry.mailbox;
