package io.fibry.spring;

import io.fibry.cluster.Cluster;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Lets a node leave with its context: after the web server has finished its requests, before the
 * scope closes, whose entities are given away. A context that is only stopped stays a node.
 */
final class NodeLeaving implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(NodeLeaving.class);

  private final ConfigurableApplicationContext context;
  private final Cluster cluster;
  // written when the context starts or closes, read by any thread
  private volatile boolean running;

  NodeLeaving(ConfigurableApplicationContext context, Cluster cluster) {
    this.context = context;
    this.cluster = cluster;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    if (!context.isClosed()) return;
    running = false;
    cluster.close();
    LOG.info("{} has left", cluster);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return ScopeClosing.NODES;
  }
}
