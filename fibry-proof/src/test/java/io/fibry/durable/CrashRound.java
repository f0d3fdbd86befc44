package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.Seeds;
import io.fibry.durable.CrashMessage.Add;
import io.fibry.durable.CrashMessage.AddOnce;
import io.fibry.durable.CrashMessage.All;
import io.fibry.durable.CrashMessage.Bill;
import io.fibry.durable.CrashMessage.BillOnce;
import io.fibry.durable.CrashMessage.End;
import io.fibry.durable.CrashMessage.Forget;
import io.fibry.durable.CrashMessage.Forward;
import io.fibry.durable.CrashMessage.Order;
import io.fibry.durable.CrashMessage.Remind;
import io.fibry.durable.CrashMessage.Tell;
import io.fibry.durable.CrashMessage.Work;
import io.fibry.pool.Entities;
import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.folder.FolderStore;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs a node with durable actors. Programs on it send, ask, set reminders and run steps until the
 * node crashes at a random point; in some rounds its disk fails, too. After each crash the node
 * runs a program of another version, whose tills may be broken, and which may lack the view of the
 * orders. In its last run the node has the newest version and does not crash. A {@link CrashRecord}
 * then checks the stored states, and the events that the view got.
 */
public final class CrashRound {
  /** The actors of a run of the node. */
  private record Actors(CrashKinds kinds, Entities<String, CrashMessage> accounts, Entities<String, CrashMessage> tills,
      Entities<String, CrashMessage> orders) {
    static Actors of(CrashKinds kinds, ActorScope scope, Store store) {
      return new Actors(kinds, kinds.account().entities(scope.anonymous(), store, IDLE),
          kinds.till().entities(scope.anonymous(), store, IDLE),
          kinds.order().entities(scope.anonymous(), store, IDLE));
    }

    Actor<CrashMessage> actor(String key) {
      return (switch (key.charAt(0)) {
        case 't' -> tills;
        case 'o' -> orders;
        default -> accounts;
      }).actor(key);
    }
  }

  private static final int SEGMENT = 4096; // the minimum, so that the log needs many segments
  private static final Duration IDLE = Duration.ofMillis(5);
  private static final List<String> ACCOUNTS = List.of("a", "b");
  private static final List<String> KEYS = List.of("a", "b", "t"); // of actors whose state is read
  private static final int ORDERS = 3; // few, so that each of them ends several times
  private static final EventView<CrashKinds.Ordered> VIEW = Durable.view("order", CrashKinds.Ordered.class);

  private final Simulation simulation;
  private final CrashRecord record = new CrashRecord();
  private final Map<String, Integer> effects = new TreeMap<>(); // how often the first step ran, by operation
  // Messages that have an idempotency key and no answer yet, with the key of their actor
  private final Map<Request<?, Integer>, String> unanswered = new LinkedHashMap<>();
  private final CrashKinds.Options options;
  private final boolean diskFails;
  private SimulatedNode node;
  private boolean isViewKnown; // whether the store keeps the events of ended orders for the view
  private int ops;
  private boolean isSettled;

  private CrashRound(Simulation simulation) {
    this.simulation = simulation;
    simulation.faults().withDelays(0.02, Duration.ofMillis(2));
    var random = simulation.random();
    boolean storesMessages = random.nextBoolean();
    this.diskFails = random.nextInt(3) == 0;
    this.options = new CrashKinds.Options(storesMessages, 2 + random.nextInt(6));
    this.node = simulation.node("store");
  }

  public static void play(Simulation simulation) throws InterruptedException {
    new CrashRound(simulation).play();
  }

  private void play() throws InterruptedException {
    var random = simulation.random();
    for (int crashes = 1 + random.nextInt(3); crashes > 0; crashes--) {
      boot(false);
      if (random.nextBoolean()) Thread.sleep(Duration.ofNanos(1 + random.nextLong(10_000_000)));
      for (int steps = random.nextInt(random.nextInt(4) == 0 ? 2 : 300); steps > 0; steps--) simulation.yieldPoint();
      node.crash();
      node = node.restart();
    }
    boot(true);
    simulation.assertEventually("all is settled", Duration.ofMinutes(10), () -> isSettled);
  }

  // ---- the runs of the node

  private void boot(boolean isLast) {
    var bootedNode = node;
    bootedNode.start("boot", () -> {
      try {
        run(bootedNode, isLast);
      } catch (StoreException | UncheckedIOException | StorageFailedException failed) {
        if (isLast || !diskFails) throw failed; // otherwise the failing disk is the expected cause
      }
      return null;
    });
  }

  private void run(SimulatedNode bootedNode, boolean isLast) throws Exception {
    if (diskFails && !isLast) failDisk(bootedNode);
    var store = FolderStore.open(bootedNode.disk(), diskOptions -> diskOptions.withSegmentBytes(SEGMENT));
    var scope = bootedNode.openScope("program");
    var actors = Actors.of(kinds(isLast), scope, store);
    if (isLast) for (var message : actors.kinds.till().parked(store)) actors.kinds.till().retry(store, message);
    runView(bootedNode, scope, store, isLast);
    for (var entry : List.copyOf(unanswered.entrySet())) request(actors, entry.getValue(), entry.getKey());
    for (var key : KEYS) readState(actors, key);
    if (isLast) {
      Thread.sleep(Duration.ofMinutes(5));
      for (var key : KEYS) readState(actors, key);
      record.checkAll();
      scope.closeWithin(Duration.ofMinutes(1));
      store.close();
      isSettled = true;
    } else for (int program = simulation.random().nextInt(3); program >= 0; program--) {
      var random = simulation.random().split();
      bootedNode.start("program" + program, () -> {
        for (int i = 0; i < 18; i++) {
          sendRandomMessage(actors, random.nextInt(12), random.nextInt(60));
          if (random.nextInt(4) == 0) Thread.sleep(Duration.ofNanos(1 + random.nextLong(2_000_000)));
        }
        return null;
      });
    }
  }

  private CrashKinds kinds(boolean isLast) {
    var random = simulation.random();
    var version = Seeds.any(random, CrashKinds.VERSIONS);
    boolean isTillBroken = random.nextBoolean();
    return new CrashKinds(isLast ? CrashKinds.NEWER : version, options, isTillBroken && !isLast, this::runFirstStep);
  }

  private int runFirstStep(String op, DurableContext<CrashMessage> context) throws Exception {
    int first = context.step("first", Integer.class, () -> {
      simulation.yieldPoint();
      return effects.merge(op, 1, Integer::sum);
    });
    record.stored(op, first);
    return first;
  }

  /** Starts the view of the orders in most runs, and may end it at a random time. */
  private void runView(SimulatedNode bootedNode, ActorScope scope, Store store, boolean isLast) {
    var random = simulation.random().split();
    if (isViewKnown && !isLast && random.nextInt(3) == 0) return;
    var view = VIEW.named("seen").onEnd(end -> record.viewedEnd(end.key(), end.turn())).newActor(scope.anonymous(),
        store, stored -> record.viewed(stored.key(), stored.turn(), stored.event().op()));
    isViewKnown = true;
    if (!isLast && random.nextBoolean()) bootedNode.start("end of view", () -> {
      Thread.sleep(Duration.ofNanos(1 + random.nextLong(2_000_000)));
      view.kill();
      return null;
    });
  }

  private void failDisk(SimulatedNode bootedNode) {
    var random = simulation.random().split();
    bootedNode.failDiskOperations(operation -> switch (operation) {
      case "create", "write" -> random.nextInt(60) == 0;
      case "sync" -> random.nextInt(1_200) == 0;
      default -> false;
    });
  }

  private void sendRandomMessage(Actors actors, int action, int number) {
    switch (action) {
      case 8, 9 -> bill(actors, number);
      case 10, 11 -> order(actors, number);
      default -> sendToAccount(actors, ACCOUNTS.get(number % 2), action, number);
    }
  }

  private void sendToAccount(Actors actors, String key, int action, int number) {
    String op = key + ++ops;
    switch (action) {
      case 0, 1 -> request(actors, key, new Add(op));
      case 2 -> sendIdempotent(actors, key, new AddOnce(op));
      case 3 -> {
        if (actors.actor(key).sendMessage(new Tell(op)) && options.storesMessages()) record.acceptedMessage(op);
      }
      case 4 -> {
        record.setsReminder(op);
        // If the outcome is unknown, the request may be stored, and may set the reminder later
        boolean isSet = request(actors, key, new Remind(op, 1 + number));
        if (isSet && number % 3 == 0) forget(actors, key, op);
      }
      case 5 -> {
        record.forwards(op);
        request(actors, key, new Forward(op, key.equals("a") ? "b" : "a"));
      }
      case 6 -> sendIdempotent(actors, key, new Work(op));
      default -> readState(actors, Seeds.any(simulation.random(), KEYS));
    }
  }

  private void bill(Actors actors, int number) {
    String op = "t" + ++ops;
    if (number % 8 == 0) request(actors, "t", new Bill(op));
    else if (number % 8 == 4) request(actors, "t", new BillOnce(op));
    else if (actors.actor("t").sendMessage(number % 4 == 1 ? new Bill(op) : new BillOnce(op)))
      record.acceptedMessage(op);
  }

  private void order(Actors actors, int number) {
    String key = "o" + number % ORDERS;
    String op = key + ++ops;
    boolean isEnd = number % 4 == 0;
    try {
      if (isEnd) actors.actor(key).ask(new End(op));
      else actors.actor(key).ask(new Order(op));
      record.answeredOrder(op, isEnd);
    } catch (StorageFailedException | StoreException unknown) {
      // the disk has failed
    }
  }

  private <Q extends CrashMessage & Request<Q, Integer>> void sendIdempotent(Actors actors, String key,
      Q message) {
    unanswered.put(message, key);
    request(actors, key, message);
    if (ops % 3 == 0) request(actors, key, message);
  }

  private void forget(Actors actors, String key, String op) {
    record.cancelsReminder(op);
    try {
      if (actors.actor(key).ask(new Forget(op)) == 0) record.cancelledReminder(op);
    } catch (StorageFailedException | StoreException unknown) {
      // the reminder may be set
    }
  }

  /** Returns false if the request has failed, so that the outcome may be unknown. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // all are messages of these actors
  private boolean request(Actors actors, String key, Request<?, Integer> message) {
    try {
      int position = (Integer) actors.actor(key).ask((Request) message);
      record.answered(op(message), position);
      if (actors.kinds.storesNotes()
          && (message instanceof Add || message instanceof Bill || message instanceof BillOnce))
        record.answeredWithNote(op(message));
      unanswered.remove(message);
      return true;
    } catch (StorageFailedException | RequestStoredException | StoreException | CrashKinds.BrokenException unknown) {
      return false;
    }
  }

  private static String op(Request<?, Integer> message) {
    return switch (message) {
      case Add add -> add.op();
      case AddOnce add -> add.op();
      case Remind remind -> remind.op();
      case Forward forward -> forward.op();
      case Work work -> work.op();
      case Bill bill -> bill.op();
      case BillOnce bill -> bill.op();
      default -> throw new AssertionError(message);
    };
  }

  private void readState(Actors actors, String key) {
    var notedOps = record.notedOps(key);
    try {
      String ops = actors.actor(key).ask(new All());
      record.readState(key, CrashMessage.ops(ops));
      if (actors.kinds.storesNotes()) record.readNotes(key, CrashMessage.opsWithNote(ops), notedOps);
    } catch (StorageFailedException | StoreException unknown) {
      // the disk has failed
    }
  }
}
