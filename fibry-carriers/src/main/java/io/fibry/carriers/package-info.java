/**
 * Carriers of our own, which run actors and virtual threads in place of the JDK's scheduler. The
 * engine finds the module by itself, so a program uses no type of this package. Begin with {@code
 * CarrierPool}.
 */
package io.fibry.carriers;
