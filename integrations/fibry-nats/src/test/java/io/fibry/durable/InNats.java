package io.fibry.durable;

import io.fibry.nats.FaultyStores;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.Servers;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import java.time.InstantSource;

/** Stores in a stream of their own; a crash cuts the connection of the one before. */
final class InNats implements TestStores {
  private final String app = Servers.app();
  private final NatsNetwork network;
  private final InstantSource clock;
  private FaultyStores.One last;

  private InNats(NatsNetwork network, InstantSource clock) {
    this.network = network;
    this.clock = clock;
  }

  /** Where there is no server, tests are skipped before they begin. */
  static Maker maker() {
    var network = NatsNetwork.at(Servers.shared().url());
    return (folder, clock) -> new InNats(network, clock);
  }

  @Override
  public Store open() {
    last = FaultyStores.open(network, app, options -> options.withClock(clock).withLimit(Patience.LONG));
    return last.store();
  }

  @Override
  public Store crash(Store before) {
    last.cut();
    return open();
  }

  /** Of turns. */
  void failNextWrite() {
    last.failNext(1);
  }

  @Override
  public void close() {
    last.cut();
  }
}
