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
 * A sender sends to several actors in turn, with a small computation per message. Savina: 60
 * actors, 10,000 messages each.
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

  /** The work of one actor. */
  private static final class Work {
    private final int messages;
    private final Round round;
    private int done;

    private Work(int messages, Round round) {
      this.messages = messages;
      this.round = round;
    }

    void work() {
      ForkJoinCreate.compute();
      if (++done == messages) round.part(done);
    }
  }

  private static final Object MESSAGE = "work";

  private static void fibry(ActorBuilder<Object> builder, int actors, int messages, Round round) {
    round.parts(actors);
    var all = new ArrayList<Actor<Object>>();
    for (int i = 0; i < actors; i++) all.add(
        builder.initialState(() -> new Work(messages, round)).newActor((Work work, Object message) -> work.work()));
    for (int i = 0; i < messages; i++) for (var actor : all) actor.sendMessage(MESSAGE);
  }

  private static void pekko(int actors, int messages, Round round) {
    round.parts(actors);
    round.pekko(Behaviors.setup(context -> {
      var all = new ArrayList<ActorRef<Object>>();
      for (int i = 0; i < actors; i++) {
        var work = new Work(messages, round);
        all.add(context.spawnAnonymous(Behaviors.receiveMessage(message -> {
          work.work();
          return Behaviors.same();
        })));
      }
      for (int i = 0; i < messages; i++) for (var actor : all) actor.tell(MESSAGE);
      return Behaviors.empty();
    }));
  }

  private static void queues(int actors, int messages, Round round) throws InterruptedException {
    round.parts(actors);
    var all = new ArrayList<BlockingQueue<Object>>();
    for (int i = 0; i < actors; i++) {
      var work = new Work(messages, round);
      var queue = new LinkedTransferQueue<Object>();
      round.serve(queue, message -> work.work());
      all.add(queue);
    }
    for (int i = 0; i < messages; i++) for (var queue : all) queue.put(MESSAGE);
  }
}
