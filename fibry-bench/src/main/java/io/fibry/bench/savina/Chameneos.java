package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Creatures meet in pairs in a mall and change their colors: many actors ask one. Savina: 100
 * chameneos, 200,000 meetings.
 */
final class Chameneos {
  private Chameneos() {}

  static SavinaProgram program(int creatures, int meetings) {
    return SavinaProgram.of("chameneos",
        SavinaProgram.size(creatures, "chameneos, ") + SavinaProgram.size(meetings, "meetings"),
        2L * meetings,
        new ProgramSide("fibry", round -> fibry(creatures, meetings, round)),
        new ProgramSide("fibry-messages", round -> messages(Round.FIBERS, creatures, meetings, round)),
        new ProgramSide("fibry-pool", round -> messages(Round.POOL, creatures, meetings, round)),
        new ProgramSide("pekko", round -> pekko(creatures, meetings, round)),
        new ProgramSide("queues", round -> queues(creatures, meetings, round)));
  }

  private enum Color {
    RED, YELLOW, BLUE, FADED;

    static Color of(int number) {
      return values()[number % 3];
    }

    /** Equal colors stay; two others both become the third. */
    Color meets(Color other) {
      if (this == FADED || other == FADED) return FADED;
      return this == other ? this : values()[3 - ordinal() - other.ordinal()];
    }
  }

  // ---- Fibry: the mall replies to the first creature when the second comes

  private record Meet(Color mine) implements Request<Meet, Color> {}

  private static final class AskMall {
    private int left;
    private Meet first;
    private CompletableFuture<Color> met;

    private AskMall(int meetings) {
      this.left = meetings;
    }

    void handle(Meet meet, ActorContext<Meet> context) {
      if (left == 0) context.reply(meet, Color.FADED);
      else if (first == null) {
        first = meet;
        context.replyWhen(meet, met = new CompletableFuture<>());
      } else {
        left--;
        met.complete(meet.mine);
        context.reply(meet, first.mine);
        first = null;
      }
    }
  }

  private static void fibry(int creatures, int meetings, Round round) {
    round.parts(creatures);
    var mall = Round.FIBERS.initialState(() -> new AskMall(meetings)).newActor(AskMall::handle);
    for (int i = 0; i < creatures; i++) {
      var color = Color.of(i);
      Stereotypes.fibers().runOnce(() -> round.part(live(color, mine -> mall.ask(new Meet(mine)))));
    }
  }

  private interface Partner {
    Color meet(Color mine) throws Exception;
  }

  private static int live(Color mine, Partner partner) throws Exception {
    for (int meetings = 0;; meetings++) {
      mine = mine.meets(partner.meet(mine));
      if (mine == Color.FADED) return meetings;
    }
  }

  // ---- Fibry, without waiting: the first creature tells the second its new color

  private record FibryGuest(Color color, Actor<FibryEvent> creature) {}

  private sealed interface FibryEvent {
    record Other(Color color, Actor<FibryEvent> creature) implements FibryEvent {}

    record Change(Color color) implements FibryEvent {}

    enum Over implements FibryEvent { OVER }
  }

  private static void messages(ActorBuilder<Object> actors, int creatures, int meetings, Round round) {
    round.parts(creatures);
    var mall = actors.initialState(() -> new MessageMall(meetings)).newActor(MessageMall::handle);
    for (int i = 0; i < creatures; i++) {
      var creature = new Creature(mall, Color.of(i), round);
      mall.sendMessage(new FibryGuest(creature.mine, actors.newActor(creature::handle)));
    }
  }

  private static final class MessageMall {
    private int left;
    private FibryGuest first;

    private MessageMall(int meetings) {
      this.left = meetings;
    }

    void handle(FibryGuest guest) {
      if (left == 0) guest.creature.sendMessage(FibryEvent.Over.OVER);
      else if (first == null) first = guest;
      else {
        left--;
        first.creature.sendMessage(new FibryEvent.Other(guest.color, guest.creature));
        first = null;
      }
    }
  }

  private static final class Creature {
    private final Actor<FibryGuest> mall;
    private final Round round;
    private Color mine;
    private int meetings;

    private Creature(Actor<FibryGuest> mall, Color mine, Round round) {
      this.mall = mall;
      this.mine = mine;
      this.round = round;
    }

    void handle(FibryEvent event, ActorContext<FibryEvent> context) {
      switch (event) {
        case FibryEvent.Other other -> other.creature
            .sendMessage(new FibryEvent.Change(mine = mine.meets(other.color)));
        case FibryEvent.Change change -> mine = change.color;
        case FibryEvent.Over over -> {
          round.part(meetings);
          return;
        }
      }
      meetings++;
      mall.sendMessage(new FibryGuest(mine, context.self()));
    }
  }

  private record PekkoGuest(Color color, ActorRef<PekkoEvent> creature) {}

  private sealed interface PekkoEvent {
    record Other(Color color, ActorRef<PekkoEvent> creature) implements PekkoEvent {}

    record Change(Color color) implements PekkoEvent {}

    enum Over implements PekkoEvent { OVER }
  }

  private static void pekko(int creatures, int meetings, Round round) {
    round.parts(creatures);
    round.pekko(Behaviors.setup(context -> {
      ActorRef<PekkoGuest> mall = context.spawnAnonymous(mall(meetings));
      for (int i = 0; i < creatures; i++) context.spawnAnonymous(creature(mall, Color.of(i), round));
      return Behaviors.empty();
    }));
  }

  private static Behavior<PekkoGuest> mall(int meetings) {
    var left = new int[] {meetings};
    var first = new PekkoGuest[1];
    return Behaviors.receiveMessage(come -> {
      if (left[0] == 0) come.creature.tell(PekkoEvent.Over.OVER);
      else if (first[0] == null) first[0] = come;
      else {
        left[0]--;
        first[0].creature.tell(new PekkoEvent.Other(come.color, come.creature));
        first[0] = null;
      }
      return Behaviors.same();
    });
  }

  private static Behavior<PekkoEvent> creature(ActorRef<PekkoGuest> mall, Color born, Round round) {
    return Behaviors.setup(context -> {
      var mine = new Color[] {born};
      var meetings = new int[1];
      mall.tell(new PekkoGuest(born, context.getSelf()));
      return Behaviors.receiveMessage(met -> {
        switch (met) {
          case PekkoEvent.Other other -> other.creature
              .tell(new PekkoEvent.Change(mine[0] = mine[0].meets(other.color)));
          case PekkoEvent.Change change -> mine[0] = change.color;
          case PekkoEvent.Over over -> {
            round.part(meetings[0]);
            return Behaviors.stopped();
          }
        }
        meetings[0]++;
        mall.tell(new PekkoGuest(mine[0], context.getSelf()));
        return Behaviors.same();
      });
    });
  }

  private record QueueGuest(Color color, BlockingQueue<Color> replyTo) {}

  private static void queues(int creatures, int meetings, Round round) {
    round.parts(creatures);
    var mall = new LinkedTransferQueue<QueueGuest>();
    round.start(() -> {
      for (int i = 0; i < meetings; i++) {
        var first = mall.take();
        var second = mall.take();
        first.replyTo.put(second.color);
        second.replyTo.put(first.color);
      }
      for (;;) mall.take().replyTo.put(Color.FADED);
    });
    for (int i = 0; i < creatures; i++) {
      var color = Color.of(i);
      var replies = new LinkedTransferQueue<Color>();
      round.start(() -> round.part(live(color, mine -> {
        mall.put(new QueueGuest(mine, replies));
        return replies.take();
      })));
    }
  }
}
