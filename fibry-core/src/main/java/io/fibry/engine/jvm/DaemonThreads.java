package io.fibry.engine.jvm;

import java.security.AccessController;
import java.security.PrivilegedAction;

/** Platform threads of the engine that live as long as the JVM. */
final class DaemonThreads {
  private DaemonThreads() {}

  /** Before Java 24 it would keep the class loaders on this stack, unless privileged. */
  @SuppressWarnings("removal")
  static Thread unstarted(String name, Runnable code) {
    PrivilegedAction<Thread> maker =
        () -> Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name(name).unstarted(code);
    return Runtime.version().feature() < 24 ? AccessController.doPrivileged(maker) : maker.run();
  }
}
