package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Request;
import io.fibry.bench.savina.Program.Side;
import io.fibry.stereotype.Stereotypes;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Creatures meet two by two in a mall, and take colours from one another, until there were enough
 * meetings: many ask one. Savina: 100 chameneos, 200,000 meetings.
 */
final class Chameneos {
  private Chameneos() {}

  static Program program(int creatures, int meetings) {
    return Program.of("chameneos", Program.size(creatures, "chameneos, ") + Program.size(meetings, "meetings"),
        2L * meetings,
        new Side("fibry", round -> fibry(creatures, meetings, round)),
        new Side("fibry-messages", round -> messages(Round.FIBERS, creatures, meetings, round)),
        new Side("fibry-pool", round -> messages(Round.POOL, creatures, meetings, round)),
        new Side("pekko", round -> pekko(creatures, meetings, round)),
        new Side("queues", round -> queues(creatures, meetings, round)));
  }

  private enum Colour {
    RED, YELLOW, BLUE, FADED;

    static Colour of(int number) {
      return values()[number % 3];
    }

    /** Two of the same stay as they are, two others both become the third. */
    Colour meets(Colour other) {
      if (this == FADED || other == FADED) return FADED;
      return this == other ? this : values()[3 - ordinal() - other.ordinal()];
    }
  }

  // ---- Fibry: the mall answers the first when the second has come

  private record Meet(Colour mine) implements Request<Meet, Colour> {}

  private static final class Mall {
    private int left;
    private Meet first;
    private CompletableFuture<Colour> met;

    private Mall(int meetings) {
      this.left = meetings;
    }

    void handle(Meet meet, ActorContext<Meet> context) {
      if (left == 0) context.reply(meet, Colour.FADED);
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

  // the messages below spare the futures and the waits
  private static void fibry(int creatures, int meetings, Round round) {
    round.parts(creatures);
    var mall = Round.FIBERS.initialState(() -> new Mall(meetings)).newActor(Mall::handle);
    for (int i = 0; i < creatures; i++) {
      var colour = Colour.of(i);
      Stereotypes.fibers().runOnce(() -> round.part(live(colour, mine -> mall.ask(new Meet(mine)))));
    }
  }

  /** Whom a creature meets. */
  private interface Company {
    Colour meet(Colour mine) throws Exception;
  }

  private static int live(Colour mine, Company company) throws Exception {
    for (int meetings = 0;; meetings++) {
      mine = mine.meets(company.meet(mine));
      if (mine == Colour.FADED) return meetings;
    }
  }

  // ---- Fibry, without waiting: the mall brings them together, the first tells the second its new
  // colour; so does Savina

  private record Guest(Colour colour, Actor<Event> creature) {}

  private sealed interface Event {
    record Other(Colour colour, Actor<Event> creature) implements Event {}

    record Change(Colour colour) implements Event {}

    enum Over implements Event { OVER }
  }

  private static void messages(ActorBuilder<Object> actors, int creatures, int meetings, Round round) {
    round.parts(creatures);
    var mall = actors.initialState(() -> new Meeting(meetings)).newActor(Meeting::handle);
    for (int i = 0; i < creatures; i++) {
      var creature = new Creature(mall, Colour.of(i), round);
      mall.sendMessage(new Guest(creature.mine, actors.newActor(creature::handle)));
    }
  }

  private static final class Meeting {
    private int left;
    private Guest first;

    private Meeting(int meetings) {
      this.left = meetings;
    }

    void handle(Guest guest) {
      if (left == 0) guest.creature.sendMessage(Event.Over.OVER);
      else if (first == null) first = guest;
      else {
        left--;
        first.creature.sendMessage(new Event.Other(guest.colour, guest.creature));
        first = null;
      }
    }
  }

  private static final class Creature {
    private final Actor<Guest> mall;
    private final Round round;
    private Colour mine;
    private int meetings;

    private Creature(Actor<Guest> mall, Colour mine, Round round) {
      this.mall = mall;
      this.mine = mine;
      this.round = round;
    }

    void handle(Event event, ActorContext<Event> context) {
      switch (event) {
        case Event.Other other -> other.creature.sendMessage(new Event.Change(mine = mine.meets(other.colour)));
        case Event.Change change -> mine = change.colour;
        case Event.Over over -> {
          round.part(meetings);
          return;
        }
      }
      meetings++;
      mall.sendMessage(new Guest(mine, context.self()));
    }
  }

  // ---- Pekko: the same messages

  private record Come(Colour colour, ActorRef<Met> creature) {}

  private sealed interface Met {
    record Other(Colour colour, ActorRef<Met> creature) implements Met {}

    record Change(Colour colour) implements Met {}

    enum Over implements Met { OVER }
  }

  private static void pekko(int creatures, int meetings, Round round) {
    round.parts(creatures);
    round.pekko(Behaviors.setup(context -> {
      ActorRef<Come> mall = context.spawnAnonymous(mall(meetings));
      for (int i = 0; i < creatures; i++) context.spawnAnonymous(creature(mall, Colour.of(i), round));
      return Behaviors.empty();
    }));
  }

  private static Behavior<Come> mall(int meetings) {
    var left = new int[] {meetings};
    var first = new Come[1];
    return Behaviors.receiveMessage(come -> {
      if (left[0] == 0) come.creature.tell(Met.Over.OVER);
      else if (first[0] == null) first[0] = come;
      else {
        left[0]--;
        first[0].creature.tell(new Met.Other(come.colour, come.creature));
        first[0] = null;
      }
      return Behaviors.same();
    });
  }

  private static Behavior<Met> creature(ActorRef<Come> mall, Colour born, Round round) {
    return Behaviors.setup(context -> {
      var mine = new Colour[] {born};
      var meetings = new int[1];
      mall.tell(new Come(born, context.getSelf()));
      return Behaviors.receiveMessage(met -> {
        switch (met) {
          case Met.Other other -> other.creature.tell(new Met.Change(mine[0] = mine[0].meets(other.colour)));
          case Met.Change change -> mine[0] = change.colour;
          case Met.Over over -> {
            round.part(meetings[0]);
            return Behaviors.stopped();
          }
        }
        meetings[0]++;
        mall.tell(new Come(mine[0], context.getSelf()));
        return Behaviors.same();
      });
    });
  }

  // ---- a virtual thread and a queue each

  private record Visit(Colour colour, BlockingQueue<Colour> replyTo) {}

  private static void queues(int creatures, int meetings, Round round) {
    round.parts(creatures);
    var mall = new LinkedTransferQueue<Visit>();
    round.start(() -> {
      for (int i = 0; i < meetings; i++) {
        var first = mall.take();
        var second = mall.take();
        first.replyTo.put(second.colour);
        second.replyTo.put(first.colour);
      }
      for (;;) mall.take().replyTo.put(Colour.FADED);
    });
    for (int i = 0; i < creatures; i++) {
      var colour = Colour.of(i);
      var replies = new LinkedTransferQueue<Colour>();
      round.start(() -> round.part(live(colour, mine -> {
        mall.put(new Visit(mine, replies));
        return replies.take();
      })));
    }
  }
}
