package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.Seeds;
import io.fibry.cluster.History.End;
import io.fibry.cluster.Ledgers.Add;
import io.fibry.cluster.Ledgers.All;
import io.fibry.cluster.Ledgers.Message;
import io.fibry.cluster.Ledgers.Move;
import io.fibry.cluster.Ledgers.Remind;
import io.fibry.cluster.Ledgers.Tell;
import io.fibry.pool.Entities;
import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.folder.FolderStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Ledgers in a folder of one machine, on which their clients run, too. It crashes a few times, also
 * while it starts. Afterwards no turn that was acknowledged is lost or stored twice, and the
 * messages and reminders of turns have come.
 */
final class DurableRound {
  private static final int KEYS = 3;
  private static final int CLIENTS = 2;
  private static final int EACH = 12;
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofMinutes(3); // until all has come that waits at the store

  /** A turn, and the message that is a part of it. */
  private record Part(long turn, long message) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final History history = new History();
  private final List<Part> parts = new ArrayList<>();
  private SimulatedNode node;
  private FolderStore store;
  private Entities<String, Message> ledgers; // null: the machine is starting
  private int busy; // clients
  private long ids;

  DurableRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
  }

  void play() throws InterruptedException {
    node = simulation.node("bank");
    Seeds.delay(simulation);
    simulation.faults().withKills(0.01, actor -> true);
    for (int crashes = random.nextInt(4); crashes > 0; crashes--) {
      start();
      for (int points = random.nextInt(150); points > 0; points--) simulation.yieldPoint();
      if (random.nextBoolean()) Thread.sleep(random.nextInt(5_000));
      node.crash();
      for (long id = 1; id <= ids; id++) if (isOpen(id)) history.ended(id, End.UNKNOWN);
      node = node.restart();
    }
    start();
    simulation.assertEventually("the clients are through", LONG, () -> ledgers != null && busy == 0);
    simulation.faults().stop();
    Thread.sleep(LONG);
    check();
    ledgers.close();
    store.close();
  }

  private boolean isOpen(long id) {
    return history.isOpen(id) && parts.stream().noneMatch(part -> part.message == id);
  }

  private void start() {
    ledgers = null;
    node.start("start", () -> {
      store = FolderStore.open(node.disk(), options -> options.withSegmentBytes(4_096));
      ledgers = Ledgers.KEPT.entities(node.openScope("bank").anonymous(), store, IDLE);
      busy = CLIENTS;
      for (int i = 0; i < CLIENTS; i++) {
        var own = random.split();
        Thread.ofVirtual().start(() -> work(own));
      }
      return null;
    });
  }

  // ---- a client

  private void work(SplittableRandom own) {
    for (int i = 0; i < EACH; i++) send(own);
    busy--;
  }

  private void send(SplittableRandom own) {
    String key = "k" + own.nextInt(KEYS);
    var ledger = ledgers.actor(key);
    long id = ++ids;
    switch (own.nextInt(6)) {
      case 0, 1 -> ask(id, key, ledger, new Add(id));
      case 2, 3 -> keep(id, key, ledger);
      case 4 -> ask(id, key, ledger, new Move(id, "k" + own.nextInt(KEYS), part(id)));
      default -> ask(id, key, ledger, new Remind(id, part(id)));
    }
  }

  private long part(long turn) {
    long message = ++ids;
    parts.add(new Part(turn, message));
    return message;
  }

  private <Q extends Message> void ask(long id, String key, Actor<Message> ledger, Request<Q, Long> request) {
    history.sent(id, "kept " + request + " to " + key);
    long begun = System.nanoTime();
    try {
      long count = ledger.ask(request);
      history.answered(id, key, begun, System.nanoTime(), count);
      history.ended(id, End.DONE);
    } catch (Exception failure) {
      history.ended(id, End.UNKNOWN);
    }
  }

  private void keep(long id, String key, Actor<Message> ledger) {
    history.sent(id, "kept Tell to " + key);
    history.ended(id, ledger.sendMessage(new Tell(id)) ? End.DONE : End.UNKNOWN);
  }

  // ---- the accounts

  private void check() {
    var all = new HashMap<String, List<Long>>();
    for (int i = 0; i < KEYS; i++) all.put("k" + i, ledgers.actor("k" + i).ask(new All()).ids());
    history.checkDurable(all);
    history.checkOrder();
    var stored = all.values().stream().flatMap(List::stream).collect(Collectors.toSet());
    for (var part : parts) history.checkTransfer(part.turn, part.message, stored);
    assertEquals(List.of(), history.faults());
  }
}
