package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.function.IntConsumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Philosophers ask the table for both of their forks. A philosopher whose request is denied asks
 * again at once. Size in Savina: 20 philosophers, 10,000 meals each.
 */
final class Philosophers {
  private Philosophers() {}

  static SavinaProgram program(int seats, int meals) {
    return SavinaProgram.of("philosophers",
        SavinaProgram.size(seats, "philosophers, ") + SavinaProgram.size(meals, "meals each"),
        (long) seats * meals,
        new ProgramSide("fibry", round -> fibry(seats, meals, round)),
        new ProgramSide("fibry-inline", round -> fibryInline(seats, meals, round)),
        new ProgramSide("fibry-messages", round -> fibryMessages(Round.FIBERS, seats, meals, round)),
        new ProgramSide("fibry-pool", round -> fibryMessages(Round.POOL, seats, meals, round)),
        new ProgramSide("pekko", round -> pekko(seats, meals, round)),
        new ProgramSide("queues", round -> queues(seats, meals, round)),
        new ProgramSide("hand", round -> hand(seats, meals, round)));
  }

  /** The state of the table, which all sides use. */
  private static final class Forks {
    private final boolean[] taken;
    private final Round round;
    private int meals;
    private int departed;

    private Forks(int seats, Round round) {
      this.taken = new boolean[seats];
      this.round = round;
    }

    boolean take(int seat) {
      int rightFork = (seat + 1) % taken.length;
      if (taken[seat] || taken[rightFork]) return false;
      return taken[seat] = taken[rightFork] = true;
    }

    void putBack(int seat) {
      int rightFork = (seat + 1) % taken.length;
      if (!taken[seat] || !taken[rightFork])
        round.fail(new IllegalStateException(seat + " put back forks that were not taken"));
      taken[seat] = taken[rightFork] = false;
      meals++;
    }

    void leave() {
      if (++departed < taken.length) return;
      for (boolean fork : taken) if (fork) round.fail(new IllegalStateException("a fork is still taken"));
      round.setResult(meals);
    }
  }

  private sealed interface AskMessage {
    record Hungry(int seat) implements AskMessage, Request<Hungry, Boolean> {}

    record Full(int seat) implements AskMessage {}

    record PutBack(int seat) implements AskMessage, Request<PutBack, Boolean> {}

    enum Leave implements AskMessage { LEAVE }
  }

  // replyWhen(..) could delay the reply until the forks are free, but Savina's table denies
  // requests
  private static void fibry(int seats, int meals, Round round) {
    var table = openTable(Round.FIBERS, seats, round);
    seat(seats, meals, table, seat -> table.sendMessage(new AskMessage.Full(seat)));
  }

  /** Each message is a request: a message without an answer would start a fiber for the table. */
  private static void fibryInline(int seats, int meals, Round round) {
    var table = openTable(Round.INLINE, seats, round);
    seat(seats, meals, table, seat -> table.ask(new AskMessage.PutBack(seat)));
  }

  private static Actor<AskMessage> openTable(ActorBuilder<Object> actors, int seats, Round round) {
    return actors.initialState(() -> new Forks(seats, round))
        .newActor((Forks forks, AskMessage message, ActorContext<AskMessage> context) -> {
          switch (message) {
            case AskMessage.Hungry hungry -> context.reply(hungry, forks.take(hungry.seat));
            case AskMessage.Full full -> forks.putBack(full.seat);
            case AskMessage.PutBack putBack -> {
              forks.putBack(putBack.seat);
              context.reply(putBack, true);
            }
            case AskMessage.Leave leave -> forks.leave();
          }
        });
  }

  private static void seat(int seats, int meals, Actor<AskMessage> table, IntConsumer putForksBack) {
    for (int i = 0; i < seats; i++) {
      int seat = i;
      Stereotypes.fibers().runOnce(() -> {
        for (int meal = 0; meal < meals; meal++) {
          while (!table.ask(new AskMessage.Hungry(seat))) {
          } // the table denied the forks, so ask again
          putForksBack.accept(seat);
        }
        table.sendMessage(AskMessage.Leave.LEAVE);
      });
    }
  }

  // ---- Fibry, messages only: no handler waits

  private sealed interface FibryMessage {
    record Hungry(int seat, Actor<Boolean> philosopher) implements FibryMessage {}

    record Full(int seat) implements FibryMessage {}

    enum Leave implements FibryMessage { LEAVE }
  }

  private static void fibryMessages(ActorBuilder<Object> actors, int seats, int meals, Round round) {
    var table = actors.initialState(() -> new Forks(seats, round)).newActor((Forks forks, FibryMessage message) -> {
      switch (message) {
        case FibryMessage.Hungry hungry -> hungry.philosopher.sendMessage(forks.take(hungry.seat));
        case FibryMessage.Full full -> forks.putBack(full.seat);
        case FibryMessage.Leave leave -> forks.leave();
      }
    });
    for (int i = 0; i < seats; i++) {
      int seat = i;
      var mealsEaten = new int[1];
      var philosopher = actors.newActor((Boolean isServed, ActorContext<Boolean> context) -> {
        if (isServed) {
          table.sendMessage(new FibryMessage.Full(seat));
          mealsEaten[0]++;
        }
        table.sendMessage(mealsEaten[0] < meals ? new FibryMessage.Hungry(seat, context.self())
            : FibryMessage.Leave.LEAVE);
      });
      table.sendMessage(new FibryMessage.Hungry(seat, philosopher));
    }
  }

  private sealed interface PekkoMessage {
    record Hungry(int seat, ActorRef<Boolean> replyTo) implements PekkoMessage {}

    record Full(int seat) implements PekkoMessage {}

    enum Leave implements PekkoMessage { LEAVE }
  }

  private static void pekko(int seats, int meals, Round round) {
    round.spawn(Behaviors.setup(context -> {
      var forks = new Forks(seats, round);
      ActorRef<PekkoMessage> table = context.spawnAnonymous(Behaviors.receiveMessage(message -> {
        switch (message) {
          case PekkoMessage.Hungry hungry -> hungry.replyTo.tell(forks.take(hungry.seat));
          case PekkoMessage.Full full -> forks.putBack(full.seat);
          case PekkoMessage.Leave leave -> forks.leave();
        }
        return Behaviors.same();
      }));
      for (int i = 0; i < seats; i++) context.spawnAnonymous(philosopherBehavior(i, meals, table));
      return Behaviors.empty();
    }));
  }

  private static Behavior<Boolean> philosopherBehavior(int seat, int meals, ActorRef<PekkoMessage> table) {
    return Behaviors.setup(context -> {
      var hungry = new PekkoMessage.Hungry(seat, context.getSelf());
      var mealsEaten = new int[1];
      table.tell(hungry);
      return Behaviors.receiveMessage(isServed -> {
        if (isServed) {
          table.tell(new PekkoMessage.Full(seat));
          mealsEaten[0]++;
        }
        if (mealsEaten[0] < meals) table.tell(hungry);
        else {
          table.tell(PekkoMessage.Leave.LEAVE);
          return Behaviors.stopped();
        }
        return Behaviors.same();
      });
    });
  }

  private sealed interface QueueMessage {
    record Hungry(int seat, BlockingQueue<Boolean> replyTo) implements QueueMessage {}

    record Full(int seat) implements QueueMessage {}

    enum Leave implements QueueMessage { LEAVE }
  }

  private static void queues(int seats, int meals, Round round) {
    var table = new LinkedTransferQueue<QueueMessage>();
    var forks = new Forks(seats, round);
    round.serve(table, message -> {
      switch (message) {
        case QueueMessage.Hungry hungry -> hungry.replyTo.put(forks.take(hungry.seat));
        case QueueMessage.Full full -> forks.putBack(full.seat);
        case QueueMessage.Leave leave -> forks.leave();
      }
    });
    for (int i = 0; i < seats; i++) {
      int seat = i;
      var replies = new LinkedTransferQueue<Boolean>();
      round.start(() -> {
        for (int meal = 0; meal < meals; meal++) {
          do table.put(new QueueMessage.Hungry(seat, replies));
          while (!replies.take());
          table.put(new QueueMessage.Full(seat));
        }
        table.put(QueueMessage.Leave.LEAVE);
      });
    }
  }

  // ---- by hand

  private abstract static class HandMessage extends HandActor.Request<Boolean> {
    final int seat;

    private HandMessage(int seat) {
      this.seat = seat;
    }
  }

  private static final class HandHungry extends HandMessage {
    private HandHungry(int seat) {
      super(seat);
    }
  }

  private static final class HandFull extends HandMessage {
    private HandFull(int seat) {
      super(seat);
    }
  }

  private static final class HandLeave extends HandMessage {
    private HandLeave(int seat) {
      super(seat);
    }
  }

  private static void hand(int seats, int meals, Round round) {
    var forks = new Forks(seats, round);
    var table = HandActor.start(round, (HandMessage message) -> {
      switch (message) {
        case HandHungry hungry -> hungry.reply(forks.take(hungry.seat));
        case HandFull full -> forks.putBack(full.seat);
        default -> forks.leave();
      }
    });
    for (int i = 0; i < seats; i++) {
      int seat = i;
      round.start(() -> {
        for (int meal = 0; meal < meals; meal++) {
          HandHungry hungry;
          do table.send(hungry = new HandHungry(seat)); while (!hungry.await());
          table.send(new HandFull(seat));
        }
        table.send(new HandLeave(seat));
      });
    }
  }
}
