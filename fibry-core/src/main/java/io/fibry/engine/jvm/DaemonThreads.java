package io.fibry.engine.jvm;

import java.security.AccessController;
import java.security.PrivilegedAction;

/** Platform threads of the engine that live as long as the JVM. */
final class DaemonThreads {
  private DaemonThreads() {}

  /**
   * Makes a thread. Before Java 24, a thread keeps the class loaders of its maker's stack in
   * memory, unless a privileged action makes it.
   */
  @SuppressWarnings("removal")
  static Thread unstarted(String name, Runnable code) {
    if (Runtime.version().feature() >= 24) return make(name, code);
    return AccessController.doPrivileged(new ThreadMaker(name, code));
  }

  private static Thread make(String name, Runnable code) {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name(name).unstarted(code);
  }

  private record ThreadMaker(String name, Runnable code) implements PrivilegedAction<Thread> {
    @Override
    public Thread run() {
      return make(name, code);
    }
  }
}
