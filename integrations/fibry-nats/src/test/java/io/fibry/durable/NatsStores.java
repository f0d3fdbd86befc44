package io.fibry.durable;

import io.fibry.nats.FaultyStores;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.NatsStore;
import io.fibry.nats.Servers;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import java.time.InstantSource;
import java.util.Optional;

/** Stores in a stream of their own; a crash cuts the connection of the one before. */
final class NatsStores implements TestStores {
  private final String app = Servers.app();
  private final NatsNetwork network;
  private final InstantSource clock;
  private FaultyStores.One last;

  private final Optional<NatsStore> keeper;

  private NatsStores(NatsNetwork network, Role role, InstantSource clock) {
    this.network = network.withRole(role);
    this.clock = clock;
    this.keeper = role == Role.KEEPER ? Optional.empty() : Optional.of(NatsStore.open(network, app));
  }

  /** Where there is no server, tests are skipped before they begin. */
  static Maker maker() {
    return maker(Role.KEEPER);
  }

  /** A keeper is open, too. */
  static Maker maker(Role role) {
    var network = NatsNetwork.connectTo(Servers.shared().url());
    return (folder, clock) -> new NatsStores(network, role, clock);
  }

  @Override
  public Store open() {
    last = FaultyStores.open(network, app, options -> options.withClock(clock).withRequestLimit(Patience.LONG));
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
    keeper.ifPresent(NatsStore::close);
  }
}
