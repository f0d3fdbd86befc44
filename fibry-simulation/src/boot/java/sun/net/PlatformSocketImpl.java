package sun.net;

/**
 * Stands in for the JDK's interface of this name, for javac only: with {@code --release}, javac
 * does not see internal types of the JDK. This type is in no jar, so the JVM loads the JDK's own.
 */
public interface PlatformSocketImpl {}
