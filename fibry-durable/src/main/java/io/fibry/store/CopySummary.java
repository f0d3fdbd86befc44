package io.fibry.store;

/**
 * The numbers of actors, turns and messages that were copied from one store to another. Immutable
 * and thread-safe.
 *
 * @param actors the number of actors that have turns
 * @param turns the number of their turns
 * @param messages the number of pending messages, reminders and parked messages
 */
public record CopySummary(long actors, long turns, long messages) {}
