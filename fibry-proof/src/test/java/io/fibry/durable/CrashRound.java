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
 * A node with two durable actors, whose programs ask, send, remind and work in steps until it
 * crashes, at any step; perhaps its disk fails now and then. At the end it lives on in peace, and
 * the {@link CrashRecord} says what must be there.
 */
public final class CrashRound {
  record Happened(String op) {}

  private static final int SEGMENT = 4096; // the least: the log goes through many
  private static final List<String> KEYS = List.of("a", "b");

  private final Simulation simulation;
  private final CrashRecord told = new CrashRecord();
  private final Map<String, Integer> effects = new TreeMap<>(); // runs of steps, by op
  private final Map<Request<?, Integer>, String> again = new LinkedHashMap<>(); // once, and not answered; by key
  private final boolean keeps;
  private final boolean fails; // the disk
  private final Durable<CrashMessage> kind;
  private SimulatedNode node;
  private int ops;
  private boolean settled;

  private CrashRound(Simulation simulation) {
    this.simulation = simulation;
    simulation.faults().withDelays(0.02, Duration.ofMillis(2));
    var chance = simulation.random();
    this.keeps = chance.nextBoolean();
    this.fails = chance.nextInt(3) == 0;
    var begun = Durable.kind("account", CrashMessage.class).snapshotEvery(2 + chance.nextInt(6));
    this.kind = (keeps ? begun.storeMessages(50) : begun)
        .events(Happened.class, "", (String all, Happened one) -> all + one.op() + ";").handler(this::handle);
    this.node = simulation.node("store");
  }

  public static void play(Simulation simulation) throws InterruptedException {
    new CrashRound(simulation).play();
  }

  private void play() throws InterruptedException {
    var chance = simulation.random();
    for (int crashes = 1 + chance.nextInt(3); crashes > 0; crashes--) {
      boot(false);
      if (chance.nextBoolean()) Thread.sleep(Duration.ofNanos(1 + chance.nextLong(10_000_000)));
      for (int steps = chance.nextInt(chance.nextInt(4) == 0 ? 2 : 300); steps > 0; steps--) simulation.yieldPoint();
      node.crash();
      node = node.restart();
    }
    boot(true);
    simulation.assertEventually("all is settled", Duration.ofMinutes(10), () -> settled);
  }

  // ---- the actors

  private void handle(String all, CrashMessage message, EventContext<String, Happened, CrashMessage> context)
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
        context.reply(forget, all.contains("r" + forget.op() + ";") ? 1 : 0);
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
      case All asked -> context.reply(asked, all);
    }
  }

  private static int add(EventContext<String, Happened, CrashMessage> context, String op) {
    return (int) context.persist(new Happened(op)).chars().filter(end -> end == ';').count();
  }

  private void work(Work work, DurableContext<CrashMessage> context) throws Exception {
    int first = context.step("first", Integer.class, () -> {
      simulation.yieldPoint();
      return effects.merge(work.op(), 1, Integer::sum);
    });
    told.stored(work.op(), first);
    context.step("second", Integer.class, () -> first);
  }

  // ---- the lives of the node

  private void boot(boolean last) {
    var here = node;
    here.start("boot", () -> {
      try {
        live(here, last);
      } catch (StoreException | UncheckedIOException | NotStoredException failed) {
        if (last || !fails) throw failed; // else the disk has failed
      }
      return null;
    });
  }

  private void live(SimulatedNode here, boolean last) throws Exception {
    if (fails && !last) fail(here);
    var store = FolderStore.open(here.disk(), options -> options.withSegmentBytes(SEGMENT));
    var scope = here.openScope("program");
    var actors = kind.entities(scope.anonymous(), store, Duration.ofMillis(5));
    for (var one : List.copyOf(again.entrySet())) request(actors, one.getValue(), one.getKey());
    for (var key : KEYS) look(actors, key);
    if (last) {
      Thread.sleep(Duration.ofMinutes(5));
      for (var key : KEYS) look(actors, key);
      told.judge();
      scope.closeWithin(Duration.ofMinutes(1));
      store.close();
      settled = true;
    } else for (int program = simulation.random().nextInt(3); program >= 0; program--) {
      var dice = simulation.random().split();
      here.start("program" + program, () -> {
        for (int i = 0; i < 12; i++) {
          act(actors, KEYS.get(dice.nextInt(2)), dice.nextInt(8), dice.nextInt(60));
          if (dice.nextInt(4) == 0) Thread.sleep(Duration.ofNanos(1 + dice.nextLong(2_000_000)));
        }
        return null;
      });
    }
  }

  private void fail(SimulatedNode here) {
    var dice = simulation.random().split();
    here.failDiskOperations(operation -> switch (operation) {
      case "create", "write" -> dice.nextInt(60) == 0;
      case "sync" -> dice.nextInt(1_200) == 0;
      default -> false;
    });
  }

  private void act(Entities<String, CrashMessage> actors, String key, int which, int dice) {
    String op = key + ++ops;
    switch (which) {
      case 0, 1 -> request(actors, key, new Add(op));
      case 2 -> once(actors, key, new AddOnce(op));
      case 3 -> {
        if (actors.actor(key).sendMessage(new Tell(op)) && keeps) told.kept(op);
      }
      case 4 -> {
        told.sets(op);
        boolean set = request(actors, key, new Remind(op, 1 + dice)); // else it may be kept, and set one later
        if (set && dice % 3 == 0) forget(actors, key, op);
      }
      case 5 -> {
        told.forwards(op);
        request(actors, key, new Forward(op, key.equals("a") ? "b" : "a"));
      }
      case 6 -> once(actors, key, new Work(op));
      default -> look(actors, key);
    }
  }

  private <Q extends CrashMessage & Request<Q, Integer>> void once(Entities<String, CrashMessage> actors, String key,
      Q message) {
    again.put(message, key);
    request(actors, key, message);
    if (ops % 3 == 0) request(actors, key, message);
  }

  private void forget(Entities<String, CrashMessage> actors, String key, String op) {
    told.forgets(op);
    try {
      if (actors.actor(key).ask(new Forget(op)) == 0) told.tookBack(op);
    } catch (NotStoredException | StoreException unknown) {
      // it may be set
    }
  }

  /** Returns false if the disk has failed, so that the outcome is unknown. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // all are messages of these actors
  private boolean request(Entities<String, CrashMessage> actors, String key, Request<?, Integer> message) {
    try {
      int place = (Integer) actors.actor(key).ask((Request) message);
      told.answered(op(message), place);
      again.remove(message);
      return true;
    } catch (NotStoredException | StoreException unknown) {
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

  private void look(Entities<String, CrashMessage> actors, String key) {
    try {
      String all = actors.actor(key).ask(new All());
      told.saw(key, all.isEmpty() ? List.of() : List.of(all.split(";")));
    } catch (NotStoredException | StoreException unknown) {
      // the disk has failed
    }
  }
}
