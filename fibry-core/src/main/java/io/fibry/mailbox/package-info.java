/**
 * How messages wait for an actor: {@link io.fibry.mailbox.Mailbox}. What happens to one too many:
 * {@link io.fibry.mailbox.Overflow}.
 */
package io.fibry.mailbox;
