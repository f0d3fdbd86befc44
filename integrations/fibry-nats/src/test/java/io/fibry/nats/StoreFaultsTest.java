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
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
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
import java.util.concurrent.CompletableFuture;
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

/** Tests that durable actors stay consistent while their servers fail. */
@Soak(counterpart = "ReplicasTest")
@ExtendWith(ServerEvidence.class)
class StoreFaultsTest {
  record Note(String idempotencyKey) implements Idempotent, Request<Note, Integer> {}

  record Noted(String idempotencyKey) {}

  private static final Durable<Note> TALLY =
      Durable.kind("tally", Note.class).events(Noted.class, 0, (Integer count, Noted noted) -> count + 1)
          .handler((count, note, context) -> context.reply(note, context.persist(new Noted(note.idempotencyKey()))));
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ActorScope scope = ActorSystem.openScope("store-faults");
  private final List<NatsServer> servers = new ArrayList<>();

  @BeforeEach
  void assumeServerProgram() {
    Servers.assumeInstalled();
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
  void transfersSurviveKillsOfServer() throws Exception {
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
  void transfersSurvivePauseOfServer() throws Exception {
    servers.add(NatsServer.start(Servers.folder()));
    try (var store = open(1);
        var accounts = Transfers.ACCOUNT.entities(scope.anonymous(), store, IDLE);
        var transfers = new Transfers(accounts)) {
      transfers.awaitMore(100);
      servers.getFirst().pause();
      transfers.awaitFailures(8); // one for each asker
      servers.getFirst().resume();
      transfers.awaitMore(100);
      transfers.check();
      Histories.check(store, "account");
    }
  }

  @Test
  void transfersAndEventsSurviveKillsOfLeader() throws Exception {
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
        transfers.awaitMore(50); // by the other two servers
        leader.restart();
        StreamRecovery.await(servers); // the next kill must leave two servers with all turns
      }
      transfers.awaitMore(100);
      transfers.check();
      events.check();
      Histories.check(store, "account");
    }
  }

  /** Stores events and reads them, while leaders change. */
  private static final class Events implements AutoCloseable {
    private final List<StoreBackend.StoredTurn> readTurns = new CopyOnWriteArrayList<>();
    private final AtomicInteger answerCount = new AtomicInteger();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final StoreBackend.History history;
    private final CompletableFuture<Void> reading;
    private final CompletableFuture<Void> asking = new CompletableFuture<>();
    private final Thread asker;

    Events(Store store, Entities<String, Note> tallies) {
      history = StoreBackend.of(store).history("tally", "");
      reading = CompletableFuture.runAsync(this::read, Patience::startFiber);
      asker = Patience.startFiber(() -> {
        for (int i = 0; !stop.get(); i++) ask(tallies, new Note("n" + i));
        return null;
      }, asking);
    }

    private void read() {
      try {
        while (true) readTurns.addAll(history.take());
      } catch (StoreClosedException | InterruptedException failure) {
        // the test has ended
      }
    }

    private void ask(Entities<String, Note> tallies, Note note) {
      while (true) try {
        tallies.actor("t").ask(note, Duration.ofSeconds(2));
        answerCount.incrementAndGet();
        return;
      } catch (RequestException | CancellationException | StoreException failure) {
        if (Thread.interrupted()) return;
      }
    }

    /** Checks that each event was read once, and in its order. */
    void check() {
      stop.set(true);
      Patience.value(asking);
      Patience.eventually("not all events are read",
          () -> readTurns.size() >= answerCount.get() || reading.isCompletedExceptionally());
      if (reading.isDone()) Patience.value(reading);
      assertEquals(LongStream.rangeClosed(1, answerCount.get()).boxed().toList(),
          readTurns.stream().map(StoreBackend.StoredTurn::number).toList());
    }

    @Override
    public void close() {
      stop.set(true);
      asker.interrupt();
      history.close();
    }
  }

  private NatsServer leader() throws Exception {
    var client = Nats.connect(servers.stream().map(NatsServer::url).collect(Collectors.joining(",")));
    try {
      var leader = new AtomicReference<String>(); // null while no leader is elected
      Patience.eventually("no leader is elected", () -> {
        try {
          leader.set(client.jetStreamManagement().getStreamInfo("FB_faults_log").getClusterInfo().getLeader());
        } catch (IOException | JetStreamApiException failure) {
          return false;
        }
        return leader.get() != null;
      });
      return servers.get(Integer.parseInt(leader.get().substring(1))); // their names are n0, n1, n2
    } finally {
      client.close();
    }
  }
}
