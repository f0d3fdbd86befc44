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

/** Programs as users write them. Each runs without a bug, or with the bug named in its comment. */
enum Programs {
  /** The bug: a clerk adds the money to one account before taking it from the other. */
  BANK {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      var books = List.of(new Account(), new Account());
      var accounts = new ArrayList<Actor<Order>>();
      for (var book : books) accounts.add(
          sim.scope().named("account" + accounts.size()).initialState(() -> book).newActor(Account::handle));
      sim.assertAlways("no cent is created", () -> books.getFirst().cents + books.getLast().cents <= 200);
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

  /** The bug: handlers read a number, ask an actor, and only then write the increased number. */
  LOST_UPDATE {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      var hits = new int[1];
      var audit = sim.scope().named("audit").newActorWithReturn((Integer count) -> count);
      var workers = new ArrayList<Actor<String>>();
      for (int i = 0; i < 4; i++) workers.add(sim.scope().named("worker" + i).newActor((String go) -> {
        int hitsBefore = hits[0];
        audit.ask(hitsBefore);
        hits[0] = bug ? hitsBefore + 1 : hits[0] + 1;
      }));
      for (var worker : workers) worker.sendMessage("go");
      for (var worker : workers) worker.close();
      assertEquals(4, hits[0]);
    }
  },

  /** The bug: the shop repeats a request that timed out, and the bank charges the order twice. */
  TIME_OUT {
    @Override
    void run(Simulation sim, boolean bug) {
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
          } catch (AskTimeoutException timeout) {
            if (tries == 3) return "later";
          }
        }
      });
      sim.assertAlways("no order is paid twice", () -> charged.values().stream().allMatch(times -> times == 1));
      for (int i = 0; i < 5; i++) shop.ask("order" + i);
      sim.scope().awaitQuiescence(Duration.ofMinutes(1));
    }
  },

  /** The bug: a request is booked again if the actor failed after the first booking. */
  RESTART {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      var booked = new TreeMap<Integer, Integer>(); // outlives the actor
      var current = new Object() {
        Actor<Book> actor;
      };
      Runnable startActor = () -> current.actor = sim.scope().anonymous()
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofMillis(10), Duration.ofSeconds(1)).withoutLog())
          .initialState(() -> booked)
          .newActor((TreeMap<Integer, Integer> books, Book book, ActorContext<Book> context) -> {
            if (sim.random().nextInt(4) == 0) throw new IllegalStateException("no ink");
            if (bug || !books.containsKey(book.number())) books.merge(book.number(), 1, Integer::sum);
            if (sim.random().nextInt(4) == 0) throw new IllegalStateException("no stamp");
            context.reply(book, true);
          });
      startActor.run();
      sim.faults().withKills(0.05, actor -> actor == current.actor);
      sim.assertAlways("nothing is booked twice", () -> booked.values().stream().allMatch(times -> times == 1));
      for (int i = 0; i < 5; i++) {
        for (boolean isBooked = false; !isBooked;) {
          try {
            isBooked = current.actor.ask(new Book(i), Duration.ofSeconds(5));
          } catch (ActorStoppedException stopped) {
            startActor.run();
          } catch (IllegalStateException | AskTimeoutException failure) {
            Thread.sleep(1);
          }
        }
      }
      assertEquals(5, booked.size());
    }
  },

  /** The bug: the mailbox drops its oldest message, which it had accepted from the sender. */
  OVERLOAD {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      var served = new int[1];
      var accepted = new int[1];
      var warehouse = sim.scope().named("slow")
          .mailbox(Mailbox.bounded(2, bug ? Overflow.DROP_OLDEST : Overflow.REJECT)).newActor((Integer number) -> {
            Thread.sleep(5);
            served[0]++;
          });
      var crew = Pools.fixed(sim.scope().named("crew"), 3)
          .newActorWithReturn((Integer number) -> warehouse.sendMessage(number));
      sim.faults().withSmallMailboxes(0.5).withFailedThreadStarts(0.03).withStalls(0.05, Duration.ofMillis(20));
      for (int client = 0; client < 4; client++) sim.client("client" + client, () -> {
        for (int i = 0; i < 3; i++) if (crew.ask(i)) accepted[0]++;
        return null;
      });
      sim.join();
      sim.assertEventually("all accepted messages are served", Duration.ofMinutes(1), () -> served[0] == accepted[0]);
    }
  },

  /** The bug: the landlord assumes that each month has 31 days. */
  YEAR {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      var reminded = new ArrayList<LocalDate>();
      var tenant = sim.scope().named("tenant").newActor((LocalDate rentDay) -> reminded.add(rentDay));
      var landlord = sim.scope().named("landlord").newActor((String message, ActorContext<String> context) -> {
        var today = LocalDate.now(ZoneOffset.UTC);
        if (today.getDayOfMonth() == 1) tenant.sendMessage(today);
        var next = bug ? today.plusDays(31) : today.withDayOfMonth(1).plusMonths(1);
        var delay = Duration.between(Instant.now(), next.atStartOfDay(ZoneOffset.UTC).toInstant());
        context.self().sendMessageLater("check", delay);
      });
      landlord.sendMessage("check");
      Thread.sleep(Duration.ofDays(364));
      landlord.askExit();
      assertEquals(12, reminded.size());
    }
  },

  /** The bug: the actor replies before the entry is on disk. */
  JOURNAL {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      new Journal(sim, bug).play();
    }
  },

  /** The bug: each philosopher takes the left fork first, so all may wait for each other. */
  PHILOSOPHERS {
    @Override
    void run(Simulation sim, boolean bug) throws Exception {
      var forks = List.of(new Semaphore(1), new Semaphore(1), new Semaphore(1));
      var table = sim.scope().named("table").newActor((String event) -> {});
      var philosophers = new ArrayList<Actor<String>>();
      for (int i = 0; i < 3; i++) {
        int left = i;
        int right = (i + 1) % 3;
        var first = forks.get(bug ? left : Math.min(left, right));
        var second = forks.get(bug ? right : Math.max(left, right));
        philosophers.add(sim.scope().named("philosopher" + i).newActor((String eat) -> {
          first.acquire();
          table.sendMessage("has a fork");
          second.acquire();
          table.sendMessage("eats");
          second.release();
          first.release();
        }));
      }
      for (var philosopher : philosophers) philosopher.sendMessage("eat");
      for (var philosopher : philosophers) philosopher.close();
    }
  };

  abstract void run(Simulation sim, boolean bug) throws Exception;

  Program program(boolean bug) {
    return sim -> run(sim, bug);
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

  /** A counter that survives a power cut. It is stored in a file of numbers of four bytes each. */
  private static final class Journal {
    record Add(int number) implements Request<Add, Integer> {}

    private static final int FILE_BYTES = 4096;

    private final Simulation sim;
    private final boolean bug;
    private SimulatedNode node;
    private Actor<Add> actor; // null until the node has booted

    Journal(Simulation sim, boolean bug) {
      this.sim = sim;
      this.bug = bug;
      this.node = sim.node("store");
    }

    void play() throws Exception {
      boot();
      int confirmed = 0;
      int uncertain = 0;
      for (int i = 0; i < 12; i++) {
        while (actor == null) Thread.sleep(1);
        if (sim.random().nextInt(6) == 0) sim.client("fate", () -> {
          sim.yieldPoint();
          node.crash();
          return null;
        });
        try {
          int count = actor.ask(new Add(1), Duration.ofSeconds(1));
          confirmed++;
          if (count < confirmed || count > confirmed + uncertain)
            throw new AssertionError(count + " stored, " + confirmed + " confirmed, " + uncertain + " uncertain");
        } catch (AskTimeoutException timeout) {
          uncertain++;
          node.crash();
          node = node.restart();
          boot();
        }
      }
    }

    private void boot() {
      actor = null;
      var bootedNode = node;
      bootedNode.start("boot", () -> {
        var disk = bootedNode.disk();
        if (!disk.names().contains("log")) {
          disk.create("log", FILE_BYTES);
          disk.syncDirectory();
        }
        var log = ByteBuffer.allocate(FILE_BYTES);
        disk.read("log", 0, log);
        int[] oldCount = {0};
        while (log.getInt(4 * oldCount[0]) == 1) oldCount[0]++;
        return actor = bootedNode.openScope("store").named("counter").initialState(() -> oldCount)
            .newActor((int[] count, Add add, ActorContext<Add> context) -> {
              disk.write("log", 4L * count[0], ByteBuffer.allocate(4).putInt(add.number()).flip());
              if (!bug) disk.sync("log");
              context.reply(add, ++count[0]);
            });
      });
    }
  }
}
