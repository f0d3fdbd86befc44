/**
 * Removes dead records from a log while the store is in use.
 * {@link io.fibry.store.folder.compaction.Compaction} decides when, and
 * {@link io.fibry.store.folder.compaction.SegmentRewriter} replaces the files. Not exported.
 */
package io.fibry.store.folder.compaction;
