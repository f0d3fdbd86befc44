package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Philosophers ask the table for both of their forks; a philosopher that is denied asks again at
 * once. Savina: 20 philosophers, 10,000 meals each.
 */
final class Philosophers {
  private Philosophers() {}

  static SavinaProgram program(int seats, int meals) {
    return SavinaProgram.of("philosophers",
        SavinaProgram.size(seats, "philosophers, ") + SavinaProgram.size(meals, "meals each"),
        (long) seats * meals,
        new ProgramSide("fibry", round -> fibry(seats, meals, round)),
        new ProgramSide("fibry-messages", round -> messages(Round.FIBERS, seats, meals, round)),
        new ProgramSide("fibry-pool", round -> messages(Round.POOL, seats, meals, round)),
        new ProgramSide("pekko", round -> pekko(seats, meals, round)),
        new ProgramSide("queues", round -> queues(seats, meals, round)));
  }

  /** The forks; the same on all sides. */
  private static final class Forks {
    private final boolean[] taken;
    private final Round round;
    private int meals;
    private int left;

    private Forks(int seats, Round round) {
      this.taken = new boolean[seats];
      this.round = round;
    }

    boolean take(int seat) {
      int right = (seat + 1) % taken.length;
      if (taken[seat] || taken[right]) return false;
      return taken[seat] = taken[right] = true;
    }

    void putBack(int seat) {
      int right = (seat + 1) % taken.length;
      if (!taken[seat] || !taken[right])
        round.fail(new IllegalStateException(seat + " put back forks that were not taken"));
      taken[seat] = taken[right] = false;
      meals++;
    }

    void leave() {
      if (++left < taken.length) return;
      for (boolean fork : taken) if (fork) round.fail(new IllegalStateException("a fork is gone"));
      round.done(meals);
    }
  }

  private sealed interface AskMessage {
    record Hungry(int seat) implements AskMessage, Request<Hungry, Boolean> {}

    record Full(int seat) implements AskMessage {}

    enum Leave implements AskMessage { LEAVE }
  }

  // replyWhen(..) would need one request per meal, but Savina's table denies
  private static void fibry(int seats, int meals, Round round) {
    var table = Round.FIBERS.initialState(() -> new Forks(seats, round))
        .newActor((Forks forks, AskMessage message, ActorContext<AskMessage> context) -> {
          switch (message) {
            case AskMessage.Hungry hungry -> context.reply(hungry, forks.take(hungry.seat));
            case AskMessage.Full full -> forks.putBack(full.seat);
            case AskMessage.Leave leave -> forks.leave();
          }
        });
    for (int i = 0; i < seats; i++) {
      int seat = i;
      Stereotypes.fibers().runOnce(() -> {
        for (int meal = 0; meal < meals; meal++) {
          while (!table.ask(new AskMessage.Hungry(seat))) {
          } // denied
          table.sendMessage(new AskMessage.Full(seat));
        }
        table.sendMessage(AskMessage.Leave.LEAVE);
      });
    }
  }

  // ---- Fibry, without waiting

  private sealed interface FibryMessage {
    record Hungry(int seat, Actor<Boolean> philosopher) implements FibryMessage {}

    record Full(int seat) implements FibryMessage {}

    enum Leave implements FibryMessage { LEAVE }
  }

  private static void messages(ActorBuilder<Object> actors, int seats, int meals, Round round) {
    var table = actors.initialState(() -> new Forks(seats, round)).newActor((Forks forks, FibryMessage message) -> {
      switch (message) {
        case FibryMessage.Hungry hungry -> hungry.philosopher.sendMessage(forks.take(hungry.seat));
        case FibryMessage.Full full -> forks.putBack(full.seat);
        case FibryMessage.Leave leave -> forks.leave();
      }
    });
    for (int i = 0; i < seats; i++) {
      int seat = i;
      var eaten = new int[1];
      var philosopher = actors.newActor((Boolean served, ActorContext<Boolean> context) -> {
        if (served) {
          table.sendMessage(new FibryMessage.Full(seat));
          eaten[0]++;
        }
        table.sendMessage(eaten[0] < meals ? new FibryMessage.Hungry(seat, context.self()) : FibryMessage.Leave.LEAVE);
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
    round.pekko(Behaviors.setup(context -> {
      var forks = new Forks(seats, round);
      ActorRef<PekkoMessage> table = context.spawnAnonymous(Behaviors.receiveMessage(message -> {
        switch (message) {
          case PekkoMessage.Hungry hungry -> hungry.replyTo.tell(forks.take(hungry.seat));
          case PekkoMessage.Full full -> forks.putBack(full.seat);
          case PekkoMessage.Leave leave -> forks.leave();
        }
        return Behaviors.same();
      }));
      for (int i = 0; i < seats; i++) context.spawnAnonymous(philosopher(i, meals, table));
      return Behaviors.empty();
    }));
  }

  private static Behavior<Boolean> philosopher(int seat, int meals, ActorRef<PekkoMessage> table) {
    return Behaviors.setup(context -> {
      var hungry = new PekkoMessage.Hungry(seat, context.getSelf());
      var eaten = new int[1];
      table.tell(hungry);
      return Behaviors.receiveMessage(served -> {
        if (served) {
          table.tell(new PekkoMessage.Full(seat));
          eaten[0]++;
        }
        if (eaten[0] < meals) table.tell(hungry);
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
    round.serve(table, order -> {
      switch (order) {
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
}
