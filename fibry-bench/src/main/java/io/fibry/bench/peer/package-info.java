/**
 * One adapter for each way to have an actor: ours, other libraries, and the plainest programs that
 * do the same. Each in the configuration that its makers recommend, which its Javadoc says.
 *
 * <p>Not here: Cajun 0.7, whose classes need the preview features of Java 21 and start on no other
 * Java; actor4j, which has no final release of its present form.
 */
package io.fibry.bench.peer;
