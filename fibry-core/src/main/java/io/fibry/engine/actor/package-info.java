/**
 * The public methods and the builders of all kinds of actors. The engine of one actor is in {@code
 * engine.cell}, and its mailbox in {@code engine.queue}. Begin with {@code ActorCell}.
 */
package io.fibry.engine.actor;
