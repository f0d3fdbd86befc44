package io.fibry.durable;

import io.fibry.nats.ReplicatedStream;
import io.fibry.store.spi.StoreBackend;
import java.time.InstantSource;

/**
 * Opens stores in memory whose replicas lag behind; a crash closes the connection of the last
 * store.
 */
final class ReplicaStores implements TestStores {
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final ReplicatedStream replicas = new ReplicatedStream(seed);
  private final InstantSource clock;
  private ReplicatedStream.ReplicaStore lastStore;

  private ReplicaStores(InstantSource clock) {
    this.clock = clock;
    System.out.println("replicas: -Dfibry.seed=" + seed);
    replicas.loseAnswers(2);
  }

  static Maker maker() {
    return (folder, clock) -> new ReplicaStores(clock);
  }

  @Override
  public StoreBackend open() {
    lastStore = replicas.open(options -> options.withClock(clock));
    return lastStore.store();
  }

  @Override
  public StoreBackend crash(StoreBackend before) {
    lastStore.closeConnection();
    return open();
  }

  @Override
  public void close() {
    lastStore.closeConnection();
  }
}
