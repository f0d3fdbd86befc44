/**
 * What is outside the JVM, within limits: {@link io.fibry.io.Downloader} fetches pages,
 * {@link io.fibry.io.Program} runs programs of the system.
 */
package io.fibry.io;
