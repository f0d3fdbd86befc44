/** How messages wait for an actor, and what happens to one too many. */
package io.fibry.mailbox;
