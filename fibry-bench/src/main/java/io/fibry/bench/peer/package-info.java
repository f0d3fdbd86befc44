/**
 * Adapters for several implementations of actors: Fibry, other libraries, and the simplest programs
 * that do the same. Each library has the configuration that its authors recommend.
 *
 * <p>Two libraries are missing. Cajun 0.7 needs the preview features of Java 21, so its classes
 * start on no other version. The current version of actor4j has no final release.
 */
package io.fibry.bench.peer;
