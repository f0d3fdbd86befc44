package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.durable.Histories;
import io.fibry.durable.Idempotent;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.test.NatsServer;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Durable actors whose servers fail. */
@Soak(counterpart = "ReplicasTest")
@ExtendWith(ServerEvidence.class)
class StoreFaultsTest {
  record Note(String idempotencyKey) implements Idempotent, Request<Note, Integer> {}

  record Noted(String once) {}

  private static final Durable<Note> TALLY =
      Durable.kind("tally", Note.class).events(Noted.class, 0, (Integer count, Noted noted) -> count + 1)
          .handler((count, note, context) -> context.reply(note, context.persist(new Noted(note.idempotencyKey()))));
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ActorScope scope = ActorSystem.openScope("store-faults");
  private final List<NatsServer> servers = new ArrayList<>();

  @BeforeEach
  void find() {
    Servers.assumeThere();
  }

  @AfterEach
  void end() {
    scope.close();
    servers.forEach(NatsServer::close);
  }

  private NatsStore open(int replicas) {
    var urls = servers.stream().map(NatsServer::url).collect(Collectors.joining(","));
    return NatsStore.open(NatsNetwork.connectTo(urls).withReplicas(replicas), "faults");
  }

  @Test
  void aServerIsKilledAgainAndAgain() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    try (var store = open(1);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      for (int i = 0; i < 5; i++) {
        transfers.awaitMore(100);
        servers.getFirst().kill();
        servers.getFirst().restart();
      }
      transfers.awaitMore(100);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void aServerStandsStill() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    try (var store = open(1);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      transfers.awaitMore(100);
      servers.getFirst().pause();
      transfers.awaitFailures(8); // each asker once
      servers.getFirst().resume();
      transfers.awaitMore(100);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void theLeaderOfThreeIsKilledAgainAndAgain() throws Exception {
    servers.addAll(NatsServer.cluster(Servers.folder(), 3));
    try (var store = open(3);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var tallies = TALLY.entities(scope.anonymous(), store, IDLE);
        var events = new Events(store, tallies);
        var transfers = new Transfers(accounts)) {
      for (int i = 0; i < 3; i++) {
        transfers.awaitMore(100);
        var leader = leader();
        leader.kill();
        transfers.awaitMore(50); // by the other two
        leader.restart();
      }
      transfers.awaitMore(100);
      transfers.check();
      events.check();
      Histories.check(store, "account");
    }
  }

  /** Events that are stored and read while leaders change. */
  private static final class Events implements AutoCloseable {
    private final List<Store.StoredTurn> read = new CopyOnWriteArrayList<>();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicBoolean end = new AtomicBoolean();
    private final Store.History history;
    private final Thread reader;
    private final Thread asker;

    Events(Store store, Entities<String, Note> tallies) {
      history = store.history("tally", "");
      reader = Thread.startVirtualThread(this::read);
      asker = Thread.startVirtualThread(() -> {
        for (int i = 0; !end.get(); i++) ask(tallies, new Note("n" + i));
      });
    }

    private void read() {
      try {
        while (true) read.addAll(history.take());
      } catch (StoreClosedException | InterruptedException over) {
        // at the end of the test
      }
    }

    private void ask(Entities<String, Note> tallies, Note note) {
      while (true) try {
        tallies.actor("t").ask(note, Duration.ofSeconds(2));
        answered.incrementAndGet();
        return;
      } catch (RequestException | CancellationException | StoreException again) {
        if (Thread.interrupted()) return;
      }
    }

    /** Each is read, in its order, and once. */
    void check() {
      end.set(true);
      Patience.joined(asker);
      Patience.eventually("not all events are read", () -> read.size() >= answered.get());
      assertEquals(LongStream.rangeClosed(1, answered.get()).boxed().toList(),
          read.stream().map(Store.StoredTurn::number).toList());
    }

    @Override
    public void close() {
      end.set(true);
      asker.interrupt();
      history.close();
    }
  }

  private NatsServer leader() throws Exception {
    var tools = Nats.connect(servers.stream().map(NatsServer::url).collect(Collectors.joining(",")));
    try {
      var leader = new AtomicReference<String>(); // null also while there is none
      Patience.eventually("no leader is elected", () -> {
        try {
          leader.set(tools.jetStreamManagement().getStreamInfo("FB_faults_log").getClusterInfo().getLeader());
        } catch (IOException | JetStreamApiException notYet) {
          return false;
        }
        return leader.get() != null;
      });
      return servers.get(Integer.parseInt(leader.get().substring(1))); // n0, n1, n2
    } finally {
      tools.close();
    }
  }
}
