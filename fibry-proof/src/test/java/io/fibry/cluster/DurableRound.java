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
 * Tests ledgers in a folder store of one machine, on which their clients also run. The machine
 * crashes a few times, perhaps while it starts. Afterwards no acknowledged turn is lost or stored
 * twice, and the messages and reminders of turns have arrived.
 */
final class DurableRound {
  private static final int KEYS = 3;
  private static final int CLIENTS = 2;
  private static final int SENDS = 12;
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration DELIVERY_TIME = Duration.ofMinutes(3); // until all pending messages have been handled

  /** The ids of a turn and of a message that the turn sends. */
  private record TurnMessage(long turn, long message) {}

  private final Simulation simulation;
  private final SplittableRandom random;
  private final History history = new History();
  private final List<TurnMessage> turnMessages = new ArrayList<>();
  private SimulatedNode node;
  private FolderStore store;
  private Entities<String, Message> ledgers; // null while the machine starts
  private int activeClients;
  private long lastId;

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
      for (long id = 1; id <= lastId; id++) if (isOpen(id)) history.ended(id, End.UNKNOWN);
      node = node.restart();
    }
    start();
    simulation.assertEventually("the clients have ended", DELIVERY_TIME, () -> ledgers != null && activeClients == 0);
    simulation.faults().stop();
    Thread.sleep(DELIVERY_TIME);
    check();
    ledgers.close();
    store.close();
  }

  private boolean isOpen(long id) {
    return history.isOpen(id) && turnMessages.stream().noneMatch(turnMessage -> turnMessage.message == id);
  }

  private void start() {
    ledgers = null;
    node.start("start", () -> {
      store = FolderStore.open(node.disk(), options -> options.withSegmentBytes(4_096));
      ledgers = Ledgers.LEDGER.entities(node.openScope("bank").anonymous(), store, IDLE);
      activeClients = CLIENTS;
      for (int i = 0; i < CLIENTS; i++) {
        var clientRandom = random.split();
        node.start("client", () -> work(clientRandom));
      }
      return null;
    });
  }

  // ---- a client

  private Object work(SplittableRandom clientRandom) {
    for (int i = 0; i < SENDS; i++) send(clientRandom);
    return --activeClients;
  }

  private void send(SplittableRandom clientRandom) {
    String key = "k" + clientRandom.nextInt(KEYS);
    var ledger = ledgers.actor(key);
    long id = ++lastId;
    switch (clientRandom.nextInt(6)) {
      case 0, 1 -> ask(id, key, ledger, new Add(id));
      case 2, 3 -> storeMessage(id, key, ledger);
      case 4 -> ask(id, key, ledger, new Move(id, "k" + clientRandom.nextInt(KEYS), newTurnMessage(id)));
      default -> ask(id, key, ledger, new Remind(id, newTurnMessage(id)));
    }
  }

  private long newTurnMessage(long turn) {
    long message = ++lastId;
    turnMessages.add(new TurnMessage(turn, message));
    return message;
  }

  private <Q extends Message> void ask(long id, String key, Actor<Message> ledger, Request<Q, Long> request) {
    history.sent(id, "durable " + request + " to " + key);
    long start = System.nanoTime();
    try {
      long count = ledger.ask(request);
      history.answered(id, key, start, System.nanoTime(), count);
      history.ended(id, End.DONE);
    } catch (Exception failure) {
      history.ended(id, History.end(failure));
    }
  }

  private void storeMessage(long id, String key, Actor<Message> ledger) {
    history.sent(id, "durable Tell to " + key);
    history.ended(id, ledger.sendMessage(new Tell(id)) ? End.DONE : End.UNKNOWN);
  }

  // ---- checks

  private void check() {
    var ledgerIds = new HashMap<String, List<Long>>();
    for (int i = 0; i < KEYS; i++) ledgerIds.put("k" + i, ledgers.actor("k" + i).ask(new All()).ids());
    history.checkDurable(ledgerIds);
    history.checkOrder();
    var stored = ledgerIds.values().stream().flatMap(List::stream).collect(Collectors.toSet());
    for (var turnMessage : turnMessages) history.checkTransfer(turnMessage.turn, turnMessage.message, stored);
    assertEquals(List.of(), history.faults());
  }
}
