package io.fibry.engine.jvm;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Makes platform threads of the engine that live as long as the JVM. An object makes one thread
 * (before Java 24).
 */
final class DaemonThreads implements PrivilegedAction<Thread> {
  private final String name;
  private final Runnable code;

  private DaemonThreads(String name, Runnable code) {
    this.name = name;
    this.code = code;
  }

  /**
   * Makes a thread. Before Java 24, a thread keeps the class loaders of its maker's stack in
   * memory, unless a privileged action makes it.
   */
  @SuppressWarnings("removal")
  static Thread unstarted(String name, Runnable code) {
    if (Runtime.version().feature() >= 24) return make(name, code);
    return AccessController.doPrivileged(new DaemonThreads(name, code));
  }

  private static Thread make(String name, Runnable code) {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name(name).unstarted(code);
  }

  @Override
  public Thread run() {
    return make(name, code);
  }
}
