/**
 * The positions of the live records of a log, in memory.
 * {@link io.fibry.store.folder.index.LogIndex} finds the records of an actor, and
 * {@link io.fibry.store.folder.index.IndexBuilder} fills the index when the log is read. Not
 * exported.
 */
package io.fibry.store.folder.index;
