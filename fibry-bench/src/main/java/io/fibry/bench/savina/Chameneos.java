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
 * Creatures meet in pairs in a mall and change their colors. Thus many actors send requests to one
 * actor, the mall. Size in Savina: 100 chameneos, 200,000 meetings.
 */
final class Chameneos {
  private Chameneos() {}

  static SavinaProgram program(int creatures, int meetings) {
    return SavinaProgram.of("chameneos",
        SavinaProgram.size(creatures, "chameneos, ") + SavinaProgram.size(meetings, "meetings"),
        2L * meetings,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, creatures, meetings, round)),
        new ProgramSide("fibry-inline", round -> fibry(Round.INLINE, creatures, meetings, round)),
        new ProgramSide("fibry-messages", round -> fibryMessages(Round.FIBERS, creatures, meetings, round)),
        new ProgramSide("fibry-pool", round -> fibryMessages(Round.POOL, creatures, meetings, round)),
        new ProgramSide("pekko", round -> pekko(creatures, meetings, round)),
        new ProgramSide("queues", round -> queues(creatures, meetings, round)),
        new ProgramSide("hand", round -> hand(creatures, meetings, round)));
  }

  private enum Color {
    RED, YELLOW, BLUE, FADED;

    static Color of(int number) {
      return values()[number % 3];
    }

    /**
     * Returns the color after a meeting: equal colors stay, and two different colors both become
     * the third. The partner FADED means that the mall is closed.
     */
    Color afterMeeting(Color partner) {
      if (this == FADED || partner == FADED) return FADED;
      return this == partner ? this : values()[3 - ordinal() - partner.ordinal()];
    }
  }

  // ---- Fibry: the mall replies to the first creature when the second comes

  private record Meet(Color color) implements Request<Meet, Color> {}

  private static final class AskMall {
    private int remaining;
    private Meet first;
    private CompletableFuture<Color> firstReply;

    private AskMall(int meetings) {
      this.remaining = meetings;
    }

    void handle(Meet meet, ActorContext<Meet> context) {
      if (remaining == 0) context.reply(meet, Color.FADED);
      else if (first == null) {
        first = meet;
        context.replyWhen(meet, firstReply = new CompletableFuture<>());
      } else {
        remaining--;
        firstReply.complete(meet.color);
        context.reply(meet, first.color);
        first = null;
      }
    }
  }

  private static void fibry(ActorBuilder<Object> actors, int creatures, int meetings, Round round) {
    round.expectParts(creatures);
    var mall = actors.initialState(() -> new AskMall(meetings)).newActor(AskMall::handle);
    for (int i = 0; i < creatures; i++) {
      var initialColor = Color.of(i);
      Stereotypes.fibers().runOnce(() -> round.addPart(meetOthers(initialColor, color -> mall.ask(new Meet(color)))));
    }
  }

  private interface Meeting {
    /** Returns the color of the partner; FADED if the mall is closed. */
    Color meet(Color color) throws Exception;
  }

  /** Meets other creatures until the mall is closed, and returns the number of meetings. */
  private static int meetOthers(Color color, Meeting meeting) throws Exception {
    for (int meetings = 0;; meetings++) {
      color = color.afterMeeting(meeting.meet(color));
      if (color == Color.FADED) return meetings;
    }
  }

  // ---- Fibry, messages only: the first creature sends the new color of both to the second

  private record FibryGuest(Color color, Actor<FibryEvent> creature) {}

  private sealed interface FibryEvent {
    record Partner(Color color, Actor<FibryEvent> creature) implements FibryEvent {}

    record NewColor(Color color) implements FibryEvent {}

    enum MallClosed implements FibryEvent { MALL_CLOSED }
  }

  private static void fibryMessages(ActorBuilder<Object> actors, int creatures, int meetings, Round round) {
    round.expectParts(creatures);
    var mall = actors.initialState(() -> new MessageMall(meetings)).newActor(MessageMall::handle);
    for (int i = 0; i < creatures; i++) {
      var creature = new Creature(mall, Color.of(i), round);
      mall.sendMessage(new FibryGuest(creature.color, actors.newActor(creature::handle)));
    }
  }

  private static final class MessageMall {
    private int remaining;
    private FibryGuest first;

    private MessageMall(int meetings) {
      this.remaining = meetings;
    }

    void handle(FibryGuest guest) {
      if (remaining == 0) guest.creature.sendMessage(FibryEvent.MallClosed.MALL_CLOSED);
      else if (first == null) first = guest;
      else {
        remaining--;
        first.creature.sendMessage(new FibryEvent.Partner(guest.color, guest.creature));
        first = null;
      }
    }
  }

  private static final class Creature {
    private final Actor<FibryGuest> mall;
    private final Round round;
    private Color color;
    private int meetings;

    private Creature(Actor<FibryGuest> mall, Color color, Round round) {
      this.mall = mall;
      this.color = color;
      this.round = round;
    }

    void handle(FibryEvent event, ActorContext<FibryEvent> context) {
      switch (event) {
        case FibryEvent.Partner partner -> partner.creature
            .sendMessage(new FibryEvent.NewColor(color = color.afterMeeting(partner.color)));
        case FibryEvent.NewColor newColor -> color = newColor.color;
        case FibryEvent.MallClosed closed -> {
          round.addPart(meetings);
          return;
        }
      }
      meetings++;
      mall.sendMessage(new FibryGuest(color, context.self()));
    }
  }

  private record PekkoGuest(Color color, ActorRef<PekkoEvent> creature) {}

  private sealed interface PekkoEvent {
    record Partner(Color color, ActorRef<PekkoEvent> creature) implements PekkoEvent {}

    record NewColor(Color color) implements PekkoEvent {}

    enum MallClosed implements PekkoEvent { MALL_CLOSED }
  }

  private static void pekko(int creatures, int meetings, Round round) {
    round.expectParts(creatures);
    round.spawn(Behaviors.setup(context -> {
      ActorRef<PekkoGuest> mall = context.spawnAnonymous(mallBehavior(meetings));
      for (int i = 0; i < creatures; i++) context.spawnAnonymous(creatureBehavior(mall, Color.of(i), round));
      return Behaviors.empty();
    }));
  }

  private static Behavior<PekkoGuest> mallBehavior(int meetings) {
    var remaining = new int[] {meetings};
    var first = new PekkoGuest[1];
    return Behaviors.receiveMessage(guest -> {
      if (remaining[0] == 0) guest.creature.tell(PekkoEvent.MallClosed.MALL_CLOSED);
      else if (first[0] == null) first[0] = guest;
      else {
        remaining[0]--;
        first[0].creature.tell(new PekkoEvent.Partner(guest.color, guest.creature));
        first[0] = null;
      }
      return Behaviors.same();
    });
  }

  private static Behavior<PekkoEvent> creatureBehavior(ActorRef<PekkoGuest> mall, Color initialColor, Round round) {
    return Behaviors.setup(context -> {
      var color = new Color[] {initialColor};
      var meetings = new int[1];
      mall.tell(new PekkoGuest(initialColor, context.getSelf()));
      return Behaviors.receiveMessage(event -> {
        switch (event) {
          case PekkoEvent.Partner partner -> partner.creature
              .tell(new PekkoEvent.NewColor(color[0] = color[0].afterMeeting(partner.color)));
          case PekkoEvent.NewColor newColor -> color[0] = newColor.color;
          case PekkoEvent.MallClosed closed -> {
            round.addPart(meetings[0]);
            return Behaviors.stopped();
          }
        }
        meetings[0]++;
        mall.tell(new PekkoGuest(color[0], context.getSelf()));
        return Behaviors.same();
      });
    });
  }

  private record QueueGuest(Color color, BlockingQueue<Color> replyTo) {}

  private static void queues(int creatures, int meetings, Round round) {
    round.expectParts(creatures);
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
      var initialColor = Color.of(i);
      var replies = new LinkedTransferQueue<Color>();
      round.start(() -> round.addPart(meetOthers(initialColor, color -> {
        mall.put(new QueueGuest(color, replies));
        return replies.take();
      })));
    }
  }

  // ---- by hand: the mall replies to both creatures when the second comes

  private static final class HandVisit extends HandActor.Request<Color> {
    private final Color color;

    private HandVisit(Color color) {
      this.color = color;
    }
  }

  private static final class HandMall {
    private int remaining;
    private HandVisit first;

    private HandMall(int meetings) {
      this.remaining = meetings;
    }

    void handle(HandVisit visit) {
      if (remaining == 0) visit.reply(Color.FADED);
      else if (first == null) first = visit;
      else {
        remaining--;
        first.reply(visit.color);
        visit.reply(first.color);
        first = null;
      }
    }
  }

  private static void hand(int creatures, int meetings, Round round) {
    round.expectParts(creatures);
    var mall = HandActor.start(round, new HandMall(meetings)::handle);
    for (int i = 0; i < creatures; i++) {
      var initialColor = Color.of(i);
      round.start(() -> round.addPart(meetOthers(initialColor, color -> {
        var visit = new HandVisit(color);
        mall.send(visit);
        return visit.await();
      })));
    }
  }
}
