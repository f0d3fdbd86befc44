package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * A sender sends messages to several actors in turn; an actor does a small computation for each.
 * Size in Savina: 60 actors, 10,000 messages each.
 */
final class ForkJoinThroughput {
  private ForkJoinThroughput() {}

  static SavinaProgram program(int actors, int messages) {
    return SavinaProgram.of("fork-join-throughput",
        SavinaProgram.size(actors, "actors, ") + SavinaProgram.size(messages, "messages each"),
        (long) actors * messages,
        new ProgramSide("fibry", round -> fibry(Round.FIBERS, actors, messages, round)),
        new ProgramSide("fibry-pool", round -> fibry(Round.POOL, actors, messages, round)),
        new ProgramSide("pekko", round -> pekko(actors, messages, round)),
        new ProgramSide("queues", round -> queues(actors, messages, round)));
  }

  /** The state of one actor, which all sides use. */
  private static final class Worker {
    private final int messages;
    private final Round round;
    private int handled;

    private Worker(int messages, Round round) {
      this.messages = messages;
      this.round = round;
    }

    void handleMessage() {
      ForkJoinCreate.compute();
      if (++handled == messages) round.addPart(handled);
    }
  }

  private static final Object MESSAGE = "work";

  private static void fibry(ActorBuilder<Object> builder, int actors, int messages, Round round) {
    round.expectParts(actors);
    var receivers = new ArrayList<Actor<Object>>();
    for (int i = 0; i < actors; i++) receivers.add(
        builder.initialState(() -> new Worker(messages, round))
            .newActor((Worker worker, Object message) -> worker.handleMessage()));
    for (int i = 0; i < messages; i++) for (var actor : receivers) actor.sendMessage(MESSAGE);
  }

  private static void pekko(int actors, int messages, Round round) {
    round.expectParts(actors);
    round.spawn(Behaviors.setup(context -> {
      var receivers = new ArrayList<ActorRef<Object>>();
      for (int i = 0; i < actors; i++) {
        var worker = new Worker(messages, round);
        receivers.add(context.spawnAnonymous(Behaviors.receiveMessage(message -> {
          worker.handleMessage();
          return Behaviors.same();
        })));
      }
      for (int i = 0; i < messages; i++) for (var actor : receivers) actor.tell(MESSAGE);
      return Behaviors.empty();
    }));
  }

  private static void queues(int actors, int messages, Round round) throws InterruptedException {
    round.expectParts(actors);
    var receivers = new ArrayList<BlockingQueue<Object>>();
    for (int i = 0; i < actors; i++) {
      var worker = new Worker(messages, round);
      var queue = new LinkedTransferQueue<Object>();
      round.serve(queue, message -> worker.handleMessage());
      receivers.add(queue);
    }
    for (int i = 0; i < messages; i++) for (var queue : receivers) queue.put(MESSAGE);
  }
}
