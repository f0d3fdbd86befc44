/**
 * The kinds of actors, and how they are made: the public side of {@code engine.cell}, with the
 * mailboxes of {@code engine.queue}. Begin with {@link io.fibry.engine.actor.ActorCell}.
 */
package io.fibry.engine.actor;
