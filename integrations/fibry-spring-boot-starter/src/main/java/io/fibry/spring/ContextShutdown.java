package io.fibry.spring;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Ends a part of a context, such as its scope or its node, when the context closes. When a context
 * is only stopped, this does nothing, because the context may start again.
 */
final class ContextShutdown implements SmartLifecycle {
  /**
   * Higher phases end first. Web servers finish their requests in the phase 1,024 below the
   * highest, and cut connections 2,048 below it. The server's executor ends between the two,
   * because Tomcat counts a request as finished before its response is completely sent.
   */
  static final int SERVER_EXECUTORS = DEFAULT_PHASE - 1536;
  static final int EXECUTORS = DEFAULT_PHASE - 3072;
  /** A node moves its entities to other nodes before their scope closes. */
  static final int NODES = DEFAULT_PHASE - 3584;
  /** A scope closes before Spring destroys the beans that its handlers use. */
  static final int ACTORS = DEFAULT_PHASE - 4096;

  private final ConfigurableApplicationContext context;
  private final int phase;
  private final Runnable endAction;
  // written when the context starts or closes, read by any thread
  private volatile boolean running;

  ContextShutdown(ConfigurableApplicationContext context, int phase, Runnable endAction) {
    this.context = context;
    this.phase = phase;
    this.endAction = endAction;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    if (!context.isClosed()) return;
    running = false;
    endAction.run();
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
