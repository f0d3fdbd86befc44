/**
 * An adapter for each way to have an actor: ours, other libraries, and the plainest programs that
 * do the same. Each has the configuration that its makers recommend.
 *
 * <p>Two libraries are missing: Cajun 0.7, whose classes need the preview features of Java 21 and
 * start on no other Java, and actor4j, which has no final release of its present form.
 */
package io.fibry.bench.peer;
