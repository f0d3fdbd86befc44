package io.fibry.simulation.agent;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Says which classes are threads, as one class loader sees them. It reads class files and loads no
 * class: it is asked while another is being loaded.
 */
final class ThreadTypes {
  private static final String THREAD = "java/lang/Thread";

  /** null for the boot class loader */
  private final ClassLoader loader;
  private final Map<String, Boolean> threads = new ConcurrentHashMap<>(Map.of(THREAD, true, "java/lang/Object", false));

  ThreadTypes(ClassLoader loader) {
    this.loader = loader;
  }

  /** Whether a class, by its name with slashes, is a thread. Not, if it cannot be found. */
  boolean isThread(String type) {
    var known = threads.get(type);
    if (known != null) return known;
    var above = superclass(type);
    boolean is = above != null && isThread(above);
    threads.put(type, is);
    return is;
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
