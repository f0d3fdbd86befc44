/** What is outside the JVM, within limits: downloads and programs. */
package io.fibry.io;
