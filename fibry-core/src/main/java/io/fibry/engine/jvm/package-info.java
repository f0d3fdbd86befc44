/**
 * The engine's access to the JVM: threads, stacks and logs. The package knows no actors. Begin with
 * {@link io.fibry.engine.jvm.EngineThreads}.
 */
package io.fibry.engine.jvm;
