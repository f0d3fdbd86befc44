package io.fibry.store.folder;

/**
 * 128 bits that stand for an actor in memory: of two actors they are the same as likely as two
 * random numbers are.
 */
record Fingerprint(long high, long low) {}
