package sun.net;

/**
 * For javac only, which with a release does not see what the JDK hides. It is in no jar: the JVM
 * takes the JDK's own.
 */
public interface PlatformSocketImpl {}
