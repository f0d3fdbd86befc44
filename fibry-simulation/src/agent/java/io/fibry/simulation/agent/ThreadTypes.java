package io.fibry.simulation.agent;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds out which classes extend {@link Thread}, for the classes that one class loader sees. It
 * reads class files and loads no class, because it is called while the JVM loads another class.
 */
final class ThreadTypes {
  private static final String THREAD = "java/lang/Thread";

  /** Null for the boot class loader. */
  private final ClassLoader loader;
  private final Map<String, Boolean> isThreadByType =
      new ConcurrentHashMap<>(Map.of(THREAD, true, "java/lang/Object", false));

  ThreadTypes(ClassLoader loader) {
    this.loader = loader;
  }

  /**
   * Returns whether a class is {@link Thread} or extends it. Returns false if the class file cannot
   * be found or read.
   *
   * @param type the name of the class, with slashes
   */
  boolean isThread(String type) {
    var cachedResult = isThreadByType.get(type);
    if (cachedResult != null) return cachedResult;
    var superclass = superclass(type);
    boolean isThread = superclass != null && isThread(superclass);
    isThreadByType.put(type, isThread);
    return isThread;
  }

  private String superclass(String type) {
    if (type.startsWith("[")) return null;
    try (var file = loader == null
        ? ClassLoader.getSystemResourceAsStream(type + ".class")
        : loader.getResourceAsStream(type + ".class")) {
      return file == null ? null : ClassPatcher.superclass(file.readAllBytes());
    } catch (IOException | RuntimeException unreadable) {
      return null;
    }
  }
}
