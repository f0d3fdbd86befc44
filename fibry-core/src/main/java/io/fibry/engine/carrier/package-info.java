/**
 * The engine's interface to carriers of our own, which run fibers in place of the JDK's scheduler
 * of virtual threads. Exported to the optional module {@code fibry-carriers} only.
 */
package io.fibry.engine.carrier;
