/**
 * The log of a store: files ({@link io.fibry.store.folder.log.Segment}) of frames
 * ({@link io.fibry.store.folder.log.Frame}) of records
 * ({@link io.fibry.store.folder.log.LogRecord}).
 * {@link io.fibry.store.folder.log.LogWriter} appends to it, and
 * {@link io.fibry.store.folder.log.LogReader} reads it when the store is opened. Not exported.
 */
package io.fibry.store.folder.log;
