package io.fibry.store.folder.index;

/**
 * A hash of 128 bits that identifies an actor in memory. Two actors have the same fingerprint with
 * the probability that two random numbers of 128 bits are equal.
 */
public record ActorFingerprint(long high, long low) {}
