/**
 * Resources outside of the JVM, with limits: {@link io.fibry.io.Downloader} downloads resources,
 * {@link io.fibry.io.Program} runs programs of the system.
 */
package io.fibry.io;
