package io.fibry.durable;

import io.fibry.nats.Replicas;
import io.fibry.store.Store;
import java.time.InstantSource;

/** Stores in a stream in memory whose replicas are behind; a crash cuts the one before off. */
final class ReplicaStores implements TestStores {
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Replicas replicas = new Replicas(seed);
  private final InstantSource clock;
  private Replicas.One last;

  private ReplicaStores(InstantSource clock) {
    this.clock = clock;
    System.out.println("replicas: -Dfibry.seed=" + seed);
    replicas.loseAnswers(2);
  }

  static Maker maker() {
    return (folder, clock) -> new ReplicaStores(clock);
  }

  @Override
  public Store open() {
    last = replicas.open(options -> options.withClock(clock));
    return last.store();
  }

  @Override
  public Store crash(Store before) {
    last.cut();
    return open();
  }

  @Override
  public void close() {
    last.cut();
  }
}
