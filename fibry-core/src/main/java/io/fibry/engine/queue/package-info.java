/** The queues of bounded, ordered, selective and shared mailboxes. Not exported. */
package io.fibry.engine.queue;
