/**
 * The part of the JVM that the engine needs: threads, stacks and logs. It knows nothing of the rest
 * of the library. Begin with {@link io.fibry.engine.jvm.EngineThreads}.
 */
package io.fibry.engine.jvm;
