/**
 * Threads, stack and log: what the engine needs of the JVM, and nothing of the library. Begin with
 * {@link io.fibry.engine.jvm.Threads}.
 */
package io.fibry.engine.jvm;
