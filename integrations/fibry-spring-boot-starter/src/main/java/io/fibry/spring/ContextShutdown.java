package io.fibry.spring;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Ends what belongs to a context when that closes. A context that is only stopped may start again,
 * so nothing ends then.
 */
final class ContextShutdown implements SmartLifecycle {
  /**
   * Higher phases end first. Web servers finish their requests 1,024 below the highest, and cut
   * connections 2,048 below. Between, the server's own executor ends: Tomcat counts a request as
   * finished before the end of its answer has left.
   */
  static final int SERVERS = DEFAULT_PHASE - 1536;
  static final int EXECUTORS = DEFAULT_PHASE - 3072;
  /** A node gives its entities away before the scope closes, of which they are. */
  static final int NODES = DEFAULT_PHASE - 3584;
  /** Before any bean that handlers use. */
  static final int ACTORS = DEFAULT_PHASE - 4096;

  private final ConfigurableApplicationContext context;
  private final int phase;
  private final Runnable end;
  // written when the context starts or closes, read by any thread
  private volatile boolean running;

  ContextShutdown(ConfigurableApplicationContext context, int phase, Runnable end) {
    this.context = context;
    this.phase = phase;
    this.end = end;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    if (!context.isClosed()) return;
    running = false;
    end.run();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return phase;
  }
}
