package io.fibry.cluster.remote;

import java.util.Optional;

/**
 * The address of an actor.
 *
 * @param key the key of an entity; empty if the actor is not an entity
 * @param storesMessages whether its messages are stored before they are handled
 */
public record RemoteAddress(String actor, Optional<String> key, boolean storesMessages) {}
