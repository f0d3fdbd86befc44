/**
 * Mailboxes, in which messages wait for an actor: {@link io.fibry.mailbox.Mailbox}. The rule for a
 * full mailbox is an {@link io.fibry.mailbox.Overflow}.
 */
package io.fibry.mailbox;
