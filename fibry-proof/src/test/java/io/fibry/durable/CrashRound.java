package io.fibry.durable;

import io.fibry.Request;
import io.fibry.durable.CrashMessage.Add;
import io.fibry.durable.CrashMessage.AddOnce;
import io.fibry.durable.CrashMessage.All;
import io.fibry.durable.CrashMessage.Forget;
import io.fibry.durable.CrashMessage.Forward;
import io.fibry.durable.CrashMessage.Forwarded;
import io.fibry.durable.CrashMessage.Remind;
import io.fibry.durable.CrashMessage.Reminded;
import io.fibry.durable.CrashMessage.Tell;
import io.fibry.durable.CrashMessage.Work;
import io.fibry.pool.Entities;
import io.fibry.simulation.SimulatedNode;
import io.fibry.simulation.Simulation;
import io.fibry.store.StoreException;
import io.fibry.store.folder.FolderStore;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs a node with two durable actors. Programs on it send, ask, set reminders and run steps until
 * the node crashes at a random point; in some rounds its disk fails, too. In its last run the node
 * does not crash, and a {@link CrashRecord} checks the stored states.
 */
public final class CrashRound {
  record Happened(String op) {}

  private static final int SEGMENT = 4096; // the minimum, so that the log needs many segments
  private static final List<String> KEYS = List.of("a", "b");

  private final Simulation simulation;
  private final CrashRecord record = new CrashRecord();
  private final Map<String, Integer> effects = new TreeMap<>(); // how often the first step ran, by operation
  // Messages that have an idempotency key and no answer yet, with the key of their actor
  private final Map<Request<?, Integer>, String> unanswered = new LinkedHashMap<>();
  private final boolean storesMessages;
  private final boolean diskFails;
  private final Durable<CrashMessage> kind;
  private SimulatedNode node;
  private int ops;
  private boolean isSettled;

  private CrashRound(Simulation simulation) {
    this.simulation = simulation;
    simulation.faults().withDelays(0.02, Duration.ofMillis(2));
    var random = simulation.random();
    this.storesMessages = random.nextBoolean();
    this.diskFails = random.nextInt(3) == 0;
    var builder = Durable.kind("account", CrashMessage.class).snapshotEvery(2 + random.nextInt(6));
    this.kind = (storesMessages ? builder.storeMessages(50) : builder)
        .events(Happened.class, "", (String ops, Happened event) -> ops + event.op() + ";").handler(this::handle);
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

  // ---- the actors

  private void handle(String ops, CrashMessage message, EventSourcedContext<String, Happened, CrashMessage> context)
      throws Exception {
    switch (message) {
      case Add add -> context.reply(add, add(context, add.op()));
      case AddOnce add -> context.reply(add, add(context, add.op()));
      case Tell tell -> add(context, tell.op());
      case Remind remind -> {
        context.setReminder(remind.op(), new Reminded("r" + remind.op()), Duration.ofMillis(remind.millis()));
        context.reply(remind, add(context, remind.op()));
      }
      case Forget forget -> {
        context.cancelReminder(forget.op());
        context.reply(forget, ops.contains("r" + forget.op() + ";") ? 1 : 0);
      }
      case Reminded reminded -> add(context, reminded.op());
      case Forward forward -> {
        context.sendMessage(kind, forward.to(), new Forwarded("f" + forward.op()));
        context.reply(forward, add(context, forward.op()));
      }
      case Forwarded forwarded -> add(context, forwarded.op());
      case Work work -> {
        work(work, context);
        context.reply(work, add(context, work.op()));
      }
      case All request -> context.reply(request, ops);
    }
  }

  private static int add(EventSourcedContext<String, Happened, CrashMessage> context, String op) {
    return (int) context.persist(new Happened(op)).chars().filter(c -> c == ';').count();
  }

  private void work(Work work, DurableContext<CrashMessage> context) throws Exception {
    int first = context.step("first", Integer.class, () -> {
      simulation.yieldPoint();
      return effects.merge(work.op(), 1, Integer::sum);
    });
    record.stored(work.op(), first);
    context.step("second", Integer.class, () -> first);
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
    var store = FolderStore.open(bootedNode.disk(), options -> options.withSegmentBytes(SEGMENT));
    var scope = bootedNode.openScope("program");
    var actors = kind.entities(scope.anonymous(), store, Duration.ofMillis(5));
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
        for (int i = 0; i < 12; i++) {
          sendRandomMessage(actors, KEYS.get(random.nextInt(2)), random.nextInt(8), random.nextInt(60));
          if (random.nextInt(4) == 0) Thread.sleep(Duration.ofNanos(1 + random.nextLong(2_000_000)));
        }
        return null;
      });
    }
  }

  private void failDisk(SimulatedNode bootedNode) {
    var random = simulation.random().split();
    bootedNode.failDiskOperations(operation -> switch (operation) {
      case "create", "write" -> random.nextInt(60) == 0;
      case "sync" -> random.nextInt(1_200) == 0;
      default -> false;
    });
  }

  private void sendRandomMessage(Entities<String, CrashMessage> actors, String key, int action, int number) {
    String op = key + ++ops;
    switch (action) {
      case 0, 1 -> request(actors, key, new Add(op));
      case 2 -> sendIdempotent(actors, key, new AddOnce(op));
      case 3 -> {
        if (actors.actor(key).sendMessage(new Tell(op)) && storesMessages) record.acceptedMessage(op);
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
      default -> readState(actors, key);
    }
  }

  private <Q extends CrashMessage & Request<Q, Integer>> void sendIdempotent(Entities<String, CrashMessage> actors,
      String key, Q message) {
    unanswered.put(message, key);
    request(actors, key, message);
    if (ops % 3 == 0) request(actors, key, message);
  }

  private void forget(Entities<String, CrashMessage> actors, String key, String op) {
    record.cancelsReminder(op);
    try {
      if (actors.actor(key).ask(new Forget(op)) == 0) record.cancelledReminder(op);
    } catch (StorageFailedException | StoreException unknown) {
      // the reminder may be set
    }
  }

  /** Returns false if the disk has failed, so that the outcome is unknown. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // all are messages of these actors
  private boolean request(Entities<String, CrashMessage> actors, String key, Request<?, Integer> message) {
    try {
      int position = (Integer) actors.actor(key).ask((Request) message);
      record.answered(op(message), position);
      unanswered.remove(message);
      return true;
    } catch (StorageFailedException | StoreException unknown) {
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
      default -> throw new AssertionError(message);
    };
  }

  private void readState(Entities<String, CrashMessage> actors, String key) {
    try {
      String ops = actors.actor(key).ask(new All());
      record.readState(key, ops.isEmpty() ? List.of() : List.of(ops.split(";")));
    } catch (StorageFailedException | StoreException unknown) {
      // the disk has failed
    }
  }
}
