package io.fibry.durable;

import io.fibry.nats.FaultyStores;
import io.fibry.nats.NatsNetwork;
import io.fibry.nats.NatsNetwork.Role;
import io.fibry.nats.NatsStore;
import io.fibry.nats.Servers;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.InstantSource;
import java.util.Optional;

/** Opens stores in a stream of their own; a crash closes the connection of the last store. */
final class NatsStores implements TestStores {
  private final String app = Servers.app();
  private final NatsNetwork network;
  private final InstantSource clock;
  private FaultyStores.FaultyStore lastStore;

  private final Optional<NatsStore> keeper;

  private NatsStores(NatsNetwork network, Role role, InstantSource clock) {
    this.network = network.withRole(role);
    this.clock = clock;
    this.keeper = role == Role.KEEPER ? Optional.empty() : Optional.of(NatsStore.open(network, app));
  }

  /** Skips the tests before they begin if there is no server. */
  static Maker maker() {
    return maker(Role.KEEPER);
  }

  /** Makes stores with the given role. If this role is not KEEPER, a keeper is open beside them. */
  static Maker maker(Role role) {
    var network = Servers.network();
    return (folder, clock) -> new NatsStores(network, role, clock);
  }

  @Override
  public StoreBackend open() {
    lastStore = FaultyStores.open(network, app, options -> options.withClock(clock).withRequestLimit(Patience.LONG));
    return lastStore.store();
  }

  @Override
  public StoreBackend crash(StoreBackend before) {
    lastStore.closeConnection();
    return open();
  }

  /** Lets the next write of a turn fail. */
  void failNextWrite() {
    lastStore.failNext(1);
  }

  @Override
  public void close() {
    lastStore.closeConnection();
    keeper.ifPresent(NatsStore::close);
  }
}
