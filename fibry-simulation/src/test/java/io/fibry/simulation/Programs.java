package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.simulation.Simulation.Program;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;

/** Programs of users, each right, and once with a bug of its kind. */
enum Programs {
  /** The bug: a clerk who pays in first finds the money there before it is taken. */
  BANK {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      var books = List.of(new Account(), new Account());
      var accounts = new ArrayList<Actor<Order>>();
      for (var book : books) accounts.add(
          sim.scope().named("account" + accounts.size()).initialState(() -> book).newActor(Account::handle));
      sim.assertAlways("no cent is made", () -> books.getFirst().cents + books.getLast().cents <= 200);
      for (int i = 0; i < 3; i++) {
        var from = accounts.get(i % 2);
        var to = accounts.get(1 - i % 2);
        sim.client("clerk" + i, () -> {
          if (bug) {
            to.ask(new Put(60));
            return from.ask(new Take(60));
          }
          return from.ask(new Take(60)) && to.ask(new Put(60));
        });
      }
      sim.join();
    }
  },

  /** The bug: two handlers read a number, ask, and write the next. */
  LOST_UPDATE {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      var hits = new int[1];
      var audit = sim.scope().named("audit").newActorWithReturn((Integer seen) -> seen);
      var workers = new ArrayList<Actor<String>>();
      for (int i = 0; i < 4; i++) workers.add(sim.scope().named("worker" + i).newActor((String go) -> {
        int seen = hits[0];
        audit.ask(seen);
        hits[0] = bug ? seen + 1 : hits[0] + 1;
      }));
      for (var worker : workers) worker.sendMessage("go");
      for (var worker : workers) worker.close();
      assertEquals(4, hits[0]);
    }
  },

  /** The bug: an asker that gives up tries again, although the first try was only slow. */
  TIME_OUT {
    @Override
    void play(Simulation sim, boolean bug) {
      var charged = new TreeMap<String, Integer>();
      var bank = sim.scope().named("bank").newActor((Pay pay, ActorContext<Pay> context) -> {
        Thread.sleep(sim.random().nextInt(50) == 0 ? 1_500 : 20);
        if (bug || !charged.containsKey(pay.order())) charged.merge(pay.order(), 1, Integer::sum);
        context.reply(pay, "paid");
      });
      var shop = sim.scope().named("shop").newActorWithReturn((String order) -> {
        for (int tries = 1;; tries++) {
          try {
            return bank.ask(new Pay(order), Duration.ofSeconds(1));
          } catch (AskTimeoutException late) {
            if (tries == 3) return "later";
          }
        }
      });
      sim.assertAlways("nobody pays twice", () -> charged.values().stream().allMatch(times -> times == 1));
      for (int i = 0; i < 5; i++) shop.ask("order" + i);
      sim.scope().awaitQuiescence(Duration.ofMinutes(1));
    }
  },

  /** The bug: after a failure behind the booking it is booked again. */
  RESTART {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      var booked = new TreeMap<Integer, Integer>(); // outlives its actor
      var door = new Object() {
        Actor<Book> actor;
      };
      Runnable open = () -> door.actor = sim.scope().anonymous()
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofMillis(10), Duration.ofSeconds(1)).withoutLog())
          .initialState(() -> booked)
          .newActor((TreeMap<Integer, Integer> books, Book book, ActorContext<Book> context) -> {
            if (sim.random().nextInt(4) == 0) throw new IllegalStateException("no ink");
            if (bug || !books.containsKey(book.number())) books.merge(book.number(), 1, Integer::sum);
            if (sim.random().nextInt(4) == 0) throw new IllegalStateException("no stamp");
            context.reply(book, true);
          });
      open.run();
      sim.faults().withKills(0.05, actor -> actor == door.actor);
      sim.assertAlways("booked once", () -> booked.values().stream().allMatch(times -> times == 1));
      for (int i = 0; i < 5; i++) {
        for (boolean done = false; !done;) {
          try {
            done = door.actor.ask(new Book(i), Duration.ofSeconds(5));
          } catch (ActorStoppedException gone) {
            open.run();
          } catch (IllegalStateException | AskTimeoutException again) {
            Thread.sleep(1);
          }
        }
      }
      assertEquals(5, booked.size());
    }
  },

  /** The bug: the oldest message is dropped, and its sender was told that it was taken. */
  OVERLOAD {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      var served = new int[1];
      var taken = new int[1];
      var slow = sim.scope().named("slow")
          .mailbox(Mailbox.bounded(2, bug ? Overflow.DROP_OLDEST : Overflow.REJECT)).newActor((Integer number) -> {
            Thread.sleep(5);
            served[0]++;
          });
      var crew = Pools.fixed(sim.scope().named("crew"), 3)
          .newActorWithReturn((Integer number) -> slow.sendMessage(number));
      sim.faults().withSmallMailboxes(0.5).withFailedThreadStarts(0.03).withStalls(0.05, Duration.ofMillis(20));
      for (int client = 0; client < 4; client++) sim.client("client" + client, () -> {
        for (int i = 0; i < 3; i++) if (crew.ask(i)) taken[0]++;
        return null;
      });
      sim.join();
      sim.assertEventually("all that was taken is served", Duration.ofMinutes(1), () -> served[0] == taken[0]);
    }
  },

  /** The bug: months have 31 days. */
  YEAR {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      var reminded = new ArrayList<LocalDate>();
      var tenant = sim.scope().named("tenant").newActor((LocalDate rent) -> reminded.add(rent));
      var landlord = sim.scope().named("landlord").newActor((String look, ActorContext<String> context) -> {
        var today = LocalDate.now(ZoneOffset.UTC);
        if (today.getDayOfMonth() == 1) tenant.sendMessage(today);
        var next = bug ? today.plusDays(31) : today.withDayOfMonth(1).plusMonths(1);
        var until = Duration.between(Instant.now(), next.atStartOfDay(ZoneOffset.UTC).toInstant());
        context.self().sendMessageLater("look", until);
      });
      landlord.sendMessage("look");
      Thread.sleep(Duration.ofDays(364));
      landlord.askExit();
      assertEquals(12, reminded.size());
    }
  },

  /** The bug: it answers before the entry is on disk. */
  JOURNAL {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      new Journal(sim, bug).play();
    }
  },

  /** The bug: two forks that are taken in any order. The ring goes through locks of the program. */
  PHILOSOPHERS {
    @Override
    void play(Simulation sim, boolean bug) throws Exception {
      var forks = List.of(new Semaphore(1), new Semaphore(1), new Semaphore(1));
      var table = sim.scope().named("table").newActor((String event) -> {});
      var all = new ArrayList<Actor<String>>();
      for (int i = 0; i < 3; i++) {
        int left = i;
        int right = (i + 1) % 3;
        var first = forks.get(bug ? left : Math.min(left, right));
        var second = forks.get(bug ? right : Math.max(left, right));
        all.add(sim.scope().named("philosopher" + i).newActor((String eat) -> {
          first.acquire();
          table.sendMessage("has one");
          second.acquire();
          table.sendMessage("eats");
          second.release();
          first.release();
        }));
      }
      for (var one : all) one.sendMessage("eat");
      for (var one : all) one.close();
    }
  };

  abstract void play(Simulation sim, boolean bug) throws Exception;

  Program program(boolean bug) {
    return sim -> play(sim, bug);
  }

  sealed interface Order {}

  record Put(long cents) implements Order, Request<Put, Boolean> {}

  record Take(long cents) implements Order, Request<Take, Boolean> {}

  record Pay(String order) implements Request<Pay, String> {}

  record Book(int number) implements Request<Book, Boolean> {}

  private static final class Account {
    private long cents = 100;

    void handle(Order order, ActorContext<Order> context) {
      switch (order) {
        case Put put -> {
          cents += put.cents();
          context.reply(put, true);
        }
        case Take take -> {
          boolean enough = cents >= take.cents();
          if (enough) cents -= take.cents();
          context.reply(take, enough);
        }
      }
    }
  }

  /** A counter that survives a power cut: a file of numbers, four bytes each. */
  private static final class Journal {
    record Add(int number) implements Request<Add, Integer> {}

    private static final int SIZE = 4096;

    private final Simulation sim;
    private final boolean bug;
    private SimulatedNode node;
    private Actor<Add> actor; // null until it is made

    Journal(Simulation sim, boolean bug) {
      this.sim = sim;
      this.bug = bug;
      this.node = sim.node("store");
    }

    void play() throws Exception {
      boot();
      int known = 0;
      int unknown = 0;
      for (int i = 0; i < 12; i++) {
        while (actor == null) Thread.sleep(1);
        if (sim.random().nextInt(6) == 0) sim.client("fate", () -> {
          sim.yieldPoint();
          node.crash();
          return null;
        });
        try {
          int there = actor.ask(new Add(1), Duration.ofSeconds(1));
          known++;
          if (there < known || there > known + unknown)
            throw new AssertionError(known + " known, " + unknown + " unknown, " + there + " there");
        } catch (AskTimeoutException down) {
          unknown++;
          node.crash();
          node = node.restart();
          boot();
        }
      }
    }

    private void boot() {
      actor = null;
      var machine = node;
      machine.start("boot", () -> {
        var disk = machine.disk();
        if (!disk.names().contains("log")) {
          disk.create("log", SIZE);
          disk.syncDirectory();
        }
        var log = ByteBuffer.allocate(SIZE);
        disk.read("log", 0, log);
        int[] numbers = {0};
        while (log.getInt(4 * numbers[0]) == 1) numbers[0]++;
        return actor = machine.openScope("store").named("counter").initialState(() -> numbers)
            .newActor((int[] count, Add add, ActorContext<Add> context) -> {
              disk.write("log", 4L * count[0], ByteBuffer.allocate(4).putInt(add.number()).flip());
              if (!bug) disk.sync("log");
              context.reply(add, ++count[0]);
            });
      });
    }
  }
}
